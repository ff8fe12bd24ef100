//! Which tickets are brought before the board, and when.

use std::sync::Arc;

use workforce_app::approvals::advance::worktrees_of;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::port::StoreError;

use super::advance::bring;
use crate::agenda::Reading;
use crate::state::EngineState;
use crate::tickets::leases::attempt::abandon_left;
use crate::tickets::leases::hold::end_left;
use crate::tickets::repository::source::places_of;
use crate::tickets::rounds::{Due, LOOKED_AT, Rounds, go_on};

/// So many tickets are brought before the board side by side: git is busy with the disk,
/// and others wait for their answers meanwhile.
const AT_ONCE: usize = 4;

/// Brings tickets before the board until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    let advances = Advances {
        state: Arc::clone(&state),
        is_left: state.config.exclusive_store,
    };
    go_on(&state, advances).await;
}

struct Advances {
    state: Arc<EngineState>,
    /// Whether worktrees may be held for a predecessor.
    is_left: bool,
}

impl Rounds for Advances {
    type Task = TicketAdvance;
    const NAME: &'static str = "tickets";
    const AT_ONCE: usize = AT_ONCE;
    // Others of the same repository would only wait for its lock.
    const AT_A_PLACE: usize = 1;

    async fn due(&mut self) -> Result<Vec<Due<TicketAdvance>>, StoreError> {
        let state = &self.state;
        if self.is_left {
            match end_left(state).await {
                Ok(()) => self.is_left = false,
                Err(error) => tracing::error!(%error, "worktrees are held for nobody"),
            }
        }
        if let Err(error) = abandon_left(state).await {
            tracing::error!(%error, "executions that were left are not given up");
        }
        due(state).await
    }

    fn take(
        &self,
        due: TicketAdvance,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let state = Arc::clone(&self.state);
        async move { bring(&state, due).await }
    }

    fn is_due(&self, reading: &Reading) -> bool {
        self.is_left || reading.has_advances()
    }
}

async fn due(state: &EngineState) -> Result<Vec<Due<TicketAdvance>>, StoreError> {
    let now = state.store.ports.clock.now();
    let found = state
        .store
        .read(move |reads| {
            let due =
                reads
                    .execution_workspaces()
                    .due_advances(InstanceScope::SYSTEM, now, LOOKED_AT)?;
            let with_worktrees = due.into_iter().map(|due| {
                let worktrees = worktrees_of(reads, due.scope(), due.issue)?;
                Ok((due, worktrees))
            });
            with_worktrees.collect::<Result<Vec<_>, StoreError>>()
        })
        .await?;
    let mut all = Vec::new();
    for (task, worktrees) in found {
        let workspaces = worktrees.into_iter().map(|(_, workspace)| workspace);
        all.push(Due {
            id: task.issue.to_string(),
            company: task.company,
            places: places_of(workspaces.collect()).await,
            task,
        });
    }
    Ok(all)
}
