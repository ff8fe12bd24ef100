//! Telling other servers of new events, and hearing of theirs: LISTEN and
//! NOTIFY on one connection of its own.
//!
//! PostgreSQL commits transactions that notify one after the other, whatever
//! they are about. So a transaction that causes events does not notify. After
//! its commit it hands its companies to this thread, which notifies of all that
//! were gathered meanwhile in one short transaction. If the server dies in
//! between, nobody is told; listeners still find the events, since they look
//! at the table every few seconds.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use diesel::connection::SimpleConnection;
use diesel::sql_types::{Array, Integer, Text};
use diesel::{PgConnection, QueryableByName, RunQueryDsl, sql_query};
use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, EventListener, EventSubscription};
use workforce_vitals::Supervisor;

use super::open::connect;
use crate::store::feed::Listeners;
use crate::store::pool::ConnectError;

/// Servers meet here; the payload is a company's id.
const CHANNEL: &str = "workforce_events";
/// How often a listening connection is read: nothing wakes the thread when a
/// notification arrives.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// The same while nobody listens to one company: then no stream waits, but the engine.
const LOOK_AT_LEISURE: Duration = Duration::from_millis(250);
/// Events of this time share one notification.
const GATHER: Duration = Duration::from_millis(25);
/// How often a listening connection is tried with a query: one that was cut
/// looks like one on which nothing happens.
const TRY_EVERY: Duration = Duration::from_secs(15);
/// After a failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The feed of a server that may share its database with others.
pub(super) struct NotificationListener {
    local: Listeners,
    inbox: Arc<Inbox>,
}

#[derive(Default)]
struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Companies that other servers are to be told of.
    unannounced: BTreeSet<CompanyId>,
    /// Somebody began to listen.
    called: bool,
    closing: bool,
}

