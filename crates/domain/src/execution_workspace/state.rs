//! What lies in a worktree, for people and reviewers who cannot enter it.

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

use crate::string_enum;

string_enum! {
    /// What happened to a file.
    pub enum FileStatus {
        /// It is new.
        Added = "added",
        /// Its content changed.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
        /// It has another name.
        Renamed = "renamed",
    }
}

/// A file that is not committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its path in the repository.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
}

/// A file that workforce does not commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefusedFile {
    /// Its path in the repository.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommitFacts {
    /// Its id, in hexadecimal digits.
    pub commit: String,
    /// The name of its author.
    pub author: String,
    /// When it was written, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub subject: String,
}

/// What lies in a worktree now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorktreeState {
    /// Its folder on the server's machine.
    pub cwd: String,
    /// Commits that its branch has and its base branch has not.
    pub ahead: u64,
    /// Commits that its base branch has and its branch has not, as far as they are
    /// known without asking the remote.
    pub behind: u64,
    /// The last commit of its branch.
    pub last_commit: CommitFacts,
    /// The last commits that its base branch has not, newest first.
    pub commits: Vec<CommitFacts>,
    /// The first files that are not committed, by path.
    pub changed_files: Vec<ChangedFile>,
    /// How many there are.
    pub total_changed_files: usize,
    /// Those that would not be committed, and why.
    pub refused_files: Vec<RefusedFile>,
}

/// A file that differs from the base branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Its path.
    pub path: String,
    /// The path that it had, if it was renamed.
    pub old_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// Lines that are new; `None` if it is no text.
    pub additions: Option<u64>,
    /// Lines that are gone; `None` if it is no text.
    pub deletions: Option<u64>,
}

/// What a worktree changes of its base branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorktreeDiff {
    /// The commit with which it is compared: where the branches parted.
    pub merge_base: Option<String>,
    /// The last commit of its branch.
    pub head_commit: String,
    /// Whether files that are not committed are compared too.
    pub includes_uncommitted: bool,
    /// All files that differ.
    pub files: Vec<FileDiff>,
    /// The differences as a unified diff.
    pub patch: String,
    /// Whether the patch was longer, and was cut.
    pub truncated: bool,
    /// What was left out of it, and why.
    pub refused_files: Vec<RefusedFile>,
}

/// How much of a diff is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffRequest {
    /// The patch has at most so many bytes.
    pub patch_bytes: usize,
    /// Leaves out what is not committed.
    pub committed_only: bool,
}

impl DiffRequest {
    /// The usual size of a patch.
    pub const USUAL_BYTES: usize = 256 * 1024;
    /// A patch is never longer.
    pub const MAX_BYTES: usize = 1024 * 1024;
}
