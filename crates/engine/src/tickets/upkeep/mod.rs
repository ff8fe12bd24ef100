//! What goes on after a pull request was opened: forges are asked what became of it, its
//! worktree is kept up with the base branch, and removed when it is needed no more.

mod clean_up;
mod drift;
pub(super) mod watch;
pub(super) mod webhook;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::StoreError;

use crate::retention::is_due;
use crate::state::EngineState;

/// So many are looked up at a time.
const AT_ONCE: usize = 10;
/// How often work is looked for.
const EVERY: Duration = Duration::from_secs(1);
/// How often worktrees are looked for that are needed no more.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(10);

/// Goes on until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    let mut cleaned_up = None;
    while !state.closing.is_cancelled() {
        if let Err(error) = keep_up(&state).await {
            tracing::error!(%error, "pull requests are not kept up with their base branch");
        }
        if is_due(cleaned_up, CLEAN_UP_EVERY) {
            match clean_up(&state).await {
                // Where there were that many, there are more.
                Ok(AT_ONCE) => continue,
                Ok(_) => {}
                Err(error) => tracing::error!(%error, "worktrees are not removed"),
            }
            cleaned_up = Some(Instant::now());
        }
        let pause = state.config.poll_every.max(EVERY);
        state.closing.run_until_cancelled(sleep(pause)).await;
    }
}

async fn keep_up(state: &Arc<EngineState>) -> Result<(), StoreError> {
    let now = state.store.ports.clock.now();
    let due = state
        .store
        .read(move |reads| {
            reads
                .pull_request_watches()
                .due_drifts(InstanceScope::SYSTEM, now, AT_ONCE)
        })
        .await?;
    for watch in due {
        if state.closing.is_cancelled() {
            break;
        }
        drift::keep_up(state, &watch).await?;
    }
    Ok(())
}

/// Removes what is needed no more; how much it was that was looked at.
async fn clean_up(state: &Arc<EngineState>) -> Result<usize, StoreError> {
    let now = state.store.ports.clock.now();
    let ended_by = now.minus(state.config.tickets.worktree_age);
    let ended = state
        .store
        .read(move |reads| {
            reads
                .execution_workspaces()
                .to_clean_up(InstanceScope::SYSTEM, ended_by, now, AT_ONCE)
        })
        .await?;
    let found = ended.len();
    for worktree in ended {
        if state.closing.is_cancelled() {
            break;
        }
        clean_up::clean_up(state, &worktree, ended_by).await?;
    }
    Ok(found)
}