impl State {
    fn is_idle(&self) -> bool {
        self.unannounced.is_empty() && !self.called && !self.closing
    }
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to tell, and with `time` no longer than
    /// that; `None` when the store was closed.
    fn wait(&self, time: Option<Duration>) -> Option<BTreeSet<CompanyId>> {
        let (state, idle) = (self.state(), |state: &mut State| state.is_idle());
        let mut state = match time {
            Some(time) => {
                let waited = self.changed.wait_timeout_while(state, time, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self
                .changed
                .wait_while(state, idle)
                .unwrap_or_else(PoisonError::into_inner),
        };
        state.called = false;
        (!state.closing).then(|| core::mem::take(&mut state.unannounced))
    }

    /// Keeps what could not be told, and waits; true when the store was closed
    /// meanwhile.
    fn keep(&self, unannounced: BTreeSet<CompanyId>, pause: Duration) -> bool {
        let mut state = self.state();
        state.unannounced.extend(unannounced);
        let waited = self
            .changed
            .wait_timeout_while(state, pause, |state| !state.closing);
        waited.unwrap_or_else(PoisonError::into_inner).0.closing
    }
}

impl NotificationListener {
    /// Starts the thread. It connects when there is something to tell or
    /// somebody who listens.
    pub(super) fn start(url: String, supervisor: Supervisor) -> std::io::Result<Self> {
        let local = Listeners::default();
        let inbox = Arc::<Inbox>::default();
        let (listeners, shared) = (local.clone(), Arc::clone(&inbox));
        thread::Builder::new()
            .name("event-relay".into())
            .spawn(move || {
                let is_closing = || shared.state().closing;
                supervisor.keep_thread("event-relay", is_closing, || {
                    run(&url, &listeners, &shared);
                });
            })?;
        Ok(Self { local, inbox })
    }

    /// Has the thread listen.
    fn call(&self) {
        self.inbox.state().called = true;
        self.inbox.changed.notify_one();
    }

    /// Tells everybody that events of these companies were committed here.
    pub(super) fn notify(&self, companies: &[CompanyId]) {
        if companies.is_empty() {
            return;
        }
        self.local.notify(companies);
        let mut state = self.inbox.state();
        let asleep = state.unannounced.is_empty();
        state.unannounced.extend(companies.iter().copied());
        drop(state);
        if asleep {
            self.inbox.changed.notify_one();
        }
    }
}

impl EventFeed for NotificationListener {
    fn subscribe(
        &self,
        company: CompanyId,
        listener: Arc<dyn EventListener>,
    ) -> Box<dyn EventSubscription> {
        let subscription = self.local.subscribe(company, listener);
        self.call();
        subscription
    }

    fn subscribe_to_all(&self, listener: Arc<dyn EventListener>) -> Box<dyn EventSubscription> {
        let subscription = self.local.subscribe_to_all(listener);
        self.call();
        subscription
    }
}

impl Drop for NotificationListener {
    fn drop(&mut self) {
        self.inbox.state().closing = true;
        self.inbox.changed.notify_one();
    }
}

/// The thread's work until the store is closed.
fn run(url: &str, local: &Listeners, inbox: &Inbox) {
    let mut link: Option<Link> = None;
    let mut pause = FIRST_PAUSE;
    loop {
        // While it listens, the thread reads notifications in between;
        // otherwise it sleeps until it is called.
        let listening = local.is_any() || link.as_ref().is_some_and(|link| link.listening);
        let every = match local.is_any_of_one() {
            true => LOOK_EVERY,
            false => LOOK_AT_LEISURE,
        };
        let Some(unannounced) = inbox.wait(listening.then_some(every)) else {
            return;
        };
        match serve(url, &mut link, &unannounced, local) {
            Ok(()) => {
                pause = FIRST_PAUSE;
                if !unannounced.is_empty() {
                    thread::sleep(GATHER);
                }
            }
            Err(error) => {
                link = None;
                tracing::warn!(%error, "servers do not hear of each other's events at the moment");
                if inbox.keep(unannounced, pause) {
                    return;
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Tells what there is to tell and hears what there is to hear.
fn serve(
    url: &str,
    link: &mut Option<Link>,
    unannounced: &BTreeSet<CompanyId>,
    local: &Listeners,
) -> Result<(), ConnectError> {
    let wanted = local.is_any();
    let link = match link {
        Some(link) => link,
        None if unannounced.is_empty() && !wanted => return Ok(()),
        none => none.insert(Link::open(url)?),
    };
    link.notify(unannounced)?;
    if link.listen(wanted)? {
        // Nobody was told of what happened before.
        local.notify_all();
    }
    link.hear(local)
}

/// The connection.
struct Link {
    conn: PgConnection,
    backend: i32,
    listening: bool,
    tried_at: Instant,
}

#[derive(QueryableByName)]
struct Backend {
    #[diesel(sql_type = Integer)]
    pid: i32,
}

impl Link {
    fn open(url: &str) -> Result<Self, ConnectError> {
        let mut conn = connect(url)?;
        // Nothing is stored here, so there is no flush to wait for.
        conn.batch_execute("SET synchronous_commit = off")?;
        let backend: Backend = sql_query("SELECT pg_backend_pid() AS pid").get_result(&mut conn)?;
        Ok(Self {
            conn,
            backend: backend.pid,
            listening: false,
            tried_at: Instant::now(),
        })
    }

    fn notify(&mut self, companies: &BTreeSet<CompanyId>) -> Result<(), ConnectError> {
        if companies.is_empty() {
            return Ok(());
        }
        let companies: Vec<String> = companies.iter().map(ToString::to_string).collect();
        sql_query("SELECT pg_notify($1, company) FROM unnest($2) AS company")
            .bind::<Text, _>(CHANNEL)
            .bind::<Array<Text>, _>(companies)
            .execute(&mut self.conn)?;
        self.tried_at = Instant::now();
        Ok(())
    }

    /// Begins or ends to listen; true when it has just begun.
    fn listen(&mut self, wanted: bool) -> Result<bool, ConnectError> {
        if wanted == self.listening {
            return Ok(false);
        }
        let verb = if wanted { "LISTEN" } else { "UNLISTEN" };
        self.conn.batch_execute(&format!("{verb} {CHANNEL}"))?;
        self.listening = wanted;
        self.tried_at = Instant::now();
        Ok(wanted)
    }

    fn hear(&mut self, local: &Listeners) -> Result<(), ConnectError> {
        if !self.listening {
            return Ok(());
        }
        if self.tried_at.elapsed() > TRY_EVERY {
            self.conn.batch_execute("SELECT 1")?;
            self.tried_at = Instant::now();
        }
        let mut companies = BTreeSet::new();
        for notification in self.conn.notifications_iter() {
            let notification = notification?;
            // Listeners on this server were woken without the database.
            if notification.process_id != self.backend
                && let Ok(company) = notification.payload.parse()
            {
                companies.insert(company);
            }
        }
        local.notify(&companies.into_iter().collect::<Vec<CompanyId>>());
        Ok(())
    }
}
