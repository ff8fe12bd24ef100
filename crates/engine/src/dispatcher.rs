use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use workforce_app::runs;
use workforce_domain::port::{ClaimRequest, ClaimedRun, MintedToken, StoreError, TokenKind};

use crate::live::LiveRun;
use crate::shared::Core;
use crate::{recovery, run_task};

/// The pause after a failure of the store.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The one task from which runs start (docs/heartbeats.md#claims). Ends when
/// the engine closes.
pub(crate) async fn run(core: Arc<Core>) {
    while let Err(error) = recovery::recover(&core).await {
        tracing::error!(%error, cause = ?error, "what was left behind cannot be cleared away yet");
        if pause(&core, STORE_PAUSE).await {
            return;
        }
    }
    core.recovered.cancel();
    loop {
        match start_all(&core).await {
            Ok(()) => core.tick(),
            Err(error) => {
                tracing::error!(%error, cause = ?error, "due wakes cannot be claimed");
                if pause(&core, STORE_PAUSE).await {
                    return;
                }
            }
        }
        tokio::select! {
            biased;
            () = core.closing.cancelled() => return,
            () = core.store.notifiers.dispatch.notified() => {}
            () = sleep(core.config.poll_every) => {}
        }
    }
}

/// Waits; true when the engine closes meanwhile.
async fn pause(core: &Core, time: Duration) -> bool {
    core.closing
        .run_until_cancelled(sleep(time))
        .await
        .is_none()
}

/// Starts every run that may start.
async fn start_all(core: &Arc<Core>) -> Result<(), StoreError> {
    while !core.closing.is_cancelled()
        && core.live.len() < core.config.instance_cap
        && core.has_room()
    {
        let claimed_at = Instant::now();
        let Some((claimed, token)) = claim(core).await? else {
            return Ok(());
        };
        let run = &claimed.run;
        tracing::info!(run = %run.id, agent = %run.agent, reason = %run.reason, "a run starts");
        let live = Arc::new(LiveRun::new(run, token.digest, claimed_at));
        let slot = run_task::Slot::take(core, &live);
        core.runs.spawn(run_task::run(slot, claimed, token));
    }
    Ok(())
}

/// Claims the next run together with its token, whose text exists only here.
async fn claim(core: &Core) -> Result<Option<(ClaimedRun, MintedToken)>, StoreError> {
    let token = core.store.ports.tokens.mint(TokenKind::Run);
    let token_digest = token.digest;
    let instance = core.config.instance;
    let lease = core.config.lease;
    let instance_cap = i64::try_from(core.config.instance_cap).unwrap_or(i64::MAX);
    let claimed = core
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
