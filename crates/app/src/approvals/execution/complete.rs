//! The last step of an execution: the approval is decided.

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{
    Approval, ApprovalStatus, Decider, Decision, ExecutionState, ExecutionStep, ExecutionStepRecord,
};
use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StepFailure, StepFault, StoreError, Tx};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::DecisionNote;

use super::super::decide::{Decide, approve_executed, require_board};
use super::super::error::{ApprovalError, not_pending};
use super::super::read;
use super::super::view::ApprovalView;
use super::begin::{needs_execution, require_idle};
use super::lease;
use crate::access::FieldFault;
use crate::activity_log::log_change;
use crate::context::Context;
use crate::tickets::{self, planned};

/// Decides an approval whose steps were all taken, for the member of the board
/// that began its execution: the caller is that member. `None` when the execution is
/// not this attempt's any more.
///
/// # Errors
/// [`ApprovalError`] when the approval was withdrawn meanwhile.
pub fn complete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    attempt: i32,
) -> Result<Option<ApprovalView>, Failure<ApprovalError>> {
    let approval = read::find(tx.reads(), ctx, id)?;
    let execution = tx.approvals().executions(approval.scope(), &[id])?.pop();
    let live = execution.filter(|it| it.is_of(attempt));
    let Some(execution) = live else {
        return Ok(None);
    };
    let command = Decide {
        decision_note: execution
            .note
            .as_deref()
            .and_then(|note| DecisionNote::parse(note).ok()),
        force: execution.forced.then_some(true),
        seen: None,
    };
    approve_executed(tx, ctx, id, attempt, command).map(Some)
}

/// Why an attempt came to nothing that another decision, or another attempt, overtook.
/// Always an error.
///
/// # Errors
/// [`ApprovalError`]: the approval is decided, or others take its steps, or they were
/// given up.
pub fn overtaken(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let approval = read::find(reads, ctx, id)?;
    let decision = Decision {
        by: Decider(require_board(ctx)?),
        note: None,
        at: ctx.now,
    };
    if let Err(refused) = approval.state.approve(decision) {
        return Err(not_pending(id, refused));
    }
    let execution = reads.approvals().executions(approval.scope(), &[id])?.pop();
    let failed = execution.filter(|it| it.state == ExecutionState::Failed);
    let fault = failed
        .as_ref()
        .and_then(|it| StepFault::parse(it.error_code.as_deref()?));
    let (Some(failed), Some(fault)) = (failed, fault) else {
        return Err(Failure::Refused(ApprovalError::ExecutionInProgress {
            approval: id,
        }));
    };
    let failure = StepFailure {
        step: failed.step,
        fault,
        message: failed.error.unwrap_or_default(),
        details: failed.details,
    };
    Err(Failure::Refused(failure.into()))
}

/// An approval whose execution has ended, as its answer shows it.
pub fn executed(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let approval = read::find(reads, ctx, id)?;
    if approval.status() == ApprovalStatus::Approved {
        return Ok(read::view(reads, ctx, approval)?);
    }
    Err(Failure::Refused(ApprovalError::ExecutionInProgress {
        approval: id,
    }))
}

/// How the board comes to a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Way {
    /// It agrees, and that is all.
    Agreement,
    /// It agreed, and all that follows outside of the store was done.
    Executed {
        /// The attempt that did it.
        attempt: i32,
    },
    /// It does not agree.
    Refusal,
}

