//! The steps of an approved pull request, worktree by worktree.

use serde_json::{Value, json};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{CarryOutError, StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_git::{CommitId, PushOutcome, Rejection, Worktree};

use super::forge;
use super::work::{self, Credit};
use crate::tickets::fault::{failure, of_git};
use crate::tickets::leases::attempt::{Attempt, Done};
use crate::tickets::repository::PATIENCE;
use crate::tickets::repository::remotes::{pushed_to, without_remote};
use crate::tickets::repository::worktree;

/// Commits, merges the base branch, pushes, and opens the pull request.
pub(in crate::tickets) async fn deliver(
    attempt: &Attempt,
    record: &ExecutionWorkspace,
    workspace: &Workspace,
) -> Result<(), CarryOutError> {
    let state = &attempt.state;
    let settings = &state.config.tickets;
    let issue = &attempt.order.issue;
    let id = record.id;
    let credit = credit(attempt, record).await?;
    let step = ExecutionStep::Commit;
    let opened = worktree::open_or_make_again(state, record, workspace, step).await;
    let (_, opened) = opened.map_err(|failure| CarryOutError::Step(Box::new(failure)))?;
    let lock = opened.repository().lock(PATIENCE).await;
    let _lock =
        lock.map_err(|error| CarryOutError::Step(Box::new(of_git(ExecutionStep::Commit, &error))))?;
    let of_worktree = |failure: StepFailure| with_worktree(failure, record);
    attempt
        .step(id, ExecutionStep::Commit, async {
            let done = work::commit(settings, &opened, issue, &credit).await;
            done.map_err(of_worktree)
        })
        .await?;
    let head = attempt
        .step(id, ExecutionStep::Sync, async {
            let done = work::sync(state, record, &opened, issue, &credit).await;
            done.map_err(of_worktree)
        })
        .await?;
    let is_pushed = attempt
        .step(
            id,
            ExecutionStep::Push,
            push(attempt, record, &opened, &head),
        )
        .await?;
    let work = forge::pull_request(attempt, record, &opened, is_pushed.then_some(&head));
    attempt.step(id, ExecutionStep::PullRequest, work).await
}

/// Says which worktree has to be mended.
fn with_worktree(mut failure: StepFailure, record: &ExecutionWorkspace) -> StepFailure {
    let id = json!(record.id);
    failure
        .details
        .insert("executionWorkspaceId".to_owned(), id);
    failure
}

/// Whose work is committed.
async fn credit(attempt: &Attempt, record: &ExecutionWorkspace) -> Result<Credit, CarryOutError> {
    let order = &attempt.order;
    let credit = super::advance::credit(&attempt.state, &order.issue, record.id).await?;
    Ok(Credit {
        approval: Some(order.approval.id),
        ..credit
    })
}

/// Pushes the commit that was looked at to the branch of the ticket; false without a
/// remote.
async fn push(
    attempt: &Attempt,
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    head: &CommitId,
) -> Result<Done<bool>, StepFailure> {
    let step = ExecutionStep::Push;
    let Some(remote) = pushed_to(&attempt.state, record, step).await? else {
        if attempt.order.remote_required {
            return Err(without_remote(step));
        }
        let result = json!({ "pushed": false, "reason": "the repository has no remote" });
        return Ok(Done::new(false, result));
    };
    let outcome = worktree.push(&remote, head).await;
    let outcome = outcome.map_err(|error| of_git(step, &error))?;
    let facts = |reason: Value| json!({ "branch": record.branch, "reason": reason });
    match outcome {
        PushOutcome::Pushed | PushOutcome::UpToDate => {}
        PushOutcome::Rejected(Rejection::NonFastForward) => {
            let message = "somebody pushed to the branch meanwhile; approve again to merge it";
            let fault = StepFault::GitPushRejected;
            return Err(failure(
                step,
                fault,
                message,
                facts(json!("non_fast_forward")),
            ));
        }
        PushOutcome::Rejected(Rejection::Other(reason)) => {
            let message = format!("the remote refuses the branch: {reason}");
            let fault = StepFault::GitPushRejected;
            return Err(failure(step, fault, message, facts(json!(reason))));
        }
    }
    let pushed = head.as_str().to_owned();
    let result = json!({ "pushed": true, "commit": pushed, "branch": record.branch });
    Ok(Done {
        value: true,
        result,
        note: Box::new(move |worktree| worktree.pushed_commit = Some(pushed.clone())),
    })
}
