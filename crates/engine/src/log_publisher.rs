//! Publishes that runs wrote output: where the new part begins, not the output
//! itself (docs/events.md#kinds).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use workforce_app::activity_log::document;
use workforce_domain::activity::{Event, EventKind};
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::StoreError;

use crate::state::EngineState;

/// How often logs are read. A run reports new output at most this often.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// After this many reports a run is throttled to one every [`RARELY`]: watchers
/// read the log itself, and its events must not crowd out those of others.
const OFTEN: u32 = 60;
const RARELY: Duration = Duration::from_secs(10);

/// What was published of a live run.
struct Published {
    /// Output up to here, in bytes.
    length: u64,
    times: u32,
    at: Instant,
}

/// Output that was not published yet.
struct Written {
    company: CompanyId,
    run: RunId,
    /// Where it begins, in bytes.
    offset: u64,
    length: u64,
}

/// Publishes the output of live runs, until the engine has ended.
pub(crate) async fn run(state: Arc<EngineState>) {
    let mut published = HashMap::new();
    while state
        .abandoning
        .run_until_cancelled(sleep(POLL_EVERY))
        .await
        .is_some()
    {
        if let Err(error) = publish(&state, &mut published).await {
            tracing::warn!(%error, "output of runs is not told of");
        }
    }
}

async fn publish(
    state: &EngineState,
    published: &mut HashMap<RunId, Published>,
) -> Result<(), StoreError> {
    let live = state.live.all();
    published.retain(|run, _| live.iter().any(|live| live.run == *run));
    let mut due = Vec::new();
    for live in live {
        let known = published.get(&live.run);
        let rests = known.is_some_and(|known| known.times >= OFTEN && known.at.elapsed() < RARELY);
        if !rests {
            let path = state.config.log_path(live.company, live.run);
            let offset = known.map_or(0, |known| known.length);
            due.push((live.company, live.run, path, offset));
        }
    }
    if due.is_empty() {
        return Ok(());
    }
    let written = tokio::task::spawn_blocking(move || grown(due))
        .await
        .unwrap_or_default();
    if written.is_empty() {
        return Ok(());
    }
    for written in &written {
        let known = published.entry(written.run).or_insert(Published {
            length: 0,
            times: 0,
            at: Instant::now(),
        });
        known.length = written.length;
        known.times = known.times.saturating_add(1);
        known.at = Instant::now();
    }
    state
        .store
        .write(move |tx, ctx| {
            for Written {
                company,
                run,
                offset,
                ..
            } in &written
            {
                tx.journal().event(Event {
                    company: *company,
                    kind: EventKind::RunLog,
                    payload: document(json!({ "runId": run, "offset": offset })),
                    created_at: ctx.now,
                });
            }
            Ok(())
        })
        .await
}

/// The logs that have grown. A log that does not exist yet was not written to.
fn grown(logs: Vec<(CompanyId, RunId, PathBuf, u64)>) -> Vec<Written> {
    let written = |(company, run, path, offset): (CompanyId, RunId, PathBuf, u64)| {
        let length = path.metadata().ok()?.len();
        (length > offset).then_some(Written {
            company,
            run,
            offset,
            length,
        })
    };
    logs.into_iter().filter_map(written).collect()
}
