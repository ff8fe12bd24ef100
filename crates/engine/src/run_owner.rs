//! Who owns what the server lays out for runs (docs/operations.md#another-user).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown, lchown};
use std::path::{Path, PathBuf};
use std::{io, mem};

use nix::fcntl::AtFlags;
use nix::libc;
use nix::unistd::{Gid, Uid, fchownat};
use workforce_guard::RunAs;

use crate::private_files::make_folder;

/// A way that one group can go, without seeing what lies beside it.
const WAY: u32 = 0o710;

/// Who owns what runs are given.
#[derive(Clone, Debug)]
pub(crate) struct RunOwner {
    /// The account of their programs; the server's own when `None`.
    pub(crate) run_as: Option<RunAs>,
    /// Whether that account needs a way through the data folder.
    pub(crate) opens_way: bool,
}

impl RunOwner {
    /// Makes folders of the server's that lie on the way to something of a run's,
    /// outermost first.
    ///
    /// # Errors
    ///
    /// One cannot be made or opened.
    pub(crate) fn make_way(&self, folders: &[&Path]) -> io::Result<()> {
        for folder in folders {
            make_folder(folder)?;
            let group = self.run_as.as_ref().filter(|_| self.opens_way);
            if let Some(RunAs { gid, .. }) = group {
                chown(folder, None, Some(*gid))?;
                fs::set_permissions(folder, Permissions::from_mode(WAY))?;
            }
        }
        Ok(())
    }

    /// Gives a file or folder, in a folder of the server's, to the runs.
    ///
    /// # Errors
    ///
    /// It cannot be given away.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        match &self.run_as {
            Some(RunAs { uid, gid, .. }) => lchown(path, Some(*uid), Some(*gid)),
            None => Ok(()),
        }
    }

    /// Gives the home of an agent, in a folder of the server's, to its runs, with
    /// everything in it. Files with several names stay as they are: another of the
    /// names may be a file of root's.
    ///
    /// # Errors
    ///
    /// It cannot be read or given away.
    pub(crate) fn give_home(&self, home: &Path) -> io::Result<()> {
        let Some(RunAs { uid, gid, .. }) = self.run_as else {
            return Ok(());
        };
        if fs::symlink_metadata(home)?.uid() == uid {
            return Ok(());
        }
        let home = open(home, libc::O_DIRECTORY)?;
        // Nobody who owned it comes in any more. Last comes the home itself, so
        // that one that is given only in part is given again.
        fchown(&home, Some(0), None)?;
        home.set_permissions(Permissions::from_mode(0o700))?;
        let owner = (Uid::from_raw(uid), Gid::from_raw(gid));
        give_content(&home, owner)?;
        fchown(&home, Some(uid), Some(gid))
    }
}

/// Opens a file, but never by way of a link.
fn open(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags | libc::O_NOFOLLOW)
        .open(path)
}

/// Gives away what lies in a folder. Each step goes from an open folder to what is
/// in it, or to the one above it; so no more than two are open, and no depth is too
/// deep.
fn give_content(folder: &File, owner: (Uid, Gid)) -> io::Result<()> {
    let mut here = folder.try_clone()?;
    let mut inner = give_files(&here, owner)?;
    let mut above: Vec<Level> = Vec::new();
    loop {
        if let Some(name) = inner.pop() {
            let (id, left) = (identity(&here)?, mem::take(&mut inner));
            let next = open(&within(&here).join(&name), libc::O_DIRECTORY)?;
            above.push(Level { id, left });
            inner = give_files(&next, owner)?;
            here = next;
        } else if let Some(level) = above.pop() {
            let outer = open(&within(&here).join(".."), libc::O_DIRECTORY)?;
            if identity(&outer)? != level.id {
                return Err(io::Error::other("its folders are being moved"));
            }
            fchown(&here, Some(owner.0.as_raw()), Some(owner.1.as_raw()))?;
            (here, inner) = (outer, level.left);
        } else {
            return Ok(());
        }
    }
}

/// A folder on the way down.
struct Level {
    id: (u64, u64),
    /// The folders in it that are still to be given.
    left: Vec<OsString>,
}

/// Gives away what is no folder in a folder, and names its folders.
fn give_files(folder: &File, owner: (Uid, Gid)) -> io::Result<Vec<OsString>> {
    let here = within(folder);
    let mut folders = Vec::new();
    for entry in fs::read_dir(&here)? {
        let name = entry?.file_name();
        let file = match open(&here.join(&name), libc::O_PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        let found = file.metadata()?;
        if found.is_dir() {
            folders.push(name);
        } else if found.nlink() == 1 {
            let whole = AtFlags::AT_EMPTY_PATH;
            fchownat(&file, "", Some(owner.0), Some(owner.1), whole)?;
        }
    }
    Ok(folders)
}

/// The way to what is in an open folder, wherever it is now.
fn within(folder: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string())
}

fn identity(folder: &File) -> io::Result<(u64, u64)> {
    let found = folder.metadata()?;
    Ok((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::fcntl::{OFlag, openat};
    use nix::sys::stat::{Mode, mkdirat};
    use nix::unistd::geteuid;

    use super::*;

    const NOBODY: (u32, u32) = (65534, 65534);

    #[test]
    fn a_home_is_given_however_deep_it_is_but_for_what_is_elsewhere() {
        if !geteuid().is_root() {
            eprintln!("NOT TESTED: only root gives files away");
            return;
        }
        let outer = tempfile::tempdir().unwrap();
        let (home, kept) = (outer.path().join("home"), outer.path().join("kept"));
        for folder in [&home, &home.join("a"), &home.join("z"), &kept] {
            fs::create_dir(folder).unwrap();
        }
        for file in ["home/a/file", "home/z/file", "kept/file", "kept/two"] {
            fs::write(outer.path().join(file), "").unwrap();
        }
        symlink(&kept, home.join("a/link")).unwrap();
        fs::hard_link(kept.join("two"), home.join("z/two")).unwrap();
        let mut at = File::open(home.join("a")).unwrap();
        for _ in 0..5000 {
            mkdirat(&at, "d", Mode::S_IRWXU).unwrap();
            at = File::from(openat(&at, "d", OFlag::O_DIRECTORY, Mode::empty()).unwrap());
        }
        let owner = RunOwner {
            run_as: Some(RunAs {
                name: "nobody".into(),
                uid: NOBODY.0,
                gid: NOBODY.1,
                groups: vec![NOBODY.1],
                home: "/".into(),
                shell: "/bin/sh".into(),
            }),
            opens_way: false,
        };
        let given = home.clone();
        let small = std::thread::Builder::new().stack_size(128 * 1024);
        let giving = small.spawn(move || owner.give_home(&given).unwrap());
        giving.unwrap().join().unwrap();

        let owner_of = |path: &Path| {
            let found = fs::symlink_metadata(path).unwrap();
            (found.uid(), found.gid())
        };
        for path in ["", "a", "a/d", "a/d/d", "a/file", "a/link", "z", "z/file"] {
            assert_eq!(owner_of(&home.join(path)), NOBODY, "{path}");
        }
        let deepest = at.metadata().unwrap();
        assert_eq!((deepest.uid(), deepest.gid()), NOBODY);
        for path in ["", "file", "two"] {
            assert_eq!(owner_of(&kept.join(path)), (0, 0), "{path}");
        }
    }
}
