//! An execution that is going on, and what is written down where it comes to no end.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::{Approval, ApprovalExecution, ExecutionState};
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Locked, StepFailure, StoreError, Tx};

use crate::activity_log::log_activity;
use crate::context::Context;

/// Locks an execution that is going on. One that another server was given
/// meanwhile, or that was given up, is lost.
pub(in super::super) fn lock_live(
    tx: &mut dyn Tx,
    company: CompanyScope,
    id: ApprovalId,
    attempt: i32,
) -> Result<Option<(Locked<Approval>, ApprovalExecution)>, StoreError> {
    let Some(approval) = tx.approvals_mut().lock(company.into(), id)? else {
        return Ok(None);
    };
    let execution = tx.approvals().executions(company, &[id])?.pop();
    let execution = execution.filter(|it| it.is_of(attempt));
    Ok(execution.map(|execution| (approval, execution)))
}

pub(super) fn write_failure(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    mut execution: ApprovalExecution,
    failure: &StepFailure,
) -> Result<ApprovalExecution, StoreError> {
    execution.state = ExecutionState::Failed;
    execution.step = failure.step;
    execution.error_code = Some(failure.fault.to_string());
    execution.error = Some(failure.message.clone());
    execution.details = failure.details.clone();
    execution.lease_expires_at = None;
    execution.updated_at = ctx.now;
    tx.approvals_mut().save_execution(approval, &execution)?;
    let details = json!({
        "step": failure.step,
        "code": failure.fault,
        "error": failure.message,
        "attempt": execution.attempts,
    });
    log_activity(
        tx,
        ctx,
        Action::ApprovalExecutionFailed,
        &**approval,
        details,
    );
    Ok(execution)
}
