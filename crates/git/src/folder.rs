//! Folders that are held open, in which no symbolic link is ever followed.
//!
//! Whoever may write to a folder can replace a file by a link between a look at
//! it and its use. So every step is taken from an open folder.

mod remove_tree;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, RenameFlags, openat, readlinkat, renameat, renameat2};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
use nix::unistd::{AccessFlags, UnlinkatFlags, faccessat, symlinkat, unlinkat};

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl Kind {
    pub(crate) fn of(stat: &FileStat) -> Self {
        let bits = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT;
        match bits {
            SFlag::S_IFREG => Self::File,
            SFlag::S_IFDIR => Self::Folder,
            SFlag::S_IFLNK => Self::Link,
            _ => Self::Special,
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<Folder> for File {
    fn from(folder: Folder) -> Self {
        folder.0.into()
    }
}

impl Folder {
    /// Opens a folder by a path that is trusted.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(OwnedFd::from).and_then(|fd| {
            let stat = fstat(&fd)?;
            match Kind::of(&stat) {
                Kind::Folder => Ok(Self(fd)),
                _ => Err(Errno::ENOTDIR.into()),
            }
        })
    }

    /// Opens a folder in this one.
    pub(crate) fn child(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(Self(openat(self.0.as_fd(), name, flags, Mode::empty())?))
    }

    /// Opens a folder in this one, and makes it if there is none.
    pub(crate) fn child_or_new(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        match mkdirat(self.0.as_fd(), name, Mode::from_bits_truncate(mode)) {
            Ok(()) | Err(Errno::EEXIST) => self.child(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder some levels below.
    pub(crate) fn below(&self, path: &Path) -> io::Result<Self> {
        self.walk(path, |folder, name| folder.child(name))
    }

    /// Opens a folder some levels below; none if it is gone, or a link or a file is on the
    /// way.
    pub(crate) fn find(&self, path: &Path) -> io::Result<Option<Self>> {
        match self.below(path) {
            Ok(folder) => Ok(Some(folder)),
            Err(error)
                if [Errno::ENOENT, Errno::ENOTDIR, Errno::ELOOP]
                    .iter()
                    .any(|gone| error.raw_os_error() == Some(*gone as i32)) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a folder some levels below, and makes what is missing.
    pub(crate) fn below_or_new(&self, path: &Path, mode: u32) -> io::Result<Self> {
        self.walk(path, |folder, name| folder.child_or_new(name, mode))
    }

    fn walk(
        &self,
        path: &Path,
        step: impl Fn(&Self, &OsStr) -> io::Result<Self>,
    ) -> io::Result<Self> {
        let mut at = Self(self.0.try_clone()?);
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(Errno::EINVAL.into());
            };
            at = step(&at, name)?;
        }
        Ok(at)
    }

    /// Makes a folder that was not there.
    pub(crate) fn new_child(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        mkdirat(self.0.as_fd(), name, Mode::from_bits_truncate(mode))?;
        self.child(name)
    }

    /// Fails if this user may make nothing in a folder below. One that is missing is made
    /// when it is needed.
    pub(crate) fn may_add_to(&self, path: &Path) -> io::Result<()> {
        let access = AccessFlags::W_OK | AccessFlags::X_OK;
        match faccessat(self.0.as_fd(), path, access, AtFlags::AT_EACCESS) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What is known about this folder.
    pub(crate) fn stat(&self) -> io::Result<FileStat> {
        Ok(fstat(&self.0)?)
    }

    /// What is known about an entry; none if there is none.
    pub(crate) fn stat_of(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match fstatat(self.0.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What an entry is; none if there is none.
    pub(crate) fn kind(&self, name: &OsStr) -> io::Result<Option<Kind>> {
        Ok(self.stat_of(name)?.map(|stat| Kind::of(&stat)))
    }

    /// Opens a regular file. A pipe does not block.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        let flags = OFlag::O_RDONLY
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        let fd = match openat(self.0.as_fd(), name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::ENOENT | Errno::ENOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match Kind::of(&fstat(&fd)?) {
            Kind::File => Ok(Some(fd.into())),
            _ => Err(io::Error::other("not a regular file")),
        }
    }

    /// Reads a regular file of at most `limit` bytes; none if there is none.
    pub(crate) fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open_file(OsStr::new(name))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(io::Error::other("the file is too large"));
        }
        Ok(Some(bytes))
    }

    /// Makes a file that was not there.
    pub(crate) fn new_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(mode);
        Ok(openat(self.0.as_fd(), name, flags, mode)?.into())
    }

    /// Puts a file in the place of what stands there: a link is replaced, not
    /// followed.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.temporary(name)?;
        let written = self.new_file(&temporary, 0o666).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            self.rename(&temporary, self, OsStr::new(name))
        });
        if written.is_err() {
            let _ = self.remove_file(&temporary);
        }
        written
    }

    /// A name under which nothing stands.
    pub(crate) fn temporary(&self, name: &str) -> io::Result<OsString> {
        for n in 0..u32::MAX {
            let candidate = OsString::from(format!("{name}.new-{}-{n}", std::process::id()));
            if self.stat_of(&candidate)?.is_none() {
                return Ok(candidate);
            }
        }
        Err(Errno::EEXIST.into())
    }

    /// Moves an entry, over a file that stands there.
    pub(crate) fn rename(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        Ok(renameat(self.0.as_fd(), from, folder.0.as_fd(), to)?)
    }

    /// Moves an entry to where nothing stands.
    pub(crate) fn rename_new(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        let flags = RenameFlags::RENAME_NOREPLACE;
        match renameat2(self.0.as_fd(), from, folder.0.as_fd(), to, flags) {
            // Some file systems do not know the flag.
            Err(Errno::EINVAL) if folder.stat_of(to)?.is_none() => self.rename(from, folder, to),
            done => Ok(done?),
        }
    }

    /// Copies a regular file or a link into another folder, under a name that is free
    /// there, and tells how many bytes that were; none if there is neither. No more than
    /// `limit` bytes are copied. What a link leads to is not read.
    pub(crate) fn copy(
        &self,
        name: &OsStr,
        folder: &Self,
        to: &OsStr,
        limit: u64,
    ) -> io::Result<Option<u64>> {
        match self.kind(name)? {
            Some(Kind::Link) => {
                let target = match readlinkat(self.0.as_fd(), name) {
                    Ok(target) => target,
                    // Something else stands there by now.
                    Err(Errno::ENOENT | Errno::EINVAL) => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
                symlinkat(target.as_os_str(), folder.0.as_fd(), to)?;
                Ok(Some(0))
            }
            Some(Kind::File) => {
                let file = match self.open_file(name) {
                    Ok(Some(file)) => file,
                    Ok(None) => return Ok(None),
                    Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                };
                let runs = fstat(&file)?.st_mode & 0o100 != 0;
                let mode = if runs { 0o777 } else { 0o666 };
                let mut target = folder.new_file(to, mode)?;
                Ok(Some(io::copy(&mut file.take(limit), &mut target)?))
            }
            Some(Kind::Folder | Kind::Special) | None => Ok(None),
        }
    }

    /// Moves a file or a link into another folder, over a file that stands there.
    pub(crate) fn hand_over(&self, name: &OsStr, folder: &Self) -> io::Result<()> {
        match renameat(self.0.as_fd(), name, folder.0.as_fd(), name) {
            Err(Errno::EXDEV) => {}
            done => return Ok(done?),
        }
        let temporary = folder.temporary(&name.to_string_lossy())?;
        let moved = match self.copy(name, folder, &temporary, u64::MAX) {
            Ok(Some(_)) => folder.rename(&temporary, folder, name),
            Ok(None) => Err(Errno::ENOENT.into()),
            Err(error) => Err(error),
        };
        if moved.is_err() {
            let _ = folder.remove_file(&temporary);
        }
        moved
    }

    /// Removes an entry that is no folder. It may be gone already.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(self.0.as_fd(), name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty folder.
    pub(crate) fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self.0.as_fd(), name, UnlinkatFlags::RemoveDir)?)
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = self.list(|_| None)?;
        Ok(entries.into_iter().map(|(name, _)| name).collect())
    }

    /// All entries with what they are; none for one that was removed meanwhile.
    pub(crate) fn kinds(&self) -> io::Result<Vec<(OsString, Option<Kind>)>> {
        let mut entries = self.list(|kind| {
            Some(match kind {
                Type::Directory => Kind::Folder,
                Type::File => Kind::File,
                Type::Symlink => Kind::Link,
                _ => Kind::Special,
            })
        })?;
        for (name, kind) in &mut entries {
            // Some file systems do not tell.
            if kind.is_none() {
                *kind = self.kind(name)?;
            }
        }
        Ok(entries)
    }

    fn list(
        &self,
        kind: impl Fn(Type) -> Option<Kind>,
    ) -> io::Result<Vec<(OsString, Option<Kind>)>> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        // A folder of its own: reading moves a position that clones share.
        let mut dir = Dir::openat(self.0.as_fd(), ".", flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in dir.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                let kind = entry.file_type().and_then(&kind);
                entries.push((OsString::from_vec(name), kind));
            }
        }
        Ok(entries)
    }
}

/// A path from the bytes that git printed.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
