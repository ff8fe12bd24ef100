//! The board approves what needs work outside of the store.

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{
    Approval, ApprovalExecution, ApprovalType, Decider, Decision, ExecutionState, ExecutionStep,
};
use workforce_domain::execution_workspace::{ExecutionWorkspace, ExecutionWorkspaceStatus};
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StepFailure, StepFault, StoreError, Tx};

use super::super::advance::Claim;
use super::super::decide::{DECIDE, Decide, require_board, require_seen};
use super::super::error::{ApprovalError, not_pending};
use super::super::lookup::{lock, seen};
use super::super::{advance, links, read};
use super::lease::give_up_expired;
use crate::activity_log::{document, log_activity};
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::tickets::{self, PlannedWorkspace, planned};

/// What [`begin`], and the steps that it begins, refuse with.
pub const BEGIN: Codes = Codes::with(
    &[
        Code::BaseBranchMissing,
        Code::BranchInUse,
        Code::ExecutionInProgress,
        Code::GitCommitFailed,
        Code::GitFailed,
        Code::GitPushRejected,
        Code::GitRemoteFailed,
        Code::InvalidField,
        Code::PrCreateFailed,
        Code::ServerStopping,
        Code::SourceRepoDirty,
        Code::SyncConflict,
        Code::TicketInUse,
        Code::UnsafeFiles,
        Code::WorkChanged,
        Code::WorkspaceBusy,
        Code::WorkspaceMissing,
        Code::WorkspaceUnavailable,
    ],
    &[DECIDE],
);

/// True where approving needs work outside of the store first. The board alone
/// may ask, since it alone approves.
pub fn is_executed(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Option<Approval>, Failure<ApprovalError>> {
    let approval = read::find(reads, ctx, id)?;
    require_board(ctx)?;
    let needs = needs_execution(reads, &approval)?;
    Ok(needs.then_some(approval))
}

/// True for approvals that are decided by their execution alone: plans with
/// worktrees, and whatever is pushed from one.
pub(in super::super) fn needs_execution(
    reads: &mut dyn Reads,
    approval: &Approval,
) -> Result<bool, StoreError> {
    if approval.kind == ApprovalType::ApproveIssuePlan {
        return Ok(!planned(approval).is_empty());
    }
    Ok(!tickets::pushed_from(reads, approval)?.is_empty())
}

/// Begins the execution of an approval, or goes on with one that failed. The
/// worktrees that it needs are reserved: no other ticket gets them.
///
/// # Errors
/// [`ApprovalError`]; then nothing was begun.
pub fn begin(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    command: Decide,
) -> Result<(), Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    let by = require_board(ctx)?;
    let issues = links::lock_of(tx, &found)?;
    let approval = lock(tx, &found)?;
    let forced = command.force == Some(true);
    let seen = command.seen.clone();
    let note = command.into_note();
    let decision = Decision {
        by: Decider(by),
        note: note.clone(),
        at: ctx.now,
    };
    approval
        .state
        .approve(decision)
        .map_err(|refused| not_pending(id, refused))?;
    require_seen(&approval, seen.as_deref())?;
    let before = require_idle(tx, ctx, &approval)?;
    let Some(owner) = approval.primary_issue else {
        return Err(Failure::Refused(gone().into()));
    };
    if !issues
        .iter()
        .any(|it| it.id == owner && !it.status().is_terminal())
    {
        return Err(Failure::Refused(gone().into()));
    }
    let company = approval.scope();
    let mut reserved = Vec::new();
    for planned in planned(&approval) {
        let (workspace, key) = (planned.project_workspace_id, &planned.ticket_key);
        let known = tx
            .execution_workspaces()
            .of_ticket(company, workspace, key)?;
        reserved.push((known, planned));
    }
    // In the order of locks.
    reserved.sort_by_key(|(known, _)| known.as_ref().map(|known| known.id));
    for (known, planned) in reserved {
        reserve(tx, ctx, &approval, owner, known, &planned)?;
    }
    let pushed = tickets::pushed_from(tx.reads(), &approval)?;
    let pushed: Vec<_> = pushed.into_iter().map(|worktree| worktree.id).collect();
    let held = advance::hold(tx, ctx, company, &pushed, Claim::Over);
    let until = held.map_err(|busy| busy.map(|it| ApprovalError::from(it.failure())))?;
    let execution = ApprovalExecution {
        approval: id,
        company: approval.company,
        state: ExecutionState::Executing,
        step: before
            .as_ref()
            .map_or(first_step(approval.kind), |it| it.step),
        error_code: None,
        error: None,
        details: Document::new(),
        attempts: before
            .as_ref()
            .map_or(0, |it| it.attempts)
            .saturating_add(1),
        forced,
        decided_by: by,
        note,
        lease_expires_at: Some(until),
        server: Some(ctx.server),
        started_at: before.map_or(ctx.now, |it| it.started_at),
        updated_at: ctx.now,
    };
    tx.approvals_mut().save_execution(&approval, &execution)?;
    let mut details = json!({ "attempt": execution.attempts });
    if forced {
        details["override"] = json!(true);
    }
    log_activity(
        tx,
        ctx,
        Action::ApprovalExecutionStarted,
        &*approval,
        details,
    );
    Ok(())
}

