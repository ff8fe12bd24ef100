use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::RunId;
use workforce_domain::port::StoreError;
use workforce_domain::run::Run;

use crate::live::{Halt, LiveRun};
use crate::state::EngineState;
use crate::steps::{self, Standing};

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
    let renewal = state
        .store
        .write(move |tx, ctx| steps::renew(tx, ctx, instance, &runs, lease));
    // A store that hangs must not keep this task from giving up its runs.
    let renewal = match timeout(state.config.renew_every, renewal).await {
        Ok(renewal) => renewal?,
        Err(elapsed) => return Err(StoreError::Unavailable(elapsed.into())),
    };
    for live in live {
        apply(&live, begun, renewal.standing(live.run, live.fence));
        complete(&live, renewal.completed());
    }
    Ok(())
}

fn apply(live: &LiveRun, begun: Instant, standing: Standing) {
    if standing == Standing::Lost {
        return live.mark_lost();
    }
    live.note_renewal(begun);
    if let Standing::ToStop(reason) = standing {
        live.halt(Halt::Requested(reason));
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
/// also when the store does not answer this one.
fn give_up_unrenewed(state: &EngineState) {
    if state.config.exclusive_store {
        return;
    }
    let bound = steps::patience(state.config.lease, state.config.renew_every);
    for live in state.live.all() {
        if live.renewed_at().elapsed() >= bound {
            live.halt(Halt::LeaseLost);
        }
    }
}
