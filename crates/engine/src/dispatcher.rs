use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use workforce_app::runs;
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::{
    ClaimRequest, ClaimedRun, MintedToken, StartConditionInputs, StoreError, TokenKind,
};

use crate::live::LiveRun;
use crate::state::EngineState;
use crate::{recovery, run_task};

/// The pause after a failure of the store.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The one task from which runs start (docs/heartbeats.md#claims). Ends when
/// the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    while let Err(error) = recovery::recover(&state).await {
        tracing::error!(%error, cause = ?error, "what was left behind cannot be cleared away yet");
        if pause(&state, STORE_PAUSE).await {
            return;
        }
    }
    state.recovered.cancel();
    let mut readings = state.readings.follow();
    let mut is_called = true;
    loop {
        match start_due(&state, is_called).await {
            Ok(()) => state.tick(),
            Err(error) => {
                // Others were faster each time, which is no fault.
                if !matches!(error, StoreError::Contended) {
                    tracing::error!(%error, cause = ?error, "due wakes cannot be claimed");
                }
                if pause(&state, STORE_PAUSE).await {
                    return;
                }
                continue;
            }
        }
        is_called = tokio::select! {
            biased;
            () = state.closing.cancelled() => return,
            () = state.store.notifiers.dispatch.notified() => true,
            _ = readings.next() => false,
        };
    }
}

/// Starts every run that may start. Who is called claims at once. Otherwise there rarely is one,
/// and a look does not keep those waiting who write.
async fn start_due(state: &Arc<EngineState>, is_called: bool) -> Result<(), StoreError> {
    if is_called || has_startable(state).await? {
        start_all(state).await?;
    }
    Ok(())
}

async fn has_startable(state: &EngineState) -> Result<bool, StoreError> {
    let terms = StartConditionInputs {
        now: state.store.ports.clock.now(),
        instance: state.config.instance,
        instance_cap: state.config.instance_cap(),
    };
    state
        .store
        .read(move |reads| reads.engine().has_startable(InstanceScope::SYSTEM, &terms))
        .await
}

/// Waits; true when the engine closes meanwhile.
async fn pause(state: &EngineState, time: Duration) -> bool {
    state
        .closing
        .run_until_cancelled(sleep(time))
        .await
        .is_none()
}

/// Starts every run that may start.
async fn start_all(state: &Arc<EngineState>) -> Result<(), StoreError> {
    while !state.closing.is_cancelled()
        && state.live.len() < state.config.instance_cap
        && state.has_room()
    {
        let claimed_at = Instant::now();
        let Some((claimed, token)) = claim(state).await? else {
            return Ok(());
        };
        let run = &claimed.run;
        tracing::info!(run = %run.id, agent = %run.agent, reason = %run.reason, "a run starts");
        let live = Arc::new(LiveRun::new(run, token.digest, claimed_at));
        state.config.vitals.runs.note_start();
        let slot = run_task::Slot::take(state, &live);
        state.runs.spawn(run_task::run(slot, claimed, token));
    }
    Ok(())
}

/// Claims the next run together with its token, whose text exists only here.
async fn claim(state: &EngineState) -> Result<Option<(ClaimedRun, MintedToken)>, StoreError> {
    let token = state.store.ports.tokens.mint(TokenKind::Run);
    let token_digest = token.digest;
    let instance = state.config.instance;
    let lease = state.config.lease;
    let instance_cap = state.config.instance_cap();
    let claimed = state
        .store
        .write(move |tx, ctx| {
            let request = ClaimRequest {
                instance,
                now: ctx.now,
                lease_until: ctx.now.plus(lease),
                token_digest,
                instance_cap,
            };
            runs::start(tx, ctx, &request)
        })
        .await?;
    Ok(claimed.map(|claimed| (claimed, token)))
}
