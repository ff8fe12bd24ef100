//! Runs are kept out of worktrees while workforce itself works there.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use workforce_app::approvals::advance::{self, Claim, Occupant};
use workforce_app::approvals::execution::LEASE;
use workforce_domain::actor::{Actor, CompanyOwned, CompanyScope, InstanceScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{CarryOutError, Failure, Reads, StepFailure, StepFault, StoreError};
use workforce_domain::project::Workspace;
use workforce_domain::time::Timestamp;

use super::lease::{Lost, Terms, under_lease};
use crate::state::EngineState;
use crate::tickets::fault::failure;

/// So many holds are ended at a time.
const LEFT: usize = 50;

/// Worktrees that are held, and until when.
pub(in crate::tickets) struct Hold<'a> {
    state: &'a EngineState,
    company: CompanyScope,
    worktrees: Vec<ExecutionWorkspaceId>,
    until: Mutex<Timestamp>,
}

impl<'a> Hold<'a> {
    /// What was taken until then.
    pub(in crate::tickets) fn new(
        state: &'a EngineState,
        company: CompanyScope,
        worktrees: Vec<ExecutionWorkspaceId>,
        until: Timestamp,
    ) -> Self {
        Self {
            state,
            company,
            worktrees,
            until: Mutex::new(until),
        }
    }

    /// Until when it lasts, as it was renewed last.
    pub(in crate::tickets) fn until(&self) -> Timestamp {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn renew(&self) -> Result<bool, StoreError> {
        let (company, worktrees, until) = (self.company, self.worktrees.clone(), self.until());
        let renewed = self
            .state
            .store
            .write(move |tx, ctx| Ok(advance::renew_hold(tx, ctx, company, &worktrees, until)?))
            .await?;
        if let Some(until) = renewed {
            *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
        Ok(renewed.is_some())
    }

    /// Does `work` for as long as the worktrees are held.
    ///
    /// # Errors
    /// [`StepFault::Interrupted`] when they have changed hands meanwhile, or the server
    /// stops.
    pub(in crate::tickets) async fn during<T>(
        &self,
        step: ExecutionStep,
        work: impl Future<Output = T>,
    ) -> Result<T, CarryOutError> {
        let stop = &self.state.breaking_off;
        let done = under_lease(Terms::USUAL, stop, || self.renew(), work).await;
        let interrupted = |why| CarryOutError::Step(Box::new(interrupted(step, why)));
        done.map_err(|lost| match lost {
            Lost::Overtaken => interrupted(STOOD_STILL),
            Lost::Stopped => interrupted("the server stops"),
            Lost::Store(error) => CarryOutError::Store(error),
        })
    }

    /// Lets runs in again.
    pub(in crate::tickets) async fn release(self) -> Result<(), StoreError> {
        let (company, until) = (self.company, self.until());
        let worktrees = self.worktrees;
        self.state
            .store
            .write(move |tx, ctx| Ok(advance::release(tx, ctx, company, &worktrees, until)?))
            .await
    }
}

/// Keeps runs out of worktrees while `work` goes on in them; `None` where workforce
/// works there already.
pub(in crate::tickets) async fn holding<T>(
    state: &EngineState,
    company: CompanyScope,
    worktrees: &[(ExecutionWorkspace, Workspace)],
    work: impl Future<Output = Result<T, CarryOutError>>,
) -> Result<Option<T>, CarryOutError> {
    let ids: Vec<ExecutionWorkspaceId> = worktrees.iter().map(|(it, _)| it.id).collect();
    let to_hold = ids.clone();
    let held = state
        .store
        .write_as(Actor::System, move |tx, ctx| {
            advance::hold(tx, ctx, company, &to_hold, Claim::Idle)
        })
        .await;
    let until = match held {
        Ok(until) => until,
        Err(Failure::Refused(Occupant::Workforce(_))) => return Ok(None),
        Err(Failure::Refused(Occupant::Run(busy))) => {
            return Err(CarryOutError::Step(Box::new(busy)));
        }
        Err(Failure::Store(error)) => return Err(CarryOutError::Store(error)),
    };
    let hold = Hold::new(state, company, ids, until);
    let done = hold.during(ExecutionStep::Commit, work).await;
    hold.release().await?;
    done.flatten().map(Some)
}

const STOOD_STILL: &str = "the server stood still for so long that others may work in the worktree";

fn interrupted(step: ExecutionStep, message: &str) -> StepFailure {
    failure(step, StepFault::Interrupted, message, json!({}))
}

/// Ends the holds that a predecessor left, on a store that is this server's alone.
pub(in crate::tickets) async fn end_left(state: &EngineState) -> Result<(), StoreError> {
    let before = state.started.plus(LEASE);
    end_all(state, move |reads| {
        reads
            .execution_workspaces()
            .held_before(InstanceScope::SYSTEM, before, LEFT)
    })
    .await
}

/// Ends the holds that predecessors left.
pub(in crate::tickets) async fn end_of_predecessors(state: &EngineState) -> Result<(), StoreError> {
    let gone = state.config.predecessors.clone();
    end_all(state, move |reads| {
        reads
            .execution_workspaces()
            .held_by(InstanceScope::SYSTEM, &gone, LEFT)
    })
    .await
}

/// Ends holds until no more are found.
async fn end_all(
    state: &EngineState,
    find: impl FnMut(&mut dyn Reads) -> Result<Vec<ExecutionWorkspace>, StoreError>
    + Clone
    + Send
    + 'static,
) -> Result<(), StoreError> {
    loop {
        let left = state.store.read(find.clone()).await?;
        let is_last = left.len() < LEFT;
        for worktree in left {
            let (company, id) = (worktree.scope(), worktree.id);
            let Some(until) = worktree.held_until else {
                continue;
            };
            Hold::new(state, company, vec![id], until).release().await?;
        }
        if is_last {
            return Ok(());
        }
    }
}
