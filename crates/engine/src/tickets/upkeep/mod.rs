//! What goes on after a pull request was opened: forges are asked what became of it, its
//! worktree is kept up with the base branch, and removed when it is needed no more.

mod clean_up;
mod drift;
pub(super) mod taken_messages;
pub(super) mod watch;
pub(super) mod webhook;

use std::sync::Arc;

use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::execution_workspace::{ExecutionWorkspace, PullRequestWatch};
use workforce_domain::port::{Reads, StoreError};
use workforce_domain::project::Workspace;
use workforce_domain::time::Timestamp;

use super::repository::source::places_of;
use super::rounds::{Due, LOOKED_AT, Rounds, go_on};
use crate::agenda::Reading;
use crate::state::EngineState;

/// So many worktrees are kept up or removed side by side: git is busy with the disk, and
/// others wait for their answers meanwhile.
const AT_ONCE: usize = 4;

/// Goes on until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    let upkeep = Upkeep(Arc::clone(&state));
    go_on(&state, upkeep).await;
}

struct Upkeep(Arc<EngineState>);

enum Task {
    /// The base branch of a pull request is looked at.
    Drift(PullRequestWatch),
    /// A worktree of a ticket that ended by then is removed.
    CleanUp(Box<ExecutionWorkspace>, Timestamp),
}

impl Rounds for Upkeep {
    type Task = Task;
    const NAME: &'static str = "worktrees";
    const AT_ONCE: usize = AT_ONCE;
    // Others of the same repository would only wait for its lock.
    const AT_A_PLACE: usize = 1;

    async fn due(&mut self) -> Result<Vec<Due<Task>>, StoreError> {
        let mut found = drifts(&self.0).await?;
        found.extend(ended(&self.0).await?);
        let mut all = Vec::new();
        for (worktree, workspace, task) in found {
            all.push(Due {
                id: worktree.id.to_string(),
                company: worktree.company,
                places: places_of(workspace.into_iter().collect()).await,
                task,
            });
        }
        Ok(all)
    }

    fn take(&self, task: Task) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let state = Arc::clone(&self.0);
        async move {
            match task {
                Task::Drift(watch) => drift::keep_up(&state, &watch).await,
                Task::CleanUp(worktree, ended_by) => {
                    clean_up::clean_up(&state, &worktree, ended_by).await
                }
            }
        }
    }

    fn is_due(&self, reading: &Reading) -> bool {
        reading.has_upkeep()
    }
}

/// What is to be done in a worktree of a workspace.
type Found = (ExecutionWorkspace, Option<Workspace>, Task);

async fn drifts(state: &EngineState) -> Result<Vec<Found>, StoreError> {
    let now = state.store.ports.clock.now();
    let found = state.store.read(move |reads| {
        let due = reads
            .pull_request_watches()
            .due_drifts(InstanceScope::SYSTEM, now, LOOKED_AT)?;
        let mut found = Vec::new();
        for watch in due {
            let (company, id) = (watch.scope(), watch.workspace);
            if let Some(worktree) = reads.execution_workspaces().find(company.into(), id)? {
                let workspace = workspace_of(reads, &worktree)?;
                found.push((worktree, workspace, Task::Drift(watch)));
            }
        }
        Ok(found)
    });
    found.await
}

async fn ended(state: &EngineState) -> Result<Vec<Found>, StoreError> {
    let now = state.store.ports.clock.now();
    let ended_by = now.minus(state.config.tickets.worktree_age);
    let found = state.store.read(move |reads| {
        let ended = reads.execution_workspaces().to_clean_up(
            InstanceScope::SYSTEM,
            ended_by,
            now,
            LOOKED_AT,
        )?;
        let mut found = Vec::new();
        for worktree in ended {
            let workspace = workspace_of(reads, &worktree)?;
            let task = Task::CleanUp(Box::new(worktree.clone()), ended_by);
            found.push((worktree, workspace, task));
        }
        Ok(found)
    });
    found.await
}

fn workspace_of(
    reads: &mut dyn Reads,
    worktree: &ExecutionWorkspace,
) -> Result<Option<Workspace>, StoreError> {
    let workspace = worktree.project_workspace;
    reads.projects().find_workspace(worktree.scope(), workspace)
}
