use core::ffi::{c_int, c_void};
use core::slice;
use std::fs;
use std::path::Path;

use diesel::connection::Connection as _;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Text};
use libsqlite3_sys::{SQLITE_FULL, SQLITE_OK, sqlite3_file, sqlite3_int64, sqlite3_io_methods};
use proptest::prelude::*;

use super::{Gathered, LOG_HEADER, Log, METHODS, PAGE_HEADER, Room, read, sync, write};
use crate::store::sqlite::Connection;
use crate::store::sqlite::open::{connect, connect_writer};

#[derive(Debug, PartialEq, QueryableByName)]
struct Note {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    text: String,
}

/// One step of a transaction, on notes of up to some pages.
#[derive(Clone, Debug)]
enum Step {
    Put(i64, usize),
    Savepoint,
    UndoToSavepoint,
    Commit,
    RollBack,
    Checkpoint,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..40_i64, 0..20_000_usize).prop_map(|(id, length)| Step::Put(id, length)),
        1 => Just(Step::Savepoint),
        1 => Just(Step::UndoToSavepoint),
        2 => Just(Step::Commit),
        1 => Just(Step::RollBack),
        1 => Just(Step::Checkpoint),
    ];
    proptest::collection::vec(step, 1..60)
}

fn notes(conn: &mut Connection) -> Vec<Note> {
    let all = "SELECT id, text FROM notes ORDER BY id";
    sql_query(all).load(conn).unwrap()
}

fn run(conn: &mut Connection, sql: &str) {
    conn.batch_execute(sql).unwrap();
}

/// A writer with so small a cache that pages go to the log before the commit.
fn writer(path: &Path) -> Connection {
    let mut conn = connect_writer(path).unwrap();
    run(
        &mut conn,
        "PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0; \
         CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL); BEGIN;",
    );
    conn
}

/// What the files hold, as they are now, for whoever opens them after a crash.
fn after_a_crash(path: &Path) -> Vec<Note> {
    let folder = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let name = format!("notes.db{end}");
        fs::copy(path.with_file_name(&name), folder.path().join(&name)).unwrap();
    }
    notes(&mut connect(&folder.path().join("notes.db"), "").unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_commit_is_seen_whole_and_nothing_else_is(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let mut conn = writer(&path);
        let mut model = Connection::establish(":memory:").unwrap();
        run(&mut model, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL); BEGIN;");
        let mut reader = connect(&path, "").unwrap();
        let mut committed = Vec::new();
        let mut has_savepoint = false;
        for (number, step) in steps.into_iter().enumerate() {
            let sql = match step {
                Step::Put(id, length) => {
                    let zeros = length / 2;
                    format!("REPLACE INTO notes VALUES ({id}, hex(zeroblob({zeros})) || {number})")
                }
                Step::Savepoint => "SAVEPOINT here".to_owned(),
                Step::UndoToSavepoint if has_savepoint => "ROLLBACK TO here".to_owned(),
                Step::UndoToSavepoint => continue,
                Step::Commit => "COMMIT; BEGIN".to_owned(),
                Step::RollBack => "ROLLBACK; BEGIN".to_owned(),
                Step::Checkpoint => "ROLLBACK; PRAGMA wal_checkpoint(RESTART); BEGIN".to_owned(),
            };
            run(&mut conn, &sql);
            run(&mut model, &sql);
            has_savepoint = match step {
                Step::Savepoint => true,
                Step::Commit | Step::RollBack | Step::Checkpoint => false,
                Step::Put(..) | Step::UndoToSavepoint => has_savepoint,
            };
            if matches!(step, Step::Commit) {
                committed = notes(&mut model);
            }
            prop_assert_eq!(&notes(&mut reader), &committed);
        }
        prop_assert_eq!(after_a_crash(&path), committed);
    }
}

#[test]
fn a_commit_is_written_with_few_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let mut conn = writer(&path);
    run(&mut conn, "COMMIT; PRAGMA cache_size = 2000; BEGIN;");
    let length = || {
        fs::metadata(path.with_file_name("notes.db-wal"))
            .unwrap()
            .len()
    };
    let before = length();
    for id in 0..20 {
        let insert = format!("INSERT INTO notes VALUES ({id}, hex(zeroblob(2000)))");
        run(&mut conn, &insert);
    }
    assert_eq!(length(), before, "nothing is written before the commit");
    run(&mut conn, "COMMIT");
    assert!(length() > before + 20 * 4096);
}

#[test]
fn a_path_may_hold_what_has_a_meaning_in_a_url() {
    for name in ["100%.db", "what?.db", "a#b.db", "a%20b.db", "vfs=none&x.db"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut conn = connect_writer(&path).unwrap();
        run(&mut conn, "CREATE TABLE notes (id INTEGER, text TEXT)");
        assert!(path.exists(), "{name}");
        let doubled = format!("/{}", path.to_str().unwrap());
        drop(connect_writer(Path::new(&doubled)).unwrap());
        assert_eq!(notes(&mut connect(&path, "").unwrap()), []);
    }
}

