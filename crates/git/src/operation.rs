//! Operations of git that take several commands, and were not ended.

use std::ffi::OsStr;
use std::fmt;
use std::io;

use crate::folder::Folder;

/// Such an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `git merge` met conflicts, or was told not to commit.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git am`.
    Am,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
}

impl Operation {
    /// The word for it, such as `cherry-pick`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Am => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// Looks into the folder that git keeps about one worktree.
    pub(crate) fn found_in(folder: &Folder) -> io::Result<Option<Self>> {
        let is_there = |name: &str| Ok::<_, io::Error>(folder.kind(OsStr::new(name))?.is_some());
        if is_there("rebase-apply")? {
            let is_am = match folder.child(OsStr::new("rebase-apply")) {
                Ok(rebase) => rebase.kind(OsStr::new("applying"))?.is_some(),
                Err(_) => false,
            };
            return Ok(Some(if is_am { Self::Am } else { Self::Rebase }));
        }
        for (name, operation) in [
            ("rebase-merge", Self::Rebase),
            ("MERGE_HEAD", Self::Merge),
            ("CHERRY_PICK_HEAD", Self::CherryPick),
            ("REVERT_HEAD", Self::Revert),
            ("BISECT_LOG", Self::Bisect),
        ] {
            if is_there(name)? {
                return Ok(Some(operation));
            }
        }
        Ok(None)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
