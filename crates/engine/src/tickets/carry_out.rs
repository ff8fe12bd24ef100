//! An approval that the board began to carry out, step by step. It is decided after the
//! last.

use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Handle;
use workforce_app::approvals::execution;
use workforce_app::approvals::{ApprovalError, advance};
use workforce_domain::actor::{Actor, CompanyOwned, CompanyScope};
use workforce_domain::approval::{ApprovalType, ExecutionStep};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::port::{
    AgreedWork, CarryOutError, Failure, StepFailure, StepFault, StoreError,
};

use super::deliver::push;
use super::fault::failure;
use super::leases::attempt::Attempt;
use super::leases::lease::{Lost, Terms, under_lease};
use super::provision::plan;
use crate::state::EngineState;

/// Takes the steps of an execution that was begun, on a task of its own: it goes to
/// its end even when nobody waits for it.
pub(crate) async fn carry_out(
    state: Arc<EngineState>,
    runtime: &Handle,
    company: CompanyScope,
    approval: ApprovalId,
    agreed: AgreedWork,
) -> Result<(), CarryOutError> {
    let task = state.tickets.spawn_on(
        {
            let state = Arc::clone(&state);
            async move { execute(state, company, approval, agreed).await }
        },
        runtime,
    );
    task.await
        .unwrap_or_else(|error| Err(CarryOutError::Store(StoreError::Failed(error.into()))))
}

async fn execute(
    state: Arc<EngineState>,
    company: CompanyScope,
    approval: ApprovalId,
    agreed: AgreedWork,
) -> Result<(), CarryOutError> {
    let order = state
        .store
        .read(move |reads| execution::order(reads, company, approval))
        .await?;
    let Some(order) = order else {
        return Err(CarryOutError::Overtaken);
    };
    let attempt = Attempt {
        state,
        order,
        agreed,
    };
    let number = attempt.order.execution.attempts;
    let store = &attempt.state.store;
    let renew =
        || store.write(move |tx, ctx| Ok(execution::renew(tx, ctx, company, approval, number)?));
    let (stop, steps) = (&attempt.state.breaking_off, Box::pin(take_steps(&attempt)));
    let taken = match under_lease(Terms::USUAL, stop, renew, steps).await {
        Ok(Ok(())) => complete(&attempt).await,
        Ok(Err(error)) => Err(error),
        Err(Lost::Stopped) => return Err(give_up(&attempt).await?),
        Err(Lost::Overtaken) => Err(CarryOutError::Overtaken),
        Err(Lost::Store(error)) => Err(CarryOutError::Store(error)),
    };
    match &taken {
        Err(CarryOutError::Step(failure)) => note_failure(&attempt, failure).await?,
        Err(CarryOutError::Overtaken) => end_overtaken(&attempt).await?,
        Ok(()) | Err(CarryOutError::Store(_)) => {}
    }
    taken
}

/// Gives up an attempt that is broken off, so that the board can approve again at once.
async fn give_up(attempt: &Attempt) -> Result<CarryOutError, StoreError> {
    let (company, id) = (attempt.order.approval.scope(), attempt.order.approval.id);
    let number = attempt.order.execution.attempts;
    let given_up = attempt
        .state
        .store
        .write(move |tx, ctx| Ok(execution::interrupt(tx, ctx, company, id, number)?))
        .await?;
    Ok(match given_up {
        Some(failure) => CarryOutError::Step(Box::new(failure)),
        None => CarryOutError::Overtaken,
    })
}

async fn take_steps(attempt: &Attempt) -> Result<(), CarryOutError> {
    if attempt.order.approval.kind != ApprovalType::ApproveIssuePlan {
        return push::deliver(attempt).await;
    }
    for (worktree, workspace) in &attempt.order.worktrees {
        plan::provision(attempt, worktree, workspace).await?;
    }
    Ok(())
}

/// Leaves an approval that was decided or withdrawn while its steps were taken. One
/// that others go on with is left to them.
async fn end_overtaken(attempt: &Attempt) -> Result<(), StoreError> {
    let (company, id) = (attempt.order.approval.scope(), attempt.order.approval.id);
    let number = attempt.order.execution.attempts;
    tracing::warn!(approval = %id, attempt = number, "somebody else has the approval by now");
    let (step, fault) = (ExecutionStep::Complete, StepFault::ApprovalNotPending);
    let message = "the approval was decided or withdrawn while its steps were taken";
    let told = failure(step, fault, message, json!({}));
    attempt
        .state
        .store
        .write(move |tx, ctx| Ok(execution::fail(tx, ctx, company, id, number, &told)?))
        .await
}

/// Decides the approval, as the member of the board that approved it.
async fn complete(attempt: &Attempt) -> Result<(), CarryOutError> {
    let (id, number) = (attempt.order.approval.id, attempt.order.execution.attempts);
    let by = Actor::Board(attempt.order.execution.decided_by);
    let completed = attempt
        .state
        .store
        .write_as(by, move |tx, ctx| {
            execution::complete(tx, ctx, id, number).map(|done| done.is_some())
        })
        .await;
    match completed {
        Ok(true) => Ok(()),
        Ok(false) | Err(Failure::Refused(ApprovalError::NotPending { .. })) => {
            Err(CarryOutError::Overtaken)
        }
        Err(Failure::Store(error)) => Err(CarryOutError::Store(error)),
        Err(Failure::Refused(ApprovalError::Step(failure))) => Err(CarryOutError::Step(failure)),
        Err(Failure::Refused(refused)) => {
            let (step, fault) = (ExecutionStep::Complete, StepFault::ApprovalNotPending);
            let message = format!("what was done cannot be approved any more: {refused}");
            let failed = failure(step, fault, message, json!({}));
            Err(CarryOutError::Step(Box::new(failed)))
        }
    }
}

async fn note_failure(attempt: &Attempt, failure: &StepFailure) -> Result<(), StoreError> {
    tracing::warn!(
        approval = %attempt.order.approval.id,
        step = %failure.step,
        code = %failure.fault,
        "an approval is not carried out: {}", failure.message
    );
    let (company, id) = (attempt.order.approval.scope(), attempt.order.approval.id);
    let (number, told) = (attempt.order.execution.attempts, failure.clone());
    let issue = attempt.order.issue.id;
    let to_mend = to_mend(attempt, failure);
    attempt
        .state
        .store
        .write(move |tx, ctx| {
            let execution = tx.approvals().executions(company, &[id])?.pop();
            // Whoever overtook this attempt finds the same.
            let is_own = execution.is_some_and(|it| it.is_of(number));
            if let Some(workspace) = to_mend.filter(|_| is_own) {
                advance::mend_for_approval(tx, ctx, company, issue, workspace, &told)?;
            }
            Ok(())
        })
        .await?;
    let told = failure.clone();
    attempt
        .state
        .store
        .write(move |tx, ctx| Ok(execution::fail(tx, ctx, company, id, number, &told)?))
        .await
}

/// The worktree that an agent has to mend before the approval can go on.
fn to_mend(attempt: &Attempt, failure: &StepFailure) -> Option<ExecutionWorkspaceId> {
    let named = failure.details.get("executionWorkspaceId")?.as_str()?;
    let mut worktrees = attempt.order.worktrees.iter().map(|(it, _)| it.id);
    worktrees.find(|id| failure.fault.is_for_agent() && id.to_string() == named)
}