/// Refuses a decision while a server takes the steps of the approval, and an
/// agreement before it has taken them.
pub(in super::super) fn require_way(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    way: Way,
) -> Result<(), Failure<ApprovalError>> {
    if let Way::Executed { attempt } = way {
        let company = approval.scope();
        let execution = tx.approvals().executions(company, &[approval.id])?.pop();
        return match execution {
            Some(mut execution) if execution.is_of(attempt) => {
                require_done(tx, approval)?;
                lease::end(tx, ctx, approval, &mut execution)?;
                execution.state = ExecutionState::Completed;
                execution.step = ExecutionStep::Complete;
                execution.updated_at = ctx.now;
                let pushed = tickets::pushed_from(tx.reads(), approval)?;
                tickets::tell_pull_requests(&mut approval.payload, &pushed);
                Ok(tx.approvals_mut().save_execution(approval, &execution)?)
            }
            _ => Err(StoreError::Contended.into()),
        };
    }
    require_idle(tx, ctx, approval)?;
    if way != Way::Agreement {
        return Ok(());
    }
    if needs_execution(tx.reads(), approval)? {
        // The payload was replaced after the look at it.
        return Err(StoreError::Contended.into());
    }
    if approval.kind.pushes() {
        let message = "the issue has no worktree to push from: an approved plan makes one";
        return Err(FieldFault::invalid("/payload/issueId", message).into());
    }
    Ok(())
}

/// An approval is never decided in the midst of a step. What was begun for a worktree
/// that a plan named before it was sent again does not count.
fn require_done(tx: &mut dyn Tx, approval: &Locked<Approval>) -> Result<(), StoreError> {
    let worktrees = tickets::worked_on(tx.reads(), approval)?;
    let steps = tx
        .approvals()
        .execution_steps(approval.scope(), &[approval.id])?;
    let counts = |step: &&ExecutionStepRecord| worktrees.iter().any(|it| it.id == step.workspace);
    if steps
        .iter()
        .filter(counts)
        .all(|step| step.done_at.is_some())
    {
        return Ok(());
    }
    Err(StoreError::Constraint {
        constraint: "an approval is carried out when all steps that were begun are done".into(),
    })
}

/// Lets the issues of an approved plan be worked on in its worktrees, and those of
/// their open `parts` that have none yet.
pub(in super::super) fn give_worktrees(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    issues: &mut [Locked<Issue>],
    parts: &mut [Locked<Issue>],
) -> Result<(), Failure<ApprovalError>> {
    if planned(approval).is_empty() {
        return Ok(());
    }
    let company = approval.scope();
    let mut worktrees = tickets::reserved_for(tx.reads(), approval)?;
    if worktrees.len() < planned(approval).len() {
        return Err(gone());
    }
    let Some(first) = worktrees.first().map(|first| first.id) else {
        return Err(gone());
    };
    for issue in issues.iter_mut().filter(|it| !it.status().is_terminal()) {
        issue.execution_workspace = Some(first);
    }
    for part in parts {
        let is_linked = issues.iter().any(|issue| issue.id == part.id);
        let has_one = part.execution_workspace.is_some();
        if is_linked || has_one || part.status().is_terminal() {
            continue;
        }
        part.execution_workspace = Some(first);
        part.updated_at = ctx.now;
        tx.issues_mut().save(part)?;
        let details = json!({ "approvalId": approval.id });
        log_change(tx, ctx, Action::IssueUpdated, part, details);
    }
    worktrees.sort_unstable_by_key(|worktree| worktree.id);
    for worktree in worktrees {
        let locked = tx
            .execution_workspaces_mut()
            .lock(company.into(), worktree.id)?;
        let Some(mut worktree) = locked else {
            return Err(gone());
        };
        worktree.status = ExecutionWorkspaceStatus::Ready;
        worktree.updated_at = ctx.now;
        tx.execution_workspaces_mut().save(&worktree)?;
    }
    Ok(())
}

/// A worktree was deleted with its workspace.
fn gone() -> Failure<ApprovalError> {
    Failure::Refused(ApprovalError::from(StepFailure {
        step: ExecutionStep::Complete,
        fault: StepFault::WorkspaceUnavailable,
        message: "a workspace of the plan was deleted meanwhile".into(),
        details: Document::new(),
    }))
}

/// What the issues of an approval are told when its pull requests are there.
pub(in super::super) fn announcement(approval: &Approval) -> Option<String> {
    tickets::announcement(&approval.payload)
}
