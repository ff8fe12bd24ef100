//! What is kept for a while and then forgotten
//! (docs/operations.md#how-long-what-is-kept).

use std::time::Duration;

use tokio::time::Instant;
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::session::ProviderGate;
use workforce_domain::time::Timestamp;

use crate::log_store::delete_before;
use crate::state::EngineState;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How often each kind of row is looked at.
const EVERY: Duration = Duration::from_secs(5 * 60);
/// So many events of a company are kept at most (docs/events.md#retention).
const EVENTS_KEPT: i64 = 100_000;
/// For how long the log of a run is kept after its last line.
const LOG_AGE: Duration = DAY.saturating_mul(30);

/// Rows of one kind, for how long they are kept, and how they are forgotten.
struct Rule {
    rows: &'static str,
    age: Duration,
    /// So many are forgotten in one transaction.
    at_once: usize,
    delete: fn(&mut dyn Tx, before: Timestamp, limit: usize) -> Result<usize, StoreError>,
}

const RULES: [Rule; 7] = [
    Rule {
        rows: "answers to repeated requests",
        age: DAY,
        at_once: 500,
        delete: |tx, before, limit| tx.idempotency().delete_before(before, limit),
    },
    Rule {
        rows: "events",
        age: DAY.saturating_mul(7),
        at_once: 1000,
        delete: |tx, before, limit| {
            tx.engine_mut()
                .delete_events(InstanceScope::SYSTEM, before, EVENTS_KEPT, limit)
        },
    },
    Rule {
        rows: "wakes",
        age: DAY.saturating_mul(14),
        at_once: 500,
        delete: |tx, before, limit| {
            tx.engine_mut()
                .delete_wakes(InstanceScope::SYSTEM, before, limit)
        },
    },
    Rule {
        rows: "tickets",
        // The rows say themselves when they expire.
        age: Duration::ZERO,
        at_once: 500,
        delete: |tx, before, limit| tx.stream_tickets_mut().delete_before(before, limit),
    },
    Rule {
        rows: "sessions of the board",
        age: Duration::ZERO,
        at_once: 500,
        delete: |tx, before, limit| tx.board_sessions_mut().delete_before(before, limit),
    },
    Rule {
        rows: "links that sign in",
        age: Duration::ZERO,
        at_once: 500,
        delete: |tx, before, limit| tx.board_sessions_mut().delete_links_before(before, limit),
    },
    Rule {
        rows: "refusals of providers",
        age: ProviderGate::MEMORY,
        at_once: 500,
        delete: |tx, before, limit| {
            tx.sessions_mut()
                .delete_expired_gates(InstanceScope::SYSTEM, before, limit)
        },
    },
];

/// The pause where more is left than is forgotten at once.
const PAUSE: Duration = Duration::from_secs(1);

/// When each kind of row, and the logs, were last forgotten.
#[derive(Default)]
pub(crate) struct Retention {
    rows: [Option<Instant>; RULES.len()],
    logs: Option<Instant>,
    turn: Option<Instant>,
}

impl Retention {
    /// How long nothing is due.
    pub(crate) fn due_in(&self) -> Duration {
        let rows = self.rows.iter().map(|done| (done, EVERY));
        let dues = rows.chain([(&self.logs, HOUR)]);
        let rests = dues.map(|(done, every)| rest(*done, every));
        rests.min().unwrap_or(EVERY).max(rest(self.turn, PAUSE))
    }

    /// Forgets what is due. Errors are logged; the next turn tries again.
    pub(crate) async fn run(&mut self, state: &EngineState) {
        self.turn = Some(Instant::now());
        for (rule, done) in RULES.iter().zip(&mut self.rows) {
            if is_due(*done, EVERY) {
                let deleted = state
                    .store
                    .write(|tx, ctx| {
                        let before = ctx.now.minus(rule.age);
                        Ok((rule.delete)(tx, before, rule.at_once)?)
                    })
                    .await
                    .inspect_err(|error| {
                        tracing::error!(%error, cause = ?error, "old {} are not forgotten", rule.rows);
                    });
                // Where there were that many, there are more.
                if deleted.is_ok_and(|deleted| deleted >= rule.at_once) {
                    continue;
                }
                *done = Some(Instant::now());
            }
        }
        if is_due(self.logs, HOUR) {
            self.logs = Some(Instant::now());
            delete_logs(state).await;
        }
    }
}

/// Whether something that is to be done every so often is to be done now.
pub(crate) fn is_due(last: Option<Instant>, every: Duration) -> bool {
    rest(last, every).is_zero()
}

/// How long it is until then.
fn rest(last: Option<Instant>, every: Duration) -> Duration {
    last.map_or(Duration::ZERO, |last| every.saturating_sub(last.elapsed()))
}

async fn delete_logs(state: &EngineState) {
    let runs_dir = state.config.runs_dir.clone();
    let before = state.store.ports.clock.now().minus(LOG_AGE);
    let deleted = tokio::task::spawn_blocking(move || delete_before(&runs_dir, before)).await;
    if let Ok(Err(error)) = deleted {
        tracing::warn!(%error, "old logs are not forgotten");
    }
}
