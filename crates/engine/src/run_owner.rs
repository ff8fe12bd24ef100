//! Who owns what the server lays out for runs (docs/operations.md#another-user).

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown, lchown};
use std::path::Path;

use nix::fcntl::AtFlags;
use nix::libc;
use nix::unistd::{Gid, Uid, fchownat};
use workforce_guard::RunAs;

use crate::private_files::make_folder;

/// Deeper folders of a home are not given away.
const DEEPEST: usize = 200;
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
        give_content(&home, owner, 0)?;
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
/// in it.
fn give_content(folder: &File, owner: (Uid, Gid), depth: usize) -> io::Result<()> {
    if depth >= DEEPEST {
        return Ok(());
    }
    let here = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    for entry in fs::read_dir(&here)? {
        let name = entry?.file_name();
        let file = match open(&here.join(&name), libc::O_PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        let found = file.metadata()?;
        if found.is_dir() {
            let inner = open(&here.join(&name), libc::O_DIRECTORY)?;
            give_content(&inner, owner, depth + 1)?;
            fchown(&inner, Some(owner.0.as_raw()), Some(owner.1.as_raw()))?;
        } else if found.nlink() == 1 {
            let whole = AtFlags::AT_EMPTY_PATH;
            fchownat(&file, "", Some(owner.0), Some(owner.1), whole)?;
        }
    }
    Ok(())
}
