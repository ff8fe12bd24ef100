//! One attempt to carry out an approval: each step is written down before it is taken
//! and after.

use std::future::Future;
use std::sync::Arc;

use serde_json::Value;
use workforce_app::approvals::execution::{self, Order, StepRef};
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::approval::{ApprovalExecution, ExecutionStep};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{AgreedWork, CarryOutError, StepFailure, StoreError};

use crate::state::EngineState;

/// So many executions are given up at a time.
const ABANDONED: usize = 50;

/// What a step came to: a value for the next step, what the journal tells of it, and
/// what it changes of its worktree.
pub(in crate::tickets) struct Done<T> {
    pub(in crate::tickets) value: T,
    pub(in crate::tickets) result: Value,
    pub(in crate::tickets) note: Box<dyn Fn(&mut ExecutionWorkspace) + Send + Sync>,
}

impl<T> Done<T> {
    /// A step that changes nothing of its worktree.
    pub(in crate::tickets) fn new(value: T, result: Value) -> Self {
        Self {
            value,
            result,
            note: Box::new(|_| {}),
        }
    }
}

/// One attempt to carry out an approval.
pub(in crate::tickets) struct Attempt {
    pub(in crate::tickets) state: Arc<EngineState>,
    pub(in crate::tickets) order: Order,
    /// Which work may be pushed.
    pub(in crate::tickets) agreed: AgreedWork,
}

impl Attempt {
    /// Takes a step in a worktree.
    pub(in crate::tickets) async fn step<T>(
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
}

/// Gives up the executions that no server goes on with.
pub(in crate::tickets) async fn abandon_left(state: &EngineState) -> Result<(), StoreError> {
    let before = state.attempts_before(state.store.ports.clock.now());
    let abandoned = state
        .store
        .read(move |reads| {
            reads
                .approvals()
                .abandoned_executions(InstanceScope::SYSTEM, before, ABANDONED)
        })
        .await?;
    abandon(state, abandoned).await
}

/// Gives up the executions that predecessors left in the midst of a step.
pub(in crate::tickets) async fn abandon_of_predecessors(
    state: &EngineState,
) -> Result<(), StoreError> {
    loop {
        let gone = state.config.predecessors.clone();
        let left = state
            .store
            .read(move |reads| {
                reads
                    .approvals()
                    .executions_left_by(InstanceScope::SYSTEM, &gone, ABANDONED)
            })
            .await?;
        let is_last = left.len() < ABANDONED;
        abandon(state, left).await?;
        if is_last {
            return Ok(());
        }
    }
}

async fn abandon(state: &EngineState, left: Vec<ApprovalExecution>) -> Result<(), StoreError> {
    for execution in left {
        state
            .store
            .write(move |tx, ctx| execution::abandon(tx, ctx, &execution))
            .await?;
    }
    Ok(())
}
