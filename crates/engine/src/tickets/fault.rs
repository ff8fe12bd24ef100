//! What becomes of a failure of git.

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
        GitError::Unauthorized { .. } | GitError::Unreachable { .. } => StepFault::GitRemoteFailed,
        _ => StepFault::GitFailed,
    };
    let details = match error {
        GitError::BranchInUse { path } | GitError::Borrowing { file: path, .. } => {
            json!({ "path": path })
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
        .map(|file| json!({ "path": file.path, "reason": file.reason.to_string() }))
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
