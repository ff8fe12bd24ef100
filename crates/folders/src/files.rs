//! Files in an open folder.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;

use nix::errno::Errno;
use nix::fcntl::{OFlag, RenameFlags, openat, readlinkat, renameat, renameat2};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::symlinkat;

use super::{Folder, Kind};

impl Folder {
    /// Opens a regular file. A pipe does not block.
    pub fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
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
    pub fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
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
    pub fn new_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(mode);
        Ok(openat(self.0.as_fd(), name, flags, mode)?.into())
    }

    /// Puts a file in the place of what stands there: a link is replaced, not
    /// followed.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
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
    pub fn temporary(&self, name: &str) -> io::Result<OsString> {
        for n in 0..u32::MAX {
            let candidate = OsString::from(format!("{name}.new-{}-{n}", std::process::id()));
            if self.stat_of(&candidate)?.is_none() {
                return Ok(candidate);
            }
        }
        Err(Errno::EEXIST.into())
    }

    /// Moves an entry, over a file that stands there.
    pub fn rename(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        Ok(renameat(self.0.as_fd(), from, folder.0.as_fd(), to)?)
    }

    /// Moves an entry to where nothing stands.
    pub fn rename_new(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
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
    pub fn copy(
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
    pub fn hand_over(&self, name: &OsStr, folder: &Self) -> io::Result<()> {
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
}
