//! What becomes of a failure of git.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_git::{GitError, Refusal};

/// A step that failed, with facts.
pub(super) fn failure(
    step: ExecutionStep,
    fault: StepFault,
    message: impl Into<String>,
    details: Value,
) -> StepFailure {
    StepFailure {
        step,
        fault,
        message: message.into(),
        details: document(details),
    }
}

/// The failure of a step that git caused.
pub(super) fn of_git(step: ExecutionStep, error: &GitError) -> StepFailure {
    let fault = match error {
        GitError::NotARepository { .. }
        | GitError::Unsupported { .. }
        | GitError::NotWritable { .. }
        | GitError::Borrowing { .. } => StepFault::WorkspaceUnavailable,
        GitError::Tampered { .. } | GitError::OutsideRoot { .. } | GitError::NoBranch { .. } => {
            StepFault::WorkspaceMissing
        }
        GitError::BranchInUse { .. }
        | GitError::RefConflict { .. }
        | GitError::NameInTheWay { .. } => StepFault::BranchInUse,
        GitError::OffBranch { .. }
        | GitError::OperationInProgress { .. }
        | GitError::Uncommitted { .. }
        | GitError::Unpushed
        | GitError::InTheWay { .. }
        | GitError::Moved { .. } => StepFault::GitCommitFailed,
        GitError::Busy => StepFault::WorkspaceBusy,
        GitError::Unauthorized { .. }
        | GitError::Unreachable { .. }
        | GitError::RemoteTimeout { .. } => StepFault::GitRemoteFailed,
        _ => StepFault::GitFailed,
    };
    let details = match error {
        GitError::BranchInUse { path } => json!({ "path": path }),
        GitError::Borrowing { file, .. } => json!({ "path": file, REASON: Broken::Borrowing }),
        GitError::Unsupported { .. } => json!({ REASON: Broken::Unsupported }),
        // The folder itself may be gone, or elsewhere by now: then nobody broke it.
        GitError::NotARepository { path } if path.is_dir() => {
            json!({ "path": path, REASON: Broken::NotARepository })
        }
        GitError::RefConflict { branch, .. } | GitError::NameInTheWay { other: branch, .. } => {
            json!({ "branch": branch })
        }
        GitError::OffBranch { found } => json!({ "found": found }),
        GitError::InTheWay { paths } | GitError::Uncommitted { paths, .. } => {
            json!({ "paths": paths })
        }
        _ => json!({}),
    };
    failure(step, fault, with_causes(error), details)
}

/// The key of `details` that tells what is wrong with a repository.
const REASON: &str = "reason";

/// What is wrong with a repository that is there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Broken {
    Borrowing,
    NotARepository,
    Unsupported,
}

/// Whether a worktree, or the repository that it belongs to, is not as git leaves it. It
/// may pass by itself; otherwise it is for whoever works there, who can write to both.
/// A workspace that leads nowhere, and a disk that takes nothing, are for the board.
pub(super) fn is_of_files(failure: &StepFailure) -> bool {
    match failure.fault {
        StepFault::WorkspaceMissing | StepFault::GitFailed | StepFault::BranchInUse => true,
        StepFault::WorkspaceUnavailable => {
            let reason = failure.details.get(REASON);
            reason.is_some_and(|it| Broken::deserialize(it).is_ok())
        }
        _ => false,
    }
}

/// The message of an error and of what caused it.
fn with_causes(error: &GitError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Files that must not be committed.
pub(super) fn unsafe_files(step: ExecutionStep, files: &[Refusal]) -> StepFailure {
    let named: Vec<Value> = files
        .iter()
        .map(|file| {
            let mut named = json!({ "path": file.path, "reason": file.reason.to_string() });
            if let Some(filter) = file.reason.filter() {
                named["filter"] = json!(filter);
            }
            named
        })
        .collect();
    let first = files.first().map_or_else(String::new, |file| {
        format!(": {} ({})", file.path, file.reason)
    });
    let message = format!("{} files must not be committed{first}", files.len());
    failure(
        step,
        StepFault::UnsafeFiles,
        message,
        json!({ "files": named }),
    )
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_stands_against_a_repository_is_told_as_such() {
        let (what, source) = ("refs/heads/a".to_owned(), io::ErrorKind::ReadOnlyFilesystem);
        let locked = GitError::NotWritable {
            what,
            source: source.into(),
        };
        let told = of_git(ExecutionStep::Source, &locked);
        assert_eq!(told.fault, StepFault::WorkspaceUnavailable);
        let expected = "the repository cannot be written: refs/heads/a: read-only filesystem";
        assert!(told.message.starts_with(expected), "{}", told.message);

        assert!(!is_of_files(&told), "the board alone can mend it");

        let borrowing = GitError::Borrowing {
            command: "fetch",
            message: "bad object".to_owned(),
            file: "objects/info/alternates".into(),
        };
        assert!(is_of_files(&of_git(ExecutionStep::Source, &borrowing)));
        for (path, is_there) in [("/no/such/folder", false), ("/", true)] {
            let path = path.into();
            let told = of_git(ExecutionStep::Source, &GitError::NotARepository { path });
            assert_eq!(told.fault, StepFault::WorkspaceUnavailable);
            assert_eq!(is_of_files(&told), is_there, "{}", told.message);
        }

        let silent = GitError::RemoteTimeout {
            command: "fetch",
            limit: Duration::from_secs(120),
        };
        let told = of_git(ExecutionStep::Sync, &silent);
        assert_eq!(told.fault, StepFault::GitRemoteFailed);
        assert!(!is_of_files(&told));

        let taken = GitError::NameInTheWay {
            branch: "feature/DF/sub".to_owned(),
            other: "feature/DF".to_owned(),
        };
        let told = of_git(ExecutionStep::Source, &taken);
        assert_eq!(told.fault, StepFault::BranchInUse);
        assert_eq!(told.details["branch"], "feature/DF");
        assert!(
            told.message.contains("feature/DF, which"),
            "{}",
            told.message
        );
    }
}
