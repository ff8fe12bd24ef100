//! What the program of a run would find, seen from where it would be executed.

use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, eaccess};
use serde::{Deserialize, Serialize};

use crate::launch::LaunchError;

/// What the program of a run would find: as its user, in its containment and with
/// its environment. Nothing was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// The file that its name stands for.
    pub program: Result<PathBuf, LaunchError>,
    /// Whether it can write to its working directory.
    pub directory: Result<bool, LaunchError>,
    /// For each file that was asked for, whether it can read it and there is
    /// something in it.
    pub files: Vec<bool>,
}

/// Whether this process can read a file that is not empty. It is not opened: a pipe
/// would hold it up.
pub(crate) fn has_content(file: &Path) -> bool {
    let metadata = file.metadata();
    metadata.is_ok_and(|found| found.is_file() && found.len() > 0)
        && eaccess(file, AccessFlags::R_OK).is_ok()
}

/// Whether this process can make files in a folder.
pub(crate) fn can_write(folder: &Path) -> bool {
    eaccess(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}
