//! Removes folders of any depth.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd as _;

use nix::errno::Errno;
use nix::fcntl::renameat;

use super::{Folder, Kind};

impl Folder {
    /// Removes a folder with all that is in it, however deep that is: folders are moved
    /// up to the first one, so that neither stack nor open files grow with the depth.
    pub(crate) fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        let top = self.child(name)?;
        let mut moved = 0_u64;
        loop {
            let entries = top.kinds()?;
            if entries.is_empty() {
                return self.remove_empty(name);
            }
            for (entry, kind) in entries {
                match kind {
                    Some(Kind::Folder) => {
                        top.child(&entry)?.empty_into(&top, &mut moved)?;
                        top.remove_empty(&entry)?;
                    }
                    Some(_) => top.remove_file(&entry)?,
                    None => {}
                }
            }
        }
    }

    /// Removes the files of this folder, and moves its folders to another under names
    /// that are numbered on from `moved`.
    fn empty_into(&self, other: &Self, moved: &mut u64) -> io::Result<()> {
        for (entry, kind) in self.kinds()? {
            match kind {
                Some(Kind::Folder) => loop {
                    *moved += 1;
                    let name = format!("moved-{moved}");
                    match renameat(self.0.as_fd(), &*entry, other.0.as_fd(), &*name) {
                        Ok(()) => break,
                        // What was there before has the name.
                        Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
                        Err(error) => return Err(error.into()),
                    }
                },
                Some(_) => self.remove_file(&entry)?,
                None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_tree_of_any_depth_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let root = Folder::open(root.path()).unwrap();
        let tree = root.child_or_new(OsStr::new("tree"), 0o700).unwrap();
        // Names that the removal might take itself.
        let taken = tree.child_or_new(OsStr::new("moved-1"), 0o700).unwrap();
        taken.child_or_new(OsStr::new("moved-2"), 0o700).unwrap();
        File::create(root_of(&tree).join("moved-3")).unwrap();
        let mut at = tree;
        for _ in 0..20_000 {
            at = at.child_or_new(OsStr::new("in"), 0o700).unwrap();
        }
        drop((at, taken));
        root.remove_tree(OsStr::new("tree")).unwrap();
        assert!(root.names().unwrap().is_empty());
    }

    fn root_of(folder: &Folder) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", folder.0.as_raw_fd()).into()
    }
}