/// A log before a file in memory, which refuses writes while it is full.
#[repr(C)]
struct OnFake {
    log: Log,
    methods: *const sqlite3_io_methods,
    content: Vec<u8>,
    is_full: bool,
    syncs: usize,
}

/// The fake behind the pointer that methods of the system are called with.
///
/// # Safety
/// `file` is that of an [`OnFake`].
unsafe fn fake<'a>(file: *mut sqlite3_file) -> &'a mut OnFake {
    // SAFETY: the methods lie behind the log.
    unsafe { &mut *file.cast::<Log>().sub(1).cast() }
}

unsafe extern "C" fn fake_write(
    file: *mut sqlite3_file,
    from: *const c_void,
    count: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: it is called through the log of a fake, with so many bytes.
    let (fake, bytes) = unsafe {
        let bytes = slice::from_raw_parts(from.cast::<u8>(), count as usize);
        (fake(file), bytes)
    };
    if fake.is_full {
        return SQLITE_FULL;
    }
    let at = at as usize;
    let end = at + bytes.len();
    fake.content.resize(fake.content.len().max(end), 0);
    fake.content[at..end].copy_from_slice(bytes);
    SQLITE_OK
}

unsafe extern "C" fn fake_sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: it is called through the log of a fake.
    unsafe { fake(file) }.syncs += 1;
    SQLITE_OK
}

unsafe extern "C" fn fake_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    // SAFETY: it is called through the log of a fake, with room for the answer.
    unsafe { *size = fake(file).content.len() as sqlite3_int64 };
    SQLITE_OK
}

#[test]
fn what_the_disk_refused_is_in_the_commit_or_the_commit_is_nowhere() {
    let methods = sqlite3_io_methods {
        xWrite: Some(fake_write),
        xSync: Some(fake_sync),
        xFileSize: Some(fake_size),
        xRead: None,
        ..METHODS
    };
    let folder = tempfile::tempdir().unwrap();
    let room = Room::beside(&folder.path().join("notes.db"));
    let gathered = Box::into_raw(Box::new(Gathered::new(room)));
    let mut fake = OnFake {
        log: Log {
            methods: &METHODS,
            gathered,
        },
        methods: &methods,
        content: Vec::new(),
        is_full: true,
        syncs: 0,
    };
    let file: *mut OnFake = &mut fake;
    let log = file.cast::<sqlite3_file>();
    let page = [7_u8; 4096];
    let header = |ends_commit| {
        let mut header = [9_u8; PAGE_HEADER];
        header[4..8].fill(u8::from(ends_commit));
        header
    };
    // SAFETY: the file is one that `open` could have made, and outlives the calls.
    unsafe {
        let put = |bytes: &[u8], at| write(log, bytes.as_ptr().cast(), bytes.len() as c_int, at);
        assert_eq!(put(&header(false), 32), SQLITE_OK);
        assert_eq!(put(&page, 56), SQLITE_OK);
        let mut found = [0_u8; 8];
        let mut get = |at| read(log, found.as_mut_ptr().cast(), 8, at);
        assert_eq!(get(28), SQLITE_FULL, "some of it is in the file");
        assert_eq!(get(32), SQLITE_OK, "it needs no room");
        assert_eq!(found, header(false)[..8]);
        // A statement is undone, and the transaction goes on.
        assert_eq!(put(&header(true), 4152), SQLITE_OK);
        assert_eq!(put(&page, 4176), SQLITE_OK);
        assert_eq!(sync(log, 0), SQLITE_FULL, "the commit fails on a full disk");
        (*file).is_full = false;
        assert_eq!(sync(log, 0), SQLITE_OK);
        assert!((*file).content.is_empty(), "it stands nowhere");
        (*file).syncs = 0;
        (*file).is_full = true;
        assert_eq!(put(&header(false), 32), SQLITE_OK);
        assert_eq!(put(&page, 56), SQLITE_OK);
        assert_eq!(read(log, found.as_mut_ptr().cast(), 8, 28), SQLITE_FULL);
        (*file).is_full = false;
        assert_eq!(put(&header(true), 4152), SQLITE_OK);
        assert_eq!(put(&page, 4176), SQLITE_OK);
        assert_eq!(sync(log, 0), SQLITE_OK);
        assert_eq!((*file).syncs, 0, "that of a commit is left to the flush");
        assert_eq!(sync(log, 0), SQLITE_OK);
        assert_eq!((*file).syncs, 1);
        // A log that begins anew is synced, although the commit before was not ended.
        assert_eq!(put(&header(true), 8272), SQLITE_OK);
        assert_eq!(put(&[1; LOG_HEADER], 0), SQLITE_OK);
        assert_eq!(sync(log, 0), SQLITE_OK);
        assert_eq!((*file).syncs, 2);
        drop(Box::from_raw(gathered));
    }
    let expected = [&header(false)[..], &page, &header(true), &page].concat();
    assert!(fake.content[32..8272] == expected);
}
