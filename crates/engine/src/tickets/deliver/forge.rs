//! The pull request of a ticket at its forge.

use std::fmt::Write as _;

use serde_json::{Value, json};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{ExecutionWorkspace, PullRequest, PullRequestState};
use workforce_domain::port::{StepFailure, StepFault};
use workforce_forges::{self as forges, ForgeError, NewPullRequest, RepositoryAddress};
use workforce_git::{CommitId, DiffTo, GitError, Worktree};

use super::work::Synced;
use crate::tickets::fault::{failure, of_git};
use crate::tickets::leases::attempt::{Attempt, Done};
use crate::tickets::repository::source::branch;
use crate::tickets::repository::token::forge_of;

/// So many changed paths are named.
const NAMED: usize = 100;

/// Finds the pull request of a ticket, or opens it; nothing where the branch was not
/// pushed, or the repository is at no forge.
pub(super) async fn pull_request(
    attempt: &Attempt,
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    pushed: Option<&CommitId>,
) -> Result<Done<()>, StepFailure> {
    let Some(head) = pushed else {
        return Ok(none("the repository has no remote"));
    };
    let address = record.repository_url.as_deref();
    let Some(repository) = address.and_then(RepositoryAddress::parse) else {
        return Ok(none("the repository is at no forge"));
    };
    let step = ExecutionStep::PullRequest;
    let asked = forge_of(&attempt.state, record.scope(), &repository, step).await?;
    let Some(forge) = asked else {
        return Ok(none("the forge of the repository is not configured"));
    };
    let named = repository.full_name();
    let new = NewPullRequest {
        repository,
        head: record.branch.clone(),
        head_sha: Some(head.as_str().to_owned()),
        base: record.base_branch.clone(),
        title: title(attempt),
        body: body(attempt, record, worktree).await,
        draft: false,
    };
    let asked = tokio::task::spawn_blocking(move || forge.find_or_create(&new)).await;
    let made = asked
        .map_err(|error| {
            let (step, fault) = (ExecutionStep::PullRequest, StepFault::PrCreateFailed);
            failure(
                step,
                fault,
                format!("the forge was not asked: {error}"),
                json!({}),
            )
        })?
        .map_err(|error| refused(&error))?;
    let made = PullRequest {
        number: i64::try_from(made.number).unwrap_or(i64::MAX),
        url: made.url,
        state: state_of(made.state),
    };
    let mut result = json!({ "url": made.url, "number": made.number, "state": made.state });
    // The page of a pull request lies below that of its repository.
    let place = format!("/{}/", named.to_ascii_lowercase());
    if !made.url.to_ascii_lowercase().contains(&place) {
        result["movedTo"] = json!(made.url);
    }
    Ok(Done {
        value: (),
        result,
        note: Box::new(move |worktree| worktree.pull_request = Some(made.clone())),
    })
}

fn none(reason: &str) -> Done<()> {
    Done::new((), json!({ "url": null, "reason": reason }))
}

fn refused(error: &ForgeError) -> StepFailure {
    let facts = json!({ "reason": error.code(), "retriable": error.is_retriable() });
    let (step, fault) = (ExecutionStep::PullRequest, StepFault::PrCreateFailed);
    failure(step, fault, error.to_string(), facts)
}

pub(in crate::tickets) const fn state_of(state: forges::PullRequestState) -> PullRequestState {
    match state {
        forges::PullRequestState::Open => PullRequestState::Open,
        forges::PullRequestState::Merged => PullRequestState::Merged,
        forges::PullRequestState::Closed => PullRequestState::Closed,
    }
}

/// A text of the payload that an agent or the board wrote.
fn said<'a>(attempt: &'a Attempt, key: &str) -> Option<&'a str> {
    let text = attempt.order.approval.payload.get(key)?.as_str()?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn title(attempt: &Attempt) -> String {
    let issue = &attempt.order.issue;
    let named = said(attempt, "title").map(ToOwned::to_owned);
    let title = named.unwrap_or_else(|| format!("{}: {}", issue.identifier, &*issue.title));
    // A title is one line.
    title.replace(|c: char| c.is_control(), " ")
}

async fn body(attempt: &Attempt, record: &ExecutionWorkspace, worktree: &Worktree) -> String {
    let issue = &attempt.order.issue;
    let mut text = String::new();
    let summary = said(attempt, "summary").or_else(|| said(attempt, "description"));
    let summary = summary.or(issue.description.as_deref()).unwrap_or_default();
    // A String takes everything.
    let _ = write!(text, "## Summary\n\n{}\n\n", summary.trim());
    let _ = write!(
        text,
        "## Ticket\n\n- {} ({})\n- Base: `{}`\n\n",
        record.ticket_key, issue.identifier, record.base_branch
    );
    let paths = changed(record, worktree).await;
    if !paths.is_empty() {
        let _ = write!(text, "## Changed files\n\n");
        for path in paths.iter().take(NAMED) {
            let _ = writeln!(text, "- `{}`", path.replace('`', "'"));
        }
        if let Some(more) = paths.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let _ = writeln!(text, "- and {more} more");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "Workforce-Approval: {}", attempt.order.approval.id);
    text
}

/// What the branch changes of its base; empty where that cannot be told.
async fn changed(record: &ExecutionWorkspace, worktree: &Worktree) -> Vec<String> {
    let Ok(base) = branch(&record.base_branch) else {
        return Vec::new();
    };
    let known = record.base_commit.as_deref().map(CommitId::new);
    let base = match worktree.repository().branch_head(&base) {
        Ok(Some(base)) => base,
        _ => match known {
            Some(Ok(base)) => base,
            _ => return Vec::new(),
        },
    };
    match worktree.diff(&base, DiffTo::Head, 0).await {
        Ok(diff) => diff.files.into_iter().map(|file| file.path).collect(),
        Err(error) => {
            tracing::warn!(%error, "the changed files of a pull request are not named");
            Vec::new()
        }
    }
}

/// What the board is shown of the work in a worktree before it decides, up to a commit that
/// has all of its base branch; and whether there is any.
///
/// # Errors
/// Nobody can tell: that is no sign of work that changes nothing. The branch has moved on
/// from `synced`.
pub(super) async fn summary(
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    synced: &Synced,
    step: ExecutionStep,
) -> Result<(bool, Value), StepFailure> {
    let of_git = |error| of_git(step, &error);
    let Synced { head, base, .. } = synced;
    let differs = worktree.differs(base).await.map_err(of_git)?;
    let ahead = worktree.ahead_behind(base).await.map_err(of_git)?.ahead;
    let files = match worktree.diff(base, DiffTo::Head, 0).await {
        Ok(diff) => Some(diff.files),
        Err(error) => {
            tracing::warn!(%error, "the changed files of a ticket are not named");
            None
        }
    };
    let named = files.iter().flatten().take(NAMED).map(|file| {
        json!({
            "path": file.path,
            "additions": file.additions,
            "deletions": file.deletions,
        })
    });
    let named: Vec<Value> = named.collect();
    if worktree.head().map_err(of_git)? != *head {
        let branch = record.branch.clone();
        return Err(of_git(GitError::Moved { branch }));
    }
    let told = json!({
        "executionWorkspaceId": record.id,
        "commit": head.as_str(),
        "branch": record.branch,
        "baseBranch": record.base_branch,
        "commits": ahead,
        "changedFiles": named,
        "totalFiles": files.map(|files| files.len()),
    });
    Ok((ahead > 0 && differs, told))
}
