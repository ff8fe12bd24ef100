//! The journal of an execution: each step is written down before it is taken and
//! after, so that whoever goes on knows what may have been done.

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{
    Approval, ApprovalExecution, ExecutionState, ExecutionStep, ExecutionStepRecord,
};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Reads, StepFailure, StoreError, Tx};
use workforce_domain::project::Workspace;

use super::lease;
use super::live::{lock_live, write_failure};
use crate::activity_log::document;
use crate::context::Context;
use crate::tickets;

/// What an execution is to do.
#[derive(Clone, Debug)]
pub struct Order {
    /// The approval.
    pub approval: Approval,
    /// How far it has come.
    pub execution: ApprovalExecution,
    /// The issue that it is about.
    pub issue: Issue,
    /// The worktrees of the ticket, each with the workspace of the project.
    pub worktrees: Vec<(ExecutionWorkspace, Workspace)>,
    /// Whether its project takes no ticket that cannot be pushed.
    pub remote_required: bool,
}

/// What an execution that was begun is to do; `None` when it is not being
/// executed any more.
pub fn order(
    reads: &mut dyn Reads,
    company: CompanyScope,
    id: ApprovalId,
) -> Result<Option<Order>, StoreError> {
    let Some(approval) = reads.approvals().find(company.into(), id)? else {
        return Ok(None);
    };
    let execution = reads.approvals().executions(company, &[id])?.pop();
    let Some(execution) = execution.filter(|it| it.state == ExecutionState::Executing) else {
        return Ok(None);
    };
    let Some(owner) = approval.primary_issue else {
        return Ok(None);
    };
    let Some(issue) = reads.issues().find(company.into(), &owner.into())? else {
        return Ok(None);
    };
    let mut worktrees = Vec::new();
    for worktree in tickets::worked_on(reads, &approval)? {
        let workspace = worktree.project_workspace;
        if let Some(workspace) = reads.projects().find_workspace(company, workspace)? {
            worktrees.push((worktree, workspace));
        }
    }
    Ok(Some(Order {
        remote_required: remote_required(reads, &issue)?,
        approval,
        execution,
        issue,
        worktrees,
    }))
}

/// True where the project of an issue takes no ticket that cannot be pushed.
pub fn remote_required(reads: &mut dyn Reads, issue: &Issue) -> Result<bool, StoreError> {
    let Some(project) = issue.project else {
        return Ok(false);
    };
    let project = reads.projects().find(issue.scope().into(), project)?;
    Ok(project.is_some_and(|project| project.remote_required))
}

/// Which step of which execution.
#[derive(Clone, Copy, Debug)]
pub struct StepRef {
    /// The company.
    pub company: CompanyScope,
    /// The approval.
    pub approval: ApprovalId,
    /// The attempt that takes the step.
    pub attempt: i32,
    /// The worktree.
    pub workspace: ExecutionWorkspaceId,
    /// The step.
    pub step: ExecutionStep,
}

/// Writes down that a step is about to be taken; false when the execution is not
/// this attempt's any more, or the approval was decided or withdrawn meanwhile: then
/// nothing may be done for it.
pub fn begin_step(tx: &mut dyn Tx, ctx: &Context<'_>, step: StepRef) -> Result<bool, StoreError> {
    let locked = lock_live(tx, step.company, step.approval, step.attempt)?;
    let waiting = locked.filter(|(approval, _)| !approval.status().is_terminal());
    let Some((approval, mut execution)) = waiting else {
        return Ok(false);
    };
    execution.step = step.step;
    lease::prolong(tx, ctx, &approval, &mut execution)?;
    execution.updated_at = ctx.now;
    tx.approvals_mut().save_execution(&approval, &execution)?;
    let record = ExecutionStepRecord {
        approval: approval.id,
        company: approval.company,
        workspace: step.workspace,
        step: step.step,
        begun_at: ctx.now,
        done_at: None,
        result: Document::new(),
    };
    tx.approvals_mut().save_execution_step(&approval, &record)?;
    Ok(true)
}

/// Writes down what came of a step, in the journal and, by `note`, on the
/// worktree; false when the execution is not this attempt's any more.
pub fn finish_step(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    step: StepRef,
    result: Value,
    note: &dyn Fn(&mut ExecutionWorkspace),
) -> Result<bool, StoreError> {
    let locked = lock_live(tx, step.company, step.approval, step.attempt)?;
    let Some((approval, mut execution)) = locked else {
        return Ok(false);
    };
    lease::prolong(tx, ctx, &approval, &mut execution)?;
    execution.updated_at = ctx.now;
    tx.approvals_mut().save_execution(&approval, &execution)?;
    let steps = tx
        .approvals()
        .execution_steps(step.company, &[approval.id])?;
    let begun = steps
        .iter()
        .find(|it| it.workspace == step.workspace && it.step == step.step);
    let record = ExecutionStepRecord {
        approval: approval.id,
        company: approval.company,
        workspace: step.workspace,
        step: step.step,
        begun_at: begun.map_or(ctx.now, |it| it.begun_at),
        done_at: Some(ctx.now),
        result: document(result),
    };
    tx.approvals_mut().save_execution_step(&approval, &record)?;
    let locked = tx
        .execution_workspaces_mut()
        .lock(step.company.into(), step.workspace)?;
    if let Some(mut workspace) = locked {
        note(&mut workspace);
        let cause = tickets::Cause::Approved(&approval, &execution, &record.result);
        tickets::save_and_tell(tx, ctx, &mut workspace, cause)?;
        if step.step == ExecutionStep::PullRequest {
            let merged = merged_base(&steps, step.workspace);
            tickets::watch_pull_request(tx, ctx, &workspace, merged)?;
        }
    }
    Ok(true)
}

/// The commit of the base branch that the steps before merged into a worktree.
fn merged_base(steps: &[ExecutionStepRecord], workspace: ExecutionWorkspaceId) -> Option<String> {
    let synced = steps
        .iter()
        .find(|it| it.workspace == workspace && it.step == ExecutionStep::Sync)?;
    let commit = synced.result.get("baseCommit")?.as_str()?;
    Some(commit.to_owned())
}

/// Writes down that an execution failed. The approval stays undecided, and
/// approving it again goes on with the step that failed.
pub fn fail(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ApprovalId,
    attempt: i32,
    failure: &StepFailure,
) -> Result<(), StoreError> {
    let Some((approval, mut execution)) = lock_live(tx, company, id, attempt)? else {
        return Ok(());
    };
    lease::end(tx, ctx, &approval, &mut execution)?;
    write_failure(tx, ctx, &approval, execution, failure).map(drop)
}
