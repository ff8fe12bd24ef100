//! Small files that their owner alone may read.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER_PERMISSIVE;
use nix::libc;
use zeroize::Zeroizing;

use crate::tokens::fill;

/// Why a private file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Others may read it.
    Exposed,
    /// It cannot be read.
    File(io::Error),
}

/// The first `limit` bytes of a file that nobody but its owner may read.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Zeroizing<String>, ReadError> {
    let file = open(path).map_err(ReadError::File)?;
    let permissions = file.metadata().map_err(ReadError::File)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        return Err(ReadError::Exposed);
    }
    read_first(file, limit).map_err(ReadError::File)
}

/// The first `limit` bytes of a file that others may read as well.
pub(crate) fn read_public(path: &Path, limit: u64) -> io::Result<Zeroizing<String>> {
    read_first(open(path)?, limit)
}

/// Opens a plain file, or a link to one. Whoever opens a pipe otherwise waits for a writer.
fn open(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a plain file")),
    }
}

fn read_first(file: File, limit: u64) -> io::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    file.take(limit).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a line to a new file, which is complete before it has its name.
///
/// # Errors
/// `AlreadyExists` when there is such a file; `line` is not asked then.
pub(crate) fn create(path: &Path, line: impl FnOnce() -> Zeroizing<String>) -> io::Result<()> {
    if path.try_exists()? {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let temporary = temporary_path(path);
    let written = write(&temporary, &line()).and_then(|()| {
        // Unlike a rename, a link never replaces what another process made meanwhile.
        std::fs::hard_link(&temporary, path)
    });
    std::fs::remove_file(&temporary)?;
    written?;
    sync_folder(path)
}

/// Replaces the lines of a file: after a loss of power it holds either the new
/// or the former lines, all of them.
///
/// # Errors
/// The file is as before, unless the folder alone could not be synced. A link is not replaced:
/// somebody keeps the file elsewhere.
pub(crate) fn replace(path: &Path, lines: &str) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|it| it.is_symlink()) {
        return Err(io::Error::other(
            "it is a link: change the file where it leads to",
        ));
    }
    let temporary = temporary_path(path);
    let written = write(&temporary, lines).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = written {
        // The temporary may not even be there.
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(path)
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut suffix = [0; 8];
    fill(&mut suffix);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", HEXLOWER_PERMISSIVE.encode(&suffix)));
    temporary.into()
}

/// Whether `name` is that of the file `finished` before it is complete.
pub(crate) fn is_unfinished(name: &OsStr, finished: &str) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(finished));
    rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".new"))
}

/// A new name outlives a loss of power only when its folder was synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

fn write(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(line.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}
