use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::RunId;
use workforce_domain::port::{RenewedRun, StoreError};
use workforce_domain::run::Run;

use crate::config::EngineConfig;
use crate::live::{Halt, LiveRun};
use crate::state::EngineState;

/// After a renewal that failed the next one comes sooner.
const RETRY: Duration = Duration::from_secs(1);

/// Keeps the leases of live runs, and stops the runs that somebody asked to
/// stop or that are not this server's any more. Ends when the engine has.
pub(crate) async fn run(state: Arc<EngineState>) {
    let mut due = Instant::now() + state.config.renew_every;
    loop {
        tokio::select! {
            biased;
            () = state.abandoning.cancelled() => return,
            () = sleep_until(due) => {
                let pause = match renew(&state).await {
                    Ok(()) => state.config.renew_every,
                    Err(error) => {
                        tracing::error!(%error, cause = ?error, "leases are not renewed");
                        RETRY.min(state.config.renew_every)
                    }
                };
                due = Instant::now() + pause;
            }
            () = state.store.notifiers.stops.notified() => {
                if let Err(error) = apply_stop_requests(&state).await {
                    tracing::warn!(%error, "stop requests are seen at the next renewal only");
                }
            }
        }
        give_up_unrenewed(&state);
    }
}

async fn renew(state: &EngineState) -> Result<(), StoreError> {
    let live = state.live.all();
    if live.is_empty() {
        return Ok(());
    }
    let begun = Instant::now();
    let runs: Vec<RunId> = live.iter().map(|live| live.run).collect();
    let (instance, lease) = (state.config.instance, state.config.lease);
    let renewal = state.store.write(move |tx, ctx| {
        let (scope, until) = (InstanceScope::SYSTEM, ctx.now.plus(lease));
        let renewed = tx.engine_mut().renew(scope, instance, &runs, until)?;
        Ok((renewed, tx.runs().completed(scope, &runs)?))
    });
    // A store that hangs must not keep this task from giving up its runs.
    let (renewed, completed) = match timeout(state.config.renew_every, renewal).await {
        Ok(renewed) => renewed?,
        Err(elapsed) => return Err(StoreError::Unavailable(elapsed.into())),
    };
    for live in live {
        apply(&live, begun, renewed.iter().find(|row| row.run == live.run));
        complete(&live, &completed);
    }
    Ok(())
}

fn apply(live: &LiveRun, begun: Instant, renewed: Option<&RenewedRun>) {
    match renewed {
        Some(row) if row.fence == live.fence => {
            live.note_renewal(begun);
            if let Some(reason) = row.stop_reason {
                live.halt(Halt::Requested(reason));
            }
        }
        Some(_) | None => live.mark_lost(),
    }
}

/// Stops a run whose agent has said how it ended. A request to stop that came
/// earlier counts.
fn complete(live: &LiveRun, completed: &[RunId]) {
    if completed.contains(&live.run) {
        live.halt(Halt::Completed);
    }
}

/// Checks for stop requests and completions alone: notifications are frequent, and this only reads.
async fn apply_stop_requests(state: &EngineState) -> Result<(), StoreError> {
    let live = state.live.all();
    if live.is_empty() {
        return Ok(());
    }
    let runs: Vec<_> = live.iter().map(|live| (live.scope(), live.run)).collect();
    let (seen, completed): (Vec<Option<Run>>, Vec<RunId>) = state
        .store
        .read(move |reads| {
            let seen = runs
                .iter()
                .map(|(company, run)| reads.runs().find((*company).into(), *run))
                .collect::<Result<_, _>>()?;
            let ids: Vec<RunId> = runs.iter().map(|(_, run)| *run).collect();
            Ok((seen, reads.runs().completed(InstanceScope::SYSTEM, &ids)?))
        })
        .await?;
    for (live, run) in live.iter().zip(seen) {
        complete(live, &completed);
        match run {
            Some(run) if run.fence == live.fence && run.status.is_live() => {
                if let Some(reason) = run.stop_reason {
                    live.halt(Halt::Requested(reason));
                }
            }
            Some(_) | None => live.mark_lost(),
        }
    }
    Ok(())
}

/// On a shared store another server takes a run over when its lease expires,
/// so its processes must be gone by then, also when the store does not answer.
fn give_up_unrenewed(state: &EngineState) {
    if state.config.exclusive_store {
        return;
    }
    let EngineConfig {
        lease, renew_every, ..
    } = state.config;
    // An attempt that hangs takes up to one interval, and so may the killing.
    let bound = lease
        .saturating_sub(2 * renew_every)
        .min(lease * 3 / 4)
        .max(lease / 2);
    for live in state.live.all() {
        if live.renewed_at().elapsed() >= bound {
            live.halt(Halt::LeaseLost);
        }
    }
}
