//! Packs the logs of runs that are over (docs/heartbeats.md#packed-logs).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{InstanceId, RunId};
use workforce_domain::port::StoreError;

use crate::log_store::pack_before;
use crate::state::EngineState;

/// How often it is looked for logs to pack.
const EVERY: Duration = Duration::from_secs(60 * 60);
/// Nobody wrote to them for so long.
const QUIET: Duration = Duration::from_secs(60 * 60);

/// Packs logs now and then, until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    while !state.closing.is_cancelled() {
        if let Err(error) = pack(&state).await {
            tracing::warn!(%error, "the logs of ended runs are not packed");
        }
        state.closing.run_until_cancelled(sleep(EVERY)).await;
    }
}

async fn pack(state: &EngineState) -> Result<(), StoreError> {
    let runs_dir = state.config.runs_dir.clone();
    let before = state.store.ports.clock.now().minus(QUIET);
    // Asked for first: a run that starts later writes to its log soon.
    let live = live_runs(state).await?;
    let closing = state.closing.clone();
    let packed = tokio::task::spawn_blocking(move || {
        let may_pack = |run: RunId| !live.contains(&run) && !closing.is_cancelled();
        pack_before(&runs_dir, before, may_pack)
    });
    match packed.await {
        Ok(Ok(0)) | Err(_) => {}
        Ok(Ok(packed)) => tracing::info!(packed, "packed the logs of ended runs"),
        Ok(Err(error)) => tracing::warn!(%error, "a log is not packed"),
    }
    Ok(())
}

/// The live runs of all servers.
async fn live_runs(state: &EngineState) -> Result<HashSet<RunId>, StoreError> {
    // No server has this id.
    let nobody = InstanceId::from(state.store.ports.ids.next());
    let live = state
        .store
        .read(move |reads| {
            reads
                .engine()
                .running_elsewhere(InstanceScope::SYSTEM, nobody)
        })
        .await?;
    Ok(live.into_iter().map(|run| run.id).collect())
}
