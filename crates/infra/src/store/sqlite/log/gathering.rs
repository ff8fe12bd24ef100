//! How the writer writes to the log: gathered, not page by page.
//!
//! SQLite writes each page of a commit by itself, and what stands before it by itself as well: some
//! hundred calls of the system for a commit that several share, which cost more than what they
//! write. Here they are gathered until the commit syncs the log. That sync only hands them to the
//! system: [`super::flush`] makes them durable afterwards, beside the writer.
//!
//! A write for which the disk has room, but not for the copy of the log that follows ([`super::room`]),
//! is refused as on a full disk.
//!
//! This is a layer on SQLite's own access to files ([`sqlite3_vfs`]), for logs alone.

#![expect(
    unsafe_code,
    reason = "SQLite asks for functions of C, on files that it keeps itself"
)]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::{ptr, slice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use libsqlite3_sys::{
    SQLITE_FULL, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_filename_database,
    sqlite3_initialize, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register,
};

use super::file::number;
use super::room::Room;
use crate::store::pool::ConnectError;

/// What a connection names to have its log written so.
const NAME: &CStr = c"gathering-log";

/// So many bytes are written at once at most.
const MOST: usize = 128 * 1024;
/// The length of what a log begins with.
const LOG_HEADER: usize = 32;
/// The length of what stands before each page.
const PAGE_HEADER: usize = 24;

/// SQLite's own access to files.
static SYSTEM: OnceLock<Option<System>> = OnceLock::new();

#[derive(Clone, Copy)]
struct System(*mut sqlite3_vfs);

// SAFETY: SQLite never changes nor frees it, and calls it from every thread.
unsafe impl Send for System {}
// SAFETY: as above.
unsafe impl Sync for System {}

/// A log as SQLite keeps it. The system's own file follows it in memory.
#[repr(C)]
struct Log {
    methods: *const sqlite3_io_methods,
    gathered: *mut Gathered,
}

/// What is not handed to the system yet.
struct Gathered {
    /// Where in the file it begins.
    at: sqlite3_int64,
    bytes: Vec<u8>,
    /// Whether the last page since the last sync ends a commit.
    ends_commit: bool,
    room: Room,
}

/// Makes the layer known to SQLite, and returns what a connection names it.
pub(in crate::store::sqlite) fn register() -> Result<&'static str, ConnectError> {
    let system = SYSTEM.get_or_init(|| {
        // SAFETY: both may be called at any time. What is registered is never freed.
        unsafe {
            if sqlite3_initialize() != SQLITE_OK {
                return None;
            }
            let system = sqlite3_vfs_find(ptr::null());
            let layer = Box::leak(Box::new(*system.as_ref()?));
            layer.pNext = ptr::null_mut();
            layer.zName = NAME.as_ptr();
            layer.szOsFile += size_of::<Log>() as c_int;
            layer.xOpen = Some(open);
            let registered = sqlite3_vfs_register(layer, 0);
            (registered == SQLITE_OK).then_some(System(system))
        }
    });
    if system.is_none() {
        return Err("SQLite does not take a layer on its files".into());
    }
    Ok(NAME.to_str()?)
}

impl Gathered {
    const fn new(room: Room) -> Self {
        Self {
            at: 0,
            bytes: Vec::new(),
            ends_commit: false,
            room,
        }
    }

    fn end(&self) -> sqlite3_int64 {
        self.at + self.bytes.len() as sqlite3_int64
    }
}

/// What is gathered for a log.
///
/// # Safety
/// `file` is a [`Log`], and what was returned before for it is not used any more.
unsafe fn gathered<'a>(file: *mut sqlite3_file) -> &'a mut Gathered {
    // SAFETY: it lives as long as the log, which SQLite uses on one thread at a time.
    unsafe { &mut *(*file.cast::<Log>()).gathered }
}

/// The system's file that belongs to a log.
///
/// # Safety
/// `file` is a [`Log`] that [`open`] was given room for.
unsafe fn system_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: the room is that of both.
    unsafe { file.cast::<Log>().add(1).cast() }
}

/// Calls a method of the system's file that belongs to a log.
macro_rules! of_system {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: the file was opened with it, and has all methods of the first version.
        unsafe {
            let file = system_file($file);
            match (*(*file).pMethods).$method {
                Some(method) => method(file $(, $argument)*),
                None => SQLITE_OK,
            }
        }
    }};
}

/// Hands what is gathered to the system. What it refuses is kept and handed over again: SQLite may
/// undo no more than a statement then, and commit what the transaction had written before it.
fn write_out(file: *mut sqlite3_file) -> c_int {
    // SAFETY: no caller goes on to use what it got before.
    let gathered = unsafe { gathered(file) };
    if gathered.bytes.is_empty() {
        return SQLITE_OK;
    }
    let mut length = 0;
    let told = of_system!(file, xFileSize, &raw mut length);
    if told != SQLITE_OK {
        return told;
    }
    if !gathered.room.is_enough_after(gathered.end() - length) {
        return SQLITE_FULL;
    }
    let bytes = gathered.bytes.as_ptr().cast();
    let count = gathered.bytes.len() as c_int;
    let written = of_system!(file, xWrite, bytes, count, gathered.at);
    if written == SQLITE_OK {
        gathered.bytes.clear();
    }
    written
}

