//! Folders that are held open, in which no symbolic link is ever followed.
//!
//! Whoever may write to a folder can replace a file by a link between a look at
//! it and its use. So every step is taken from an open folder.

mod files;
mod remove_tree;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
pub use remove_tree::remove_folder;

use nix::unistd::{AccessFlags, UnlinkatFlags, faccessat, unlinkat};

/// An open folder.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl Kind {
    /// What `stat` is about.
    pub fn of(stat: &FileStat) -> Self {
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
    /// Opens a folder by a path that is trusted: links in it are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        Ok(Self(nix::fcntl::open(path, flags, Mode::empty())?))
    }

    /// Opens a folder by a path in which no link is followed, wherever it stands. A folder on
    /// the way need not be readable.
    pub fn open_without_links(path: &Path) -> io::Result<Self> {
        let on_the_way = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let first = if path.is_absolute() { "/" } else { "." };
        let mut at = Self(nix::fcntl::open(first, on_the_way, Mode::empty())?);
        for component in path.components() {
            match component {
                Component::Normal(name) => {
                    at = Self(openat(&at, name, on_the_way, Mode::empty())?);
                }
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => return Err(Errno::EINVAL.into()),
            }
        }
        at.child(OsStr::new("."))
    }

    /// The path of this folder for calls that take paths. It leads to this folder for as long as
    /// the value lives, wherever the folder is moved.
    pub fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// Opens a folder in this one.
    pub fn child(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(Self(openat(self.0.as_fd(), name, flags, Mode::empty())?))
    }

    /// Opens a folder in this one, and makes it if there is none.
    pub fn child_or_new(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        match mkdirat(self.0.as_fd(), name, Mode::from_bits_truncate(mode)) {
            Ok(()) | Err(Errno::EEXIST) => self.child(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder some levels below.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        self.walk(path, |folder, name| folder.child(name))
    }

    /// Opens a folder some levels below; none if it is gone, or a link or a file is on the
    /// way.
    pub fn find(&self, path: &Path) -> io::Result<Option<Self>> {
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
    pub fn below_or_new(&self, path: &Path, mode: u32) -> io::Result<Self> {
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
    pub fn new_child(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        mkdirat(self.0.as_fd(), name, Mode::from_bits_truncate(mode))?;
        self.child(name)
    }

    /// Fails if this user may make nothing in a folder below. One that is missing is made
    /// when it is needed.
    pub fn may_add_to(&self, path: &Path) -> io::Result<()> {
        let access = AccessFlags::W_OK | AccessFlags::X_OK;
        match faccessat(self.0.as_fd(), path, access, AtFlags::AT_EACCESS) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What is known about this folder.
    pub fn stat(&self) -> io::Result<FileStat> {
        Ok(fstat(&self.0)?)
    }

    /// What is known about an entry; none if there is none.
    pub fn stat_of(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match fstatat(self.0.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What an entry is; none if there is none.
    pub fn kind(&self, name: &OsStr) -> io::Result<Option<Kind>> {
        Ok(self.stat_of(name)?.map(|stat| Kind::of(&stat)))
    }

    /// Removes an entry that is no folder. It may be gone already.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(self.0.as_fd(), name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty folder.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self.0.as_fd(), name, UnlinkatFlags::RemoveDir)?)
    }

    /// The names of all entries.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = self.list(|_| None)?;
        Ok(entries.into_iter().map(|(name, _)| name).collect())
    }

    /// All entries with what they are; none for one that was removed meanwhile.
    pub fn kinds(&self) -> io::Result<Vec<(OsString, Option<Kind>)>> {
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
