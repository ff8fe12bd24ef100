//! Looks what there is to do, for all tasks of the engine, so that each of them sleeps until
//! something is due (docs/heartbeats.md#what-nobody-asks-for).
//!
//! It is one statement that reads. It is made when something changed, on this server or another
//! one, when something comes to be due by itself, and now and then in any case: what another
//! server says may be lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::{Agenda, AgendaTerms, EventListener, StoreError};
use workforce_domain::time::{Month, Timestamp};

use crate::state::EngineState;
use crate::transactions::Notifiers;

/// However much changes, it is looked no more often than this.
pub(crate) const LOOK_PAUSE: Duration = Duration::from_secs(1);

/// What there was to do at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) at: Timestamp,
    agenda: Agenda,
    /// From when on a worktree may be removed.
    clean_up: Option<Timestamp>,
    /// When attempts of before that count as given up.
    attempts_before: Timestamp,
}

impl Reading {
    fn has_come(&self, instant: Option<Timestamp>) -> bool {
        instant.is_some_and(|instant| instant <= self.at)
    }

    pub(crate) fn has_expired_runs(&self) -> bool {
        self.has_come(self.agenda.lease)
    }

    pub(crate) fn has_timers(&self) -> bool {
        self.agenda.has_timers_to_set || self.has_come(self.agenda.beat)
    }

    pub(crate) fn has_obsolete_wakes(&self) -> bool {
        self.agenda.has_obsolete_wakes
    }

    pub(crate) fn has_advances(&self) -> bool {
        let left = self.agenda.attempt;
        self.has_come(self.agenda.advance) || left.is_some_and(|at| at < self.attempts_before)
    }

    pub(crate) fn has_questions(&self) -> bool {
        self.has_come(self.agenda.question)
    }

    pub(crate) fn has_upkeep(&self) -> bool {
        self.has_come(self.agenda.drift) || self.has_come(self.clean_up)
    }

    /// How long nothing comes to be due that this says nothing of. Nothing when something is due.
    fn pause(&self) -> Duration {
        let agenda = &self.agenda;
        if agenda.has_timers_to_set || agenda.has_obsolete_wakes {
            return Duration::ZERO;
        }
        let instants = [
            agenda.start,
            agenda.lease,
            agenda.beat,
            // It is given up after that instant.
            agenda.attempt.map(|at| at.plus(Duration::from_millis(1))),
            agenda.advance,
            agenda.question,
            agenda.drift,
            self.clean_up,
            // Budgets are those of a month.
            Some(Month::of(self.at).end()),
        ];
        let first = instants.into_iter().flatten().min();
        first.map_or(Duration::MAX, |first| first.since(self.at))
    }
}

/// The readings as they come.
#[derive(Debug)]
pub(crate) struct Readings {
    sender: watch::Sender<Option<Reading>>,
}

impl Default for Readings {
    fn default() -> Self {
        Self {
            sender: watch::Sender::new(None),
        }
    }
}

impl Readings {
    /// The latest, if there is one, and those from now on.
    pub(crate) fn follow(&self) -> Follower {
        let mut receiver = self.sender.subscribe();
        receiver.mark_changed();
        Follower(receiver)
    }
}

/// Follows the readings.
pub(crate) struct Follower(watch::Receiver<Option<Reading>>);

impl Follower {
    /// Waits for a reading that was not seen yet; the latest.
    pub(crate) async fn next(&mut self) -> Reading {
        loop {
            if self.0.changed().await.is_err() {
                // Nobody reads any more, so nothing will come.
                std::future::pending::<()>().await;
            }
            if let Some(reading) = *self.0.borrow_and_update() {
                return reading;
            }
        }
    }

    /// Waits for a reading that says that there is something to do.
    pub(crate) async fn until(&mut self, is_due: impl Fn(&Reading) -> bool) {
        while !is_due(&self.next().await) {}
    }
}

/// Tells that something changed.
struct Changes(Arc<Notifiers>);

impl EventListener for Changes {
    fn notify(&self) {
        self.0.changes.notify_one();
    }
}

/// Looks until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    let notifiers = Arc::clone(&state.store.notifiers);
    let changes = Arc::new(Changes(Arc::clone(&notifiers)));
    let _place = state.store.ports.store.feed().subscribe_to_all(changes);
    let (longest, shortest) = (state.config.poll_every, state.look_pause());
    while !state.closing.is_cancelled() {
        let next_look = Instant::now() + shortest;
        let pause = match read(&state).await {
            Ok(reading) => {
                state.readings.sender.send_replace(Some(reading));
                reading.pause()
            }
            Err(error) => {
                tracing::error!(%error, cause = ?error, "it is not known what there is to do");
                Duration::ZERO
            }
        };
        let changed = async {
            notifiers.changes.notified().await;
            sleep_until(next_look).await;
        };
        tokio::select! {
            biased;
            () = state.closing.cancelled() => return,
            () = changed => {}
            () = sleep(pause.clamp(shortest, longest)) => {}
        }
    }
}

async fn read(state: &EngineState) -> Result<Reading, StoreError> {
    let at = state.store.ports.clock.now();
    let age = state.config.tickets.worktree_age;
    let terms = AgendaTerms {
        now: at,
        ended_by: at.minus(age),
    };
    let agenda = state
        .store
        .read(move |reads| reads.engine().agenda(InstanceScope::SYSTEM, &terms))
        .await?;
    let later = agenda.ticket_ended.map(|ended| ended.plus(age));
    Ok(Reading {
        at,
        agenda,
        clean_up: [agenda.clean_up, later].into_iter().flatten().min(),
        attempts_before: state.attempts_before(at),
    })
}
