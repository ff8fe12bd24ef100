//! The settings that a worktree has for itself, in a repository that keeps some for each
//! (`extensions.worktreeConfig`).
//!
//! Git takes `core.bare` and `core.worktree` of the shared settings for those of every worktree
//! then, so that a worktree of a bare repository would have no files.

use std::path::Path;

use crate::error::Tried as _;
use crate::program::{Command, make_private};
use crate::{GitError, Repository};

/// Where they lie, in the folder that git keeps about a worktree.
pub(crate) const FILE: &str = "config.worktree";
const MAX_SETTINGS: usize = 1024 * 1024;

/// What says where the files of the first worktree are, and which of them. A worktree of a ticket
/// has all files.
const OF_FIRST: [&str; 5] = [
    "core.bare",
    "core.worktree",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
];

impl Repository {
    /// The settings of a new worktree: those of the first one but for what is about its files.
    /// None if the repository keeps none for each worktree, or there are none.
    pub(crate) async fn settings_of_worktree(
        &self,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, GitError> {
        if !self.has_settings_of_worktrees() {
            return Ok(None);
        }
        let making = || format!("make the settings of {}", path.display());
        let first = self.folder().read(FILE, MAX_SETTINGS).tried(making)?;
        let scratch = &self.git().settings().scratch;
        make_private(scratch).tried(making)?;
        let folder = tempfile::tempdir_in(scratch).tried(making)?;
        let file = folder.path().join(FILE);
        std::fs::write(&file, first.unwrap_or_default()).tried(making)?;
        let set = async |arguments: &[&str], may_fail_with: Option<i32>| {
            let command = Command::new(self.git(), "config", scratch);
            let command = command.arg("--file").arg(&file).args(arguments);
            let done = command.run().await?;
            match done.code {
                Some(0) => Ok(()),
                code if code == may_fail_with => Ok(()),
                _ => Err(GitError::Unsupported {
                    what: format!("its settings cannot be read: {}", done.failed("config")),
                }),
            }
        };
        // There was no such setting.
        const NOT_FOUND: i32 = 5;
        for key in OF_FIRST {
            set(&["--unset-all", key], Some(NOT_FOUND)).await?;
        }
        if self.is_bare_for_all() {
            set(&["core.bare", "false"], None).await?;
        }
        if self.names_files_for_all() {
            set(&["core.worktree", &path.to_string_lossy()], None).await?;
        }
        let text = std::fs::read(&file).tried(making)?;
        Ok(Some(text).filter(|text| !text.trim_ascii().is_empty()))
    }
}