/// Does something with what is in the file.
macro_rules! after_writing_out {
    ($file:expr, $then:expr) => {
        match write_out($file) {
            SQLITE_OK => $then,
            failed => failed,
        }
    };
}

unsafe extern "C" fn open(
    _layer: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    let Some(Some(System(system))) = SYSTEM.get().copied() else {
        return libsqlite3_sys::SQLITE_CANTOPEN;
    };
    // SAFETY: SQLite made room for a log and the system's file, and passes on what that needs.
    unsafe {
        let Some(open) = (*system).xOpen else {
            return libsqlite3_sys::SQLITE_CANTOPEN;
        };
        if flags & SQLITE_OPEN_WAL == 0 {
            return open(system, name, file, flags, flags_out);
        }
        // Without methods it is not closed.
        (*file).pMethods = ptr::null();
        let opened = open(system, name, system_file(file), flags, flags_out);
        if opened == SQLITE_OK {
            let database = CStr::from_ptr(sqlite3_filename_database(name));
            let room = Room::beside(Path::new(OsStr::from_bytes(database.to_bytes())));
            file.cast::<Log>().write(Log {
                methods: &METHODS,
                gathered: Box::into_raw(Box::new(Gathered::new(room))),
            });
        }
        opened
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // What no commit has handed over belongs to none.
    let _ = write_out(file);
    // SAFETY: it is closed once, and was made by `open`.
    drop(unsafe { Box::from_raw((*file.cast::<Log>()).gathered) });
    of_system!(file, xClose)
}

/// What is gathered is read where it is: a read must not fail for want of room to write.
unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    count: c_int,
    at: sqlite3_int64,
) -> c_int {
    let end = at + sqlite3_int64::from(count);
    // SAFETY: it is not used after this block.
    let is_in_file = {
        let gathered = unsafe { gathered(file) };
        if at >= gathered.at && end <= gathered.end() {
            let from = (at - gathered.at) as usize;
            let bytes = &gathered.bytes[from..from + count as usize];
            // SAFETY: SQLite has room for as many bytes as it says.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast(), bytes.len()) };
            return SQLITE_OK;
        }
        end <= gathered.at || at >= gathered.end()
    };
    if is_in_file {
        return of_system!(file, xRead, into, count, at);
    }
    after_writing_out!(file, of_system!(file, xRead, into, count, at))
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    count: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives as many bytes as it says.
    let bytes = unsafe { slice::from_raw_parts(from.cast::<u8>(), count as usize) };
    // SAFETY: it is not used after this block.
    let is_to_be_written = {
        let gathered = unsafe { gathered(file) };
        if at == 0 {
            // The log begins anew. What is left of the one before was undone.
            gathered.bytes.clear();
        }
        gathered.end() != at || gathered.bytes.len() + bytes.len() > MOST
    };
    if is_to_be_written {
        let written = write_out(file);
        if written != SQLITE_OK {
            return written;
        }
    }
    // SAFETY: nothing that was returned before is used any more.
    let gathered = unsafe { gathered(file) };
    if gathered.bytes.is_empty() {
        gathered.at = at;
    }
    match bytes.len() {
        LOG_HEADER => {
            gathered.ends_commit = false;
            gathered.room.log_begins();
        }
        PAGE_HEADER => {
            let (page, pages) = (number(&bytes[..4]), number(&bytes[4..8]));
            // Only the last page of a commit tells the size of the database.
            gathered.ends_commit = pages != 0;
            gathered.room.log_holds(page.max(pages));
        }
        size => gathered.room.pages_have(size as u64),
    }
    gathered.bytes.extend_from_slice(bytes);
    SQLITE_OK
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    after_writing_out!(file, of_system!(file, xTruncate, size))
}

/// A sync after the last page of a commit is the commit's, which is made durable later. All others
/// order what is written before and after them, and are done.
unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let written = write_out(file);
    // SAFETY: nothing that was returned before is used any more.
    let gathered = unsafe { gathered(file) };
    let is_of_commit = core::mem::take(&mut gathered.ends_commit);
    if is_of_commit {
        // SQLite undoes all of a commit that is refused. After a crash it must not stand there.
        gathered.bytes.clear();
    }
    match written {
        SQLITE_OK if !is_of_commit => of_system!(file, xSync, flags),
        _ => written,
    }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    after_writing_out!(file, of_system!(file, xFileSize, size))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    of_system!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    of_system!(file, xUnlock, level)
}

unsafe extern "C" fn check_lock(file: *mut sqlite3_file, is_locked: *mut c_int) -> c_int {
    of_system!(file, xCheckReservedLock, is_locked)
}

unsafe extern "C" fn control(file: *mut sqlite3_file, what: c_int, with: *mut c_void) -> c_int {
    after_writing_out!(file, of_system!(file, xFileControl, what, with))
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    of_system!(file, xSectorSize)
}

unsafe extern "C" fn characteristics(file: *mut sqlite3_file) -> c_int {
    of_system!(file, xDeviceCharacteristics)
}

/// Those of the first version: a log is neither shared nor mapped into memory.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_lock),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

#[cfg(test)]
#[path = "gathering_tests.rs"]
mod tests;
