//! Opening files beneath a folder, and nowhere else: no link is followed on
//! the way, and no name leads upwards.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::Mode;

/// A rename on the way makes the kernel look again this many times.
const ATTEMPTS: usize = 16;

/// Opens `path`, relative to `folder`; an empty one is the folder itself.
///
/// # Errors
/// `ELOOP` for a link on the way, `EXDEV` for a way out, or what the system
/// answers.
pub(super) fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlag) -> io::Result<OwnedFd> {
    let flags = flags | OFlag::O_CLOEXEC;
    let path = if path.is_empty() { "." } else { path };
    match open_resolved(folder, path, flags) {
        // An older kernel, or a filter that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM | Errno::EINVAL) => {
            Ok(open_step_by_step(folder, path, flags)?)
        }
        outcome => Ok(outcome?),
    }
}

fn open_resolved(folder: BorrowedFd<'_>, path: &str, flags: OFlag) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlag::RESOLVE_BENEATH
        | ResolveFlag::RESOLVE_NO_SYMLINKS
        | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    let how = OpenHow::new().flags(flags).resolve(resolve);
    for _ in 0..ATTEMPTS {
        match openat2(folder, path, how) {
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::EAGAIN)
}

/// The same in steps of one name each, none of which follows a link.
fn open_step_by_step(folder: BorrowedFd<'_>, path: &str, flags: OFlag) -> Result<OwnedFd, Errno> {
    let mut names = path
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".");
    let mut at: Option<OwnedFd> = None;
    let mut next = names.next();
    while let Some(name) = next {
        if name == ".." {
            return Err(Errno::EXDEV);
        }
        next = names.next();
        let here = at.as_ref().map_or(folder, AsFd::as_fd);
        let step = if next.is_some() {
            OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC
        } else {
            flags
        };
        at = Some(openat(here, name, step | OFlag::O_NOFOLLOW, Mode::empty())?);
    }
    match at {
        Some(opened) => Ok(opened),
        None => openat(folder, ".", flags, Mode::empty()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    type Open = fn(BorrowedFd<'_>, &str, OFlag) -> Result<OwnedFd, Errno>;

    #[test]
    fn both_ways_of_opening_refuse_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("inner/deep")).unwrap();
        std::fs::write(at("inner/deep/file"), "x").unwrap();
        std::fs::write(at("outside"), "x").unwrap();
        symlink(at("outside"), at("inner/link")).unwrap();
        symlink("deep", at("inner/folder")).unwrap();
        let root = File::open(at("inner")).unwrap();
        let ways: [Open; 2] = [open_resolved, open_step_by_step];
        for way in ways {
            let open = |path| way(root.as_fd(), path, OFlag::O_RDONLY | OFlag::O_CLOEXEC);
            assert!(open("deep/file").is_ok());
            assert!(open(".").is_ok());
            for refused in ["link", "folder/file", "../outside", "deep/../../outside"] {
                assert!(open(refused).is_err(), "{refused}");
            }
            assert_eq!(open("none").err(), Some(Errno::ENOENT));
        }
        // An absolute path is one only for the kernel; the other takes it apart.
        assert!(open_resolved(root.as_fd(), "/etc/passwd", OFlag::O_RDONLY).is_err());
        assert!(open_step_by_step(root.as_fd(), "/etc/passwd", OFlag::O_RDONLY).is_err());
    }
}
