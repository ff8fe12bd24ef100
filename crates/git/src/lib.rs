//! Runs git for governed tickets: a ticket gets a linked worktree of a source
//! repository, in which an agent works; the server commits, merges the base and
//! pushes.
//!
//! The agent can write anything into its worktree and into the folder that the
//! source repository keeps its objects, refs and settings in. None of it makes the
//! server run a program, write outside of the worktree, or reach another branch,
//! repository or remote:
//!
//! - Git runs in a view of the server's own, so that it reads no setting,
//!   hook or attribute of the repository, and writes its objects there.
//! - Whatever is written into the repository is written here, from open folders, in
//!   which no link is followed: objects, refs, and what is kept about worktrees.
//!
//! Whoever changes a repository or a worktree holds [`Repository::lock`]. A call
//! that was interrupted, by the end of the server or by dropping its future, is made
//! again.

mod commit;
mod config;
mod contents;
mod diff;
mod discovery;
mod environment;
mod error;
mod folder;
mod history;
mod inspection;
mod lock;
mod merge_tree;
mod merged;
mod mirror;
mod network;
mod objects;
mod operation;
mod process;
mod program;
mod refs;
mod remote;
mod repository;
mod source;
mod upload;
mod values;
mod view;
mod worktree;

pub use commit::{CommitMessage, CommitOutcome, MergeOutcome};
pub use contents::refusal::{MAX_CHANGED, MAX_FILE, Reason, Refusal};
pub use contents::scan::Status;
pub use diff::{Change, Changes, Diff, DiffTo, FileDiff};
pub use error::GitError;
pub use history::{AheadBehind, LogEntry};
pub use lock::RepositoryLock;
pub use network::{PushOutcome, Rejection};
pub use operation::Operation;
pub use program::{Git, OLDEST_VERSION, Settings};
pub use remote::{AddressFault, Credential, Remote};
pub use repository::Repository;
pub use source::{ConfiguredRemote, SourceState};
pub use values::{Branch, CommitId, Identity, NotACommitId, NotAnIdentity};
pub use worktree::{Disorder, Finding, Worktree};
