//! Notes of what was begun with a worktree, outside of the agent's reach.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::program::make_private;
use crate::{CommitId, GitError, Worktree};

/// What was begun and not ended.
#[derive(Debug)]
pub(crate) struct Pending {
    /// None if there were no files.
    pub(crate) old: Option<CommitId>,
    pub(crate) new: CommitId,
}

impl Worktree {
    fn note(&self) -> (PathBuf, String) {
        let key = Sha256::digest(self.path().as_os_str().as_bytes());
        let folder = self.repository.git().settings().scratch.join("checkouts");
        (folder, data_encoding::HEXLOWER.encode(&key))
    }

    /// Notes that the files are about to become those of another commit.
    pub(crate) fn note_pending(
        &self,
        old: Option<&CommitId>,
        new: &CommitId,
    ) -> Result<(), GitError> {
        let (folder, name) = self.note();
        let text = format!("{} {new}\n", old.map_or("-", CommitId::as_str));
        make_private(&folder)
            .and_then(|()| Folder::open(&folder)?.replace(&name, text.as_bytes()))
            .tried(|| "note what is begun".to_owned())
    }

    /// What was begun.
    pub(crate) fn pending(&self) -> Result<Option<Pending>, GitError> {
        let (folder, name) = self.note();
        let text = match Folder::open(&folder).and_then(|folder| folder.read(&name, 1024)) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).tried(|| "read what was begun".to_owned()),
        };
        let text = String::from_utf8_lossy(&text);
        let mut words = text.split_whitespace();
        let (old, new) = (words.next(), words.next());
        let commit = |word: &str| CommitId::new(word).ok();
        Ok(new.and_then(commit).map(|new| Pending {
            old: old.and_then(commit),
            new,
        }))
    }

    /// Forgets what was begun.
    pub(crate) fn forget_pending(&self) -> Result<(), GitError> {
        let (folder, name) = self.note();
        match Folder::open(&folder).and_then(|folder| folder.remove_file(OsStr::new(&name))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).tried(|| "forget what was begun".to_owned())
            }
            _ => Ok(()),
        }
    }
}
