//! An approval that the board began to carry out, step by step. Each step is
//! written down before it is taken and after; the approval is decided after the
//! last.

use std::future::Future;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use workforce_app::approvals::execution::{self, Order, StepRef};
use workforce_app::approvals::{ApprovalError, advance};
use workforce_domain::actor::{Actor, CompanyOwned, CompanyScope, InstanceScope};
use workforce_domain::approval::{ApprovalType, ExecutionStep};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::port::{CarryOutError, Failure, StepFailure, StepFault, StoreError};
use workforce_domain::project::Workspace;

use super::fault::failure;
use super::lease::{Lost, Terms, under_lease};
use super::{plan, push};
use crate::state::EngineState;

/// So many executions are given up at a time.
const ABANDONED: usize = 50;

/// What a step came to: a value for the next step, what the journal tells of it, and
/// what it changes of its worktree.
pub(super) struct Done<T> {
    pub(super) value: T,
    pub(super) result: Value,
    pub(super) note: Box<dyn Fn(&mut ExecutionWorkspace) + Send + Sync>,
}

impl<T> Done<T> {
    /// A step that changes nothing of its worktree.
    pub(super) fn new(value: T, result: Value) -> Self {
        Self {
            value,
            result,
            note: Box::new(|_| {}),
        }
    }
}

/// One attempt to carry out an approval.
pub(super) struct Attempt {
    pub(super) state: Arc<EngineState>,
    pub(super) order: Order,
}

impl Attempt {
    /// Takes a step in a worktree.
    pub(super) async fn step<T>(
        &self,
        workspace: ExecutionWorkspaceId,
        step: ExecutionStep,
        work: impl Future<Output = Result<Done<T>, StepFailure>>,
    ) -> Result<T, CarryOutError> {
        let place = StepRef {
            company: self.order.approval.scope(),
            approval: self.order.approval.id,
            attempt: self.order.execution.attempts,
            workspace,
            step,
        };
        let store = &self.state.store;
        let begun = store
            .write(move |tx, ctx| Ok(execution::begin_step(tx, ctx, place)?))
            .await?;
        if !begun {
            return Err(CarryOutError::Overtaken);
        }
        let done = work.await.map_err(|failure| {
            let failure = StepFailure { step, ..failure };
            CarryOutError::Step(Box::new(failure))
        })?;
        let Done {
            value,
            result,
            note,
        } = done;
        let finished = store
            .write(move |tx, ctx| {
                let result = result.clone();
                Ok(execution::finish_step(tx, ctx, place, result, &*note)?)
            })
            .await?;
        if !finished {
            return Err(CarryOutError::Overtaken);
        }
        Ok(value)
    }

    async fn take_steps(&self) -> Result<(), CarryOutError> {
        for (worktree, workspace) in &self.order.worktrees {
            self.serve(worktree, workspace).await?;
        }
        Ok(())
    }

    async fn serve(
        &self,
        worktree: &ExecutionWorkspace,
        workspace: &Workspace,
    ) -> Result<(), CarryOutError> {
        match self.order.approval.kind {
            ApprovalType::ApproveIssuePlan => plan::provision(self, worktree, workspace).await,
            _ => push::deliver(self, worktree, workspace).await,
        }
    }
}

/// Takes the steps of an execution that was begun, on a task of its own: it goes to
/// its end even when nobody waits for it.
pub(crate) async fn carry_out(
    state: Arc<EngineState>,
    runtime: &Handle,
    company: CompanyScope,
    approval: ApprovalId,
) -> Result<(), CarryOutError> {
    let task = state.tickets.spawn_on(
        {
            let state = Arc::clone(&state);
            async move { execute(state, company, approval).await }
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
) -> Result<(), CarryOutError> {
    let order = state
        .store
        .read(move |reads| execution::order(reads, company, approval))
        .await?;
    let Some(order) = order else {
        return Err(CarryOutError::Overtaken);
    };
    let attempt = Attempt { state, order };
    let number = attempt.order.execution.attempts;
    let store = &attempt.state.store;
    let renew =
        || store.write(move |tx, ctx| Ok(execution::renew(tx, ctx, company, approval, number)?));
    let taken = match under_lease(Terms::USUAL, renew, Box::pin(attempt.take_steps())).await {
        Ok(Ok(())) => complete(&attempt).await,
        Ok(Err(error)) => Err(error),
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
    let by_agent = matches!(
        failure.fault,
        StepFault::SyncConflict | StepFault::UnsafeFiles | StepFault::GitCommitFailed
    );
    let named = failure.details.get("executionWorkspaceId")?.as_str()?;
    let mut worktrees = attempt.order.worktrees.iter().map(|(it, _)| it.id);
    worktrees.find(|id| by_agent && id.to_string() == named)
}

/// Gives up the executions that no server goes on with.
pub(crate) async fn abandon_left(state: &EngineState) -> Result<(), StoreError> {
    let now = state.store.ports.clock.now();
    let before = match state.config.exclusive_store {
        // What gave its last sign of life before this server began was a server's that is gone.
        true => now.max(state.started.plus(execution::LEASE)),
        false => now,
    };
    let abandoned = state
        .store
        .read(move |reads| {
            reads
                .approvals()
                .abandoned_executions(InstanceScope::SYSTEM, before, ABANDONED)
        })
        .await?;
    for execution in abandoned {
        state
            .store
            .write(move |tx, ctx| execution::abandon(tx, ctx, &execution))
            .await?;
    }
    Ok(())
}
