//! The steps of an approved pull request, worktree by worktree.

use serde_json::{Value, json};
use workforce_app::approvals::{show_again, shown_commit};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{AgreedWork, CarryOutError, StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_git::{CommitId, PushOutcome, Rejection, RepositoryLock, Worktree};

use super::forge;
use super::work::{self, Credit, Synced};
use crate::tickets::fault::{failure, of_git};
use crate::tickets::leases::attempt::{Attempt, Done};
use crate::tickets::repository::PATIENCE;
use crate::tickets::repository::remotes::{pushed_to, without_remote};
use crate::tickets::repository::worktree;

/// A worktree whose work is committed and has its base branch.
struct Ready<'a> {
    record: &'a ExecutionWorkspace,
    opened: Worktree,
    head: CommitId,
}

/// Commits and merges the base branch in each worktree, then pushes from each and opens its
/// pull request.
///
/// # Errors
/// [`StepFault::WorkChanged`] where the board agreed to what it was shown, and that is not all of
/// it: nothing is pushed then, and the approval shows it.
pub(in crate::tickets) async fn deliver(attempt: &Attempt) -> Result<(), CarryOutError> {
    let mut ready = Vec::new();
    let mut unseen = Vec::new();
    for (record, workspace) in &attempt.order.worktrees {
        let (one, row) = prepare(attempt, record, workspace).await?;
        ready.push(one);
        unseen.extend(row);
    }
    if !unseen.is_empty() {
        show(attempt, &unseen).await?;
        if attempt.agreed == AgreedWork::Shown {
            return Err(of_step(work_changed(&unseen)));
        }
    }
    for one in &ready {
        let _lock = lock(&one.opened, ExecutionStep::Push).await?;
        let (record, id) = (one.record, one.record.id);
        let work = push(attempt, record, &one.opened, &one.head);
        let is_pushed = attempt.step(id, ExecutionStep::Push, work).await?;
        let pushed = is_pushed.then_some(&one.head);
        let work = forge::pull_request(attempt, record, &one.opened, pushed);
        attempt.step(id, ExecutionStep::PullRequest, work).await?;
    }
    Ok(())
}

/// Commits and merges the base branch, and tells what the board was not shown of the result.
async fn prepare<'a>(
    attempt: &Attempt,
    record: &'a ExecutionWorkspace,
    workspace: &Workspace,
) -> Result<(Ready<'a>, Option<Value>), CarryOutError> {
    let state = &attempt.state;
    let settings = &state.config.tickets;
    let issue = &attempt.order.issue;
    let id = record.id;
    let credit = credit(attempt, record).await?;
    let step = ExecutionStep::Commit;
    let opened = worktree::open_or_make_again(state, record, workspace, step).await;
    let (_, opened) = opened.map_err(of_step)?;
    let _lock = lock(&opened, step).await?;
    let of_worktree = |failure: StepFailure| with_worktree(failure, record);
    attempt
        .step(id, step, async {
            let done = work::commit(settings, &opened, issue, &credit).await;
            done.map_err(of_worktree)
        })
        .await?;
    let synced = attempt
        .step(id, ExecutionStep::Sync, async {
            let done = work::sync(state, record, &opened, issue, &credit).await;
            done.map_err(of_worktree)
        })
        .await?;
    let unseen = unseen(attempt, record, &opened, &synced).await;
    let unseen = unseen.map_err(of_step)?;
    let head = synced.head;
    let ready = Ready {
        record,
        opened,
        head,
    };
    Ok((ready, unseen))
}

fn of_step(failure: StepFailure) -> CarryOutError {
    CarryOutError::Step(Box::new(failure))
}

async fn lock(worktree: &Worktree, step: ExecutionStep) -> Result<RepositoryLock, CarryOutError> {
    let lock = worktree.repository().lock(PATIENCE).await;
    lock.map_err(|error| of_step(of_git(step, &error)))
}

/// What the board is to be shown of a worktree before anything is pushed from it; nothing where
/// it has seen all that would be, but for what is merged.
async fn unseen(
    attempt: &Attempt,
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    synced: &Synced,
) -> Result<Option<Value>, StepFailure> {
    let step = ExecutionStep::Push;
    let shown = shown_commit(&attempt.order.approval, record.id);
    if let Some(shown) = shown.and_then(|it| CommitId::new(it).ok()) {
        let theirs = synced.theirs.iter();
        let merged: Vec<CommitId> = theirs.chain([&synced.base]).cloned().collect();
        let repository = worktree.repository();
        let is_seen = repository.adds_merges_only(&shown, &synced.head, &merged);
        if is_seen.await.map_err(|error| of_git(step, &error))? {
            return Ok(None);
        }
    }
    let (_, row) = forge::summary(record, worktree, synced, step).await?;
    Ok(Some(row))
}

/// Shows the board what it has not seen.
async fn show(attempt: &Attempt, rows: &[Value]) -> Result<(), CarryOutError> {
    let (company, id) = (attempt.order.approval.scope(), attempt.order.approval.id);
    let (number, rows) = (attempt.order.execution.attempts, rows.to_vec());
    let is_shown = attempt
        .state
        .store
        .write(move |tx, ctx| Ok(show_again(tx, ctx, company, id, number, &rows)?))
        .await?;
    match is_shown {
        true => Ok(()),
        false => Err(CarryOutError::Overtaken),
    }
}

fn work_changed(rows: &[Value]) -> StepFailure {
    let named: Vec<Value> = rows.iter().map(facts_of).collect();
    let message = "the work is not what the board was shown; the approval shows it now";
    let facts = json!({ "worktrees": named });
    failure(ExecutionStep::Push, StepFault::WorkChanged, message, facts)
}

/// What a failure tells of a row.
fn facts_of(row: &Value) -> Value {
    json!({
        "executionWorkspaceId": row["executionWorkspaceId"],
        "branch": row["branch"],
        "commit": row["commit"],
    })
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
