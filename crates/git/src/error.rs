//! What can go wrong, for callers to branch on.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::operation::Operation;

/// Why something was not done. No message holds a credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no `git` program.
    #[error("the program `git` was not found")]
    Missing,
    /// The `git` program is older than [`crate::OLDEST_VERSION`].
    #[error("git {found} is too old")]
    TooOld {
        /// What it says its version is.
        found: String,
    },
    /// The folder is not in a repository.
    #[error("{} is not in a git repository", path.display())]
    NotARepository {
        /// The folder.
        path: PathBuf,
    },
    /// The repository uses something that is not supported.
    #[error("the repository is not supported: {what}")]
    Unsupported {
        /// What it uses.
        what: String,
    },
    /// A folder or file of the repository is not what git would have made of
    /// it, such as a symbolic link in its place.
    #[error("{what} is not as git leaves it")]
    Tampered {
        /// Which file, and what is wrong.
        what: String,
    },
    /// A path does not lie below the managed root.
    #[error("{} is not a path below the managed root", path.display())]
    OutsideRoot {
        /// The path.
        path: PathBuf,
    },
    /// The branch is checked out in another folder.
    #[error("the branch is checked out at {}", path.display())]
    BranchInUse {
        /// The folder.
        path: PathBuf,
    },
    /// There is no such branch.
    #[error("there is no branch {branch}")]
    NoBranch {
        /// Its name.
        branch: String,
    },
    /// The repository does not have the commit.
    #[error("there is no commit {commit}")]
    NoCommit {
        /// Its id.
        commit: String,
    },
    /// The worktree is on another branch than its own, or on none.
    #[error("the worktree is on {}", found.as_deref().unwrap_or("no branch"))]
    OffBranch {
        /// The other branch; none if the head is detached.
        found: Option<String>,
    },
    /// An operation was begun in the worktree and is not ended.
    #[error("{operation} is in progress")]
    OperationInProgress {
        /// Which.
        operation: Operation,
    },
    /// The worktree has changes that are not committed.
    #[error("{total} changed paths are not committed")]
    Uncommitted {
        /// The first of them.
        paths: Vec<String>,
        /// How many there are.
        total: usize,
    },
    /// The head of the worktree is not part of what was pushed.
    #[error("the branch has commits that were not pushed")]
    Unpushed,
    /// Ignored files lie where a merge would write.
    #[error("{} files lie where the merge writes", paths.len())]
    InTheWay {
        /// Which.
        paths: Vec<String>,
    },
    /// The branch moved while the command ran. Try again.
    #[error("{branch} moved meanwhile")]
    Moved {
        /// The ref.
        branch: String,
    },
    /// A ref was taken or another name stands in its way.
    #[error("{branch} cannot be written: {reason}")]
    RefConflict {
        /// The ref.
        branch: String,
        /// What stands in the way.
        reason: String,
    },
    /// The file system of the repository takes nothing, or nothing from this user.
    #[error("the repository cannot be written: {what}")]
    NotWritable {
        /// Which part of it.
        what: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A branch that is to be made cannot stand beside another one: the name of one
    /// would be a folder for the other.
    #[error("the branch {branch} cannot stand beside {other}, which the repository has")]
    NameInTheWay {
        /// The name of the branch that is to be made.
        branch: String,
        /// The name of the other one.
        other: String,
    },
    /// Somebody else works on the repository.
    #[error("the repository is busy")]
    Busy,
    /// The remote wants another credential, or one at all.
    #[error("the remote refused the credential: {reason}")]
    Unauthorized {
        /// What it said.
        reason: String,
    },
    /// The remote cannot be reached, or is no repository.
    #[error("the remote cannot be reached: {reason}")]
    Unreachable {
        /// What was tried.
        reason: String,
    },
    /// A command took longer than its limit, and was ended with all that it
    /// started.
    #[error("git {command} took too long")]
    Timeout {
        /// The command.
        command: &'static str,
    },
    /// A remote did not answer to the end within the limit of a command.
    #[error("the remote did not answer in time: git {command} took longer than {} s", limit.as_secs())]
    RemoteTimeout {
        /// The command.
        command: &'static str,
        /// How long it had.
        limit: Duration,
    },
    /// A command printed more than is read.
    #[error("git {command} printed too much")]
    TooMuchOutput {
        /// The command.
        command: &'static str,
    },
    /// A command failed for another reason.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The command.
        command: &'static str,
        /// What it printed.
        message: String,
    },
    /// A command failed in a repository that names objects of another one, which are
    /// never read: some that are needed may be there alone.
    #[error("git {command} failed: {message}; {} names objects of another repository, which are not read: remove it, after `git repack -a -d` where they are needed", file.display())]
    Borrowing {
        /// The command.
        command: &'static str,
        /// What it printed.
        message: String,
        /// The file that names them.
        file: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl GitError {
    /// A command failed in a repository that may name objects which it did not see.
    pub(crate) fn failed(
        command: &'static str,
        message: String,
        alternates: Option<PathBuf>,
    ) -> Self {
        match alternates {
            Some(file) => Self::Borrowing {
                command,
                message,
                file,
            },
            None => Self::Failed { command, message },
        }
    }

    /// A part of a repository could not be written.
    pub(crate) fn writing(what: impl Into<String>, source: io::Error) -> Self {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::NotWritable { what, source }
            }
            _ => Self::Io {
                what: format!("failed to write {what}"),
                source,
            },
        }
    }

    pub(crate) fn tampered(what: impl Into<String>) -> Self {
        Self::Tampered { what: what.into() }
    }
}

/// Says what was tried when a call of the system failed.
pub(crate) trait Tried<T> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, GitError>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, GitError> {
        self.map_err(|error| GitError::Io {
            what: format!("failed to {}", what()),
            source: error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn a_repository_that_takes_nothing_is_told_from_other_failures() {
        for errno in [Errno::EROFS, Errno::EACCES, Errno::EPERM] {
            let error = GitError::writing("refs/heads/a", errno.into());
            assert!(matches!(error, GitError::NotWritable { .. }), "{error}");
            let told = error.to_string();
            assert_eq!(told, "the repository cannot be written: refs/heads/a");
        }
        let full = GitError::writing("refs/heads/a", Errno::ENOSPC.into());
        assert!(matches!(full, GitError::Io { .. }), "{full}");
    }
}