/// The approval of the end of an issue whose steps a server takes now.
pub(in super::super) fn live_end_of(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &Issue,
) -> Result<Option<Approval>, StoreError> {
    let company = issue.scope();
    for approval in reads.approvals().undecided_linked_to(company, issue.id)? {
        let execution = reads.approvals().executions(company, &[approval.id])?.pop();
        if approval.kind.ends_issues() && execution.is_some_and(|it| it.is_live(ctx.now)) {
            return Ok(Some(approval));
        }
    }
    Ok(None)
}

/// Refuses while a server takes the steps of an approval. One that lost its lease
/// meanwhile takes none any more.
pub(in super::super) fn require_idle(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
) -> Result<Option<ApprovalExecution>, Failure<ApprovalError>> {
    let company = approval.scope();
    let execution = tx.approvals().executions(company, &[approval.id])?.pop();
    match execution {
        Some(execution) if execution.is_live(ctx.now) => {
            let approval = approval.id;
            Err(Failure::Refused(ApprovalError::ExecutionInProgress {
                approval,
            }))
        }
        Some(execution) => Ok(Some(give_up_expired(tx, ctx, approval, execution)?)),
        None => Ok(None),
    }
}

const fn first_step(kind: ApprovalType) -> ExecutionStep {
    match kind {
        ApprovalType::ApproveIssuePlan => ExecutionStep::Source,
        _ => ExecutionStep::Commit,
    }
}

fn gone() -> StepFailure {
    StepFailure {
        step: ExecutionStep::Source,
        fault: StepFault::WorkspaceUnavailable,
        message: "the issue that the approval is about has ended".into(),
        details: Document::new(),
    }
}

/// Has the worktree of a ticket for an issue: a new one, or the one that it has,
/// or that of an issue that has ended.
fn reserve(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    owner: IssueId,
    known: Option<ExecutionWorkspace>,
    planned: &PlannedWorkspace,
) -> Result<(), Failure<ApprovalError>> {
    let company = approval.scope();
    let workspace = planned.project_workspace_id;
    let other = tx
        .execution_workspaces()
        .on_branch(company, workspace, &planned.branch)?;
    if let Some(other) = other.filter(|other| known.as_ref().is_none_or(|it| it.id != other.id)) {
        let facts = json!({ "branch": planned.branch, "ticketKey": other.ticket_key });
        let message = format!("the ticket {} has the branch already", other.ticket_key);
        return Err(refused(StepFault::BranchInUse, message, facts));
    }
    let base_branch = planned.base_branch.clone().unwrap_or_default();
    let Some(known) = known else {
        let new = ExecutionWorkspace {
            id: ctx.id(),
            company: company.company(),
            owner: Some(owner),
            project_workspace: workspace,
            ticket_key: planned.ticket_key.clone(),
            branch: planned.branch.clone(),
            base_branch,
            path: ExecutionWorkspace::path_of(company.company(), workspace, &planned.ticket_key),
            status: ExecutionWorkspaceStatus::Provisioning,
            repository_url: None,
            fetch_address: None,
            push_address: None,
            base_commit: None,
            head_commit: None,
            pushed_commit: None,
            pull_request: None,
            conflict_wakes: 0,
            held_until: None,
            held_by: None,
            clean_up_after: ctx.now,
            kept_because: None,
            disorder: None,
            created_at: ctx.now,
            updated_at: ctx.now,
        };
        tx.execution_workspaces_mut().insert(new)?;
        return Ok(());
    };
    if let Some(holder) = known.owner.filter(|holder| *holder != owner) {
        let holder = tx.issues().find(company.into(), &holder.into())?;
        if let Some(holder) = holder.filter(|it| !it.status().is_terminal()) {
            let facts = json!({ "issueId": holder.id, "ticketKey": known.ticket_key });
            let message = format!("{} has the worktree of the ticket", holder.identifier);
            return Err(refused(StepFault::TicketInUse, message, facts));
        }
    }
    let Some(mut known) = tx
        .execution_workspaces_mut()
        .lock(company.into(), known.id)?
    else {
        return Err(StoreError::Contended.into());
    };
    let is_ready = known.status == ExecutionWorkspaceStatus::Ready;
    if is_ready && known.branch != planned.branch {
        let facts = json!({ "branch": known.branch, "ticketKey": known.ticket_key });
        let message = format!(
            "the worktree of the ticket is on the branch {}",
            known.branch
        );
        return Err(refused(StepFault::TicketInUse, message, facts));
    }
    known.owner = Some(owner);
    if !is_ready {
        known.status = ExecutionWorkspaceStatus::Provisioning;
        known.branch.clone_from(&planned.branch);
        known.base_branch = base_branch;
        known.base_commit = None;
        known.pull_request = None;
        known.kept_because = None;
        tx.pull_request_watches_mut().end(&known)?;
    }
    known.updated_at = ctx.now;
    tx.execution_workspaces_mut().save(&known)?;
    Ok(())
}

fn refused(fault: StepFault, message: String, facts: Value) -> Failure<ApprovalError> {
    let failure = StepFailure {
        step: ExecutionStep::Source,
        fault,
        message,
        details: document(facts),
    };
    Failure::Refused(failure.into())
}
