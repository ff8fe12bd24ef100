//! Removes folders, however deep they lie in each other.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::NixPath;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::Folder;

/// So many names are read before they are removed.
const BATCH: usize = 1000;
/// More is left behind: somebody writes faster than this removes.
const MOST: usize = 20_000_000;

/// Removes a folder and what is in it. A folder that is not there counts as removed.
///
/// No link is followed: neither in the folder nor on the way to it.
///
/// # Errors
///
/// What cannot be removed. The rest may be gone.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let removed = Folder::open_without_links(parent).and_then(|it| it.remove_tree(name));
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

impl Folder {
    /// Removes a folder in this one with all that is in it. Links in it are removed, not followed.
    ///
    /// It takes a few open files and no stack, however deep the content is: folders that lie
    /// deeper are moved up, one by one, before they are emptied.
    ///
    /// # Errors
    /// What cannot be removed. The rest may be gone.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        let mut removal = Removal {
            // Root needs no mode to be changed, and must not change any: what lies
            // where a run wrote may be a link.
            opens: !geteuid().is_root(),
            moved: 0,
            steps: 0,
        };
        let top = removal.open(self.as_fd(), name)?;
        removal.empty(&top, &top)?;
        drop(top);
        match unlinkat(self, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

struct Removal {
    /// Whether folders must be opened to their owner first.
    opens: bool,
    /// Folders that were moved up so far.
    moved: usize,
    /// Names that were looked at so far.
    steps: usize,
}

impl Removal {
    /// Empties a folder. What is a folder in it goes up to `top`, or is emptied
    /// at once where this is `top`.
    fn empty(&mut self, folder: &OwnedFd, top: &OwnedFd) -> io::Result<()> {
        let is_top = std::ptr::eq(folder, top);
        loop {
            let names = names(folder)?;
            if names.is_empty() {
                return Ok(());
            }
            for name in names {
                self.steps += 1;
                if self.steps > MOST {
                    return Err(io::Error::other("there is too much of it"));
                }
                match unlinkat(folder, &*name, UnlinkatFlags::NoRemoveDir) {
                    Ok(()) | Err(Errno::ENOENT) => continue,
                    Err(Errno::EISDIR | Errno::EPERM) => {}
                    Err(error) => return Err(error.into()),
                }
                if is_top {
                    self.remove(top, &name)?;
                } else {
                    self.move_up(folder, &name, top)?;
                }
            }
        }
    }

    /// Removes a folder right below the top.
    fn remove(&mut self, top: &OwnedFd, name: &CStr) -> io::Result<()> {
        let inner = match self.open(top.as_fd(), OsStr::from_bytes(name.to_bytes())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        self.empty(&inner, top)?;
        match unlinkat(top, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder, and lets its content be changed.
    fn open(&self, within: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let open = || openat(within, name, flags, Mode::empty());
        let opened = match open() {
            Err(Errno::EACCES) if self.opens => {
                unlock_named(within, name)?;
                open()?
            }
            opened => opened?,
        };
        if self.opens {
            fchmod(&opened, Mode::S_IRWXU)?;
        }
        Ok(opened)
    }

    /// Moves a folder up, under a name that nothing has there.
    fn move_up(&mut self, from: &OwnedFd, name: &CStr, top: &OwnedFd) -> io::Result<()> {
        let mut is_unlocked = false;
        loop {
            self.moved += 1;
            let new = format!(".removed-{}", self.moved);
            match renameat(from, name, top, &*new) {
                Ok(()) | Err(Errno::ENOENT) => return Ok(()),
                Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR | Errno::EISDIR) => {}
                // A folder can be moved by who may change what is in it.
                Err(Errno::EACCES) if self.opens && !is_unlocked => {
                    unlock_named(from, name)?;
                    is_unlocked = true;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Lets the content of a folder, which cannot be opened yet, be changed by its owner.
fn unlock_named<P: NixPath + ?Sized>(within: impl AsFd, name: &P) -> io::Result<()> {
    fchmodat(within, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
    Ok(())
}

/// The first names in a folder, without itself and its parent.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut found = Dir::openat(folder.as_fd(), c".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in found.iter() {
        let name = entry?.file_name().to_owned();
        if ![c".", c".."].contains(&&*name) {
            names.push(name);
        }
        if names.len() >= BATCH {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Makes folders in each other, the innermost with a file.
    fn deep(folder: &Path, levels: usize) {
        let top = OpenOptions::new().read(true).open(folder).unwrap();
        let mut at = OwnedFd::from(top);
        for _ in 0..levels {
            nix::sys::stat::mkdirat(&at, c"d", Mode::S_IRWXU).unwrap();
            at = openat(&at, c"d", OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        }
        let made = OFlag::O_CREAT | OFlag::O_WRONLY;
        openat(&at, c"f", made, Mode::S_IRUSR).unwrap();
    }

    #[test]
    fn no_depth_is_too_deep() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("run");
        fs::create_dir(&folder).unwrap();
        deep(&folder, 30_000);
        // On a small stack, where recursion would not come far.
        let removed = folder.clone();
        let small = std::thread::Builder::new().stack_size(128 * 1024);
        small
            .spawn(move || remove_folder(&removed).unwrap())
            .unwrap()
            .join()
            .unwrap();
        assert!(!folder.exists());
        remove_folder(&folder).unwrap();
    }

    #[test]
    fn many_files_locked_folders_and_names_that_are_taken_go_too() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("run");
        for inner in ["a/b/c", "a/.removed-1", ".removed-1/x", ".removed-2"] {
            fs::create_dir_all(folder.join(inner)).unwrap();
        }
        for number in 0..2500 {
            fs::write(folder.join(format!("a/b/{number}")), "").unwrap();
        }
        fs::write(folder.join(".removed-3"), "a file").unwrap();
        for locked in ["a/b/c", "a/b", "a"] {
            let closed = Permissions::from_mode(0o000);
            fs::set_permissions(folder.join(locked), closed).unwrap();
        }
        remove_folder(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_goes_and_what_it_leads_to_stays() {
        let outer = tempfile::tempdir().unwrap();
        let (folder, kept) = (outer.path().join("run"), outer.path().join("kept"));
        fs::create_dir_all(folder.join("in")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "kept").unwrap();
        symlink(&kept, folder.join("in/link")).unwrap();
        symlink(&kept, folder.join("link")).unwrap();
        remove_folder(&folder).unwrap();
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "kept");
        // The folder itself may be a link as well, or what it lies in.
        symlink(&kept, &folder).unwrap();
        assert!(remove_folder(&folder).is_err());
        fs::create_dir(kept.join("inner")).unwrap();
        assert!(remove_folder(&folder.join("inner")).is_err());
        assert!(kept.join("file").exists() && kept.join("inner").exists());
    }
}
