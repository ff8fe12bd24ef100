//! Files of a backup: for their owner alone, durable, and known by what they hold.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, OpenOptions, read_dir};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use data_encoding::HEXLOWER;
use nix::fcntl::OFlag;
use sha2::{Digest, Sha256};

/// Bytes are copied so many at a time.
const PIECE: usize = 1024 * 1024;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: u64,
    /// In hexadecimal.
    pub(super) sha256: String,
}

/// What the file at `path` holds.
pub(super) fn content(path: &Path) -> io::Result<Content> {
    pass_on(&mut open(path)?, &mut io::sink())
}

/// Copies a file to a new one, which is durable then.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<Content> {
    let mut source = open(from).with_context(|| format!("failed to read {}", from.display()))?;
    write(to, |target| pass_on(&mut source, target))
}

/// Writes a new file, which is durable then.
pub(super) fn write<T>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<T>,
) -> anyhow::Result<T> {
    let written = || {
        let mut file = create(path)?;
        let filled = fill(&mut file)?;
        file.sync_all()?;
        Ok::<_, io::Error>(filled)
    };
    written().with_context(|| format!("failed to write {}", path.display()))
}

/// Makes a new file.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Makes a folder, and those above it that are missing.
pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("failed to make the folder {}", path.display()))
}

/// Makes the names in these folders durable, and those in all folders below.
pub(super) fn sync_folders(folder: &Path) -> anyhow::Result<()> {
    let failed = || format!("failed to write the folder {}", folder.display());
    for entry in read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if entry.file_type().with_context(failed)?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync(folder).with_context(failed)
}

/// Makes the names in a folder durable.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Every file `<folder>/<company>/<name>` whose names are as they must be, as path below `folder`.
/// A folder that is not there has none. Links are nobody's.
pub(super) fn list(
    folder: &Path,
    is_company: fn(&str) -> bool,
    is_file: fn(&str) -> bool,
) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let companies = names(folder, FileType::is_dir)?.into_iter();
    for company in companies.filter(|name| is_company(name)) {
        let files = names(&folder.join(&company), FileType::is_file)?;
        let files = files.into_iter().filter(|name| is_file(name));
        found.extend(files.map(|file| (company.clone(), file)));
    }
    Ok(found)
}

/// The names of one kind in a folder, in order; those that are no text are not ours.
fn names(folder: &Path, is_kind: fn(&FileType) -> bool) -> anyhow::Result<Vec<String>> {
    let failed = || format!("failed to read the folder {}", folder.display());
    let entries = match read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => return Ok(Vec::new()),
            _ => return Err(error).with_context(failed),
        },
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.with_context(failed)?;
        // What vanished meanwhile is of no kind.
        if entry.file_type().is_ok_and(|kind| is_kind(&kind)) {
            names.extend(entry.file_name().to_str().map(str::to_owned));
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The folder of a path, and its own name.
pub(super) fn split(path: &Path) -> anyhow::Result<(PathBuf, &OsStr)> {
    let name = path.file_name();
    let name = name.with_context(|| format!("{} names no folder to make", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    Ok((folder.to_owned(), name))
}

/// Opens a plain file: neither a link nor a pipe, which would hold us up.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a plain file"))
    }
}

fn pass_on(source: &mut impl Read, target: &mut impl Write) -> io::Result<Content> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut bytes = 0;
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let part = piece.get(..read).unwrap_or_default();
        hasher.update(part);
        target.write_all(part)?;
        bytes += read as u64;
    }
    Ok(Content {
        bytes,
        sha256: HEXLOWER.encode(&hasher.finalize()),
    })
}
