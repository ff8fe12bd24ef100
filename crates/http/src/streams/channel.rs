//! What the streams of one company read from: however many they are, new
//! events are read from the store once.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_web::web;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until};
use workforce_domain::activity::{Action, EventKind};
use workforce_domain::actor::CompanyScope;
use workforce_domain::port::{
    EventListener, EventSubscription, Failure, NumberedEvent, Store, StoreError,
};
use workforce_domain::string_enum::StringEnum;

use super::Frame;
use super::event_view::EventView;
use crate::problem::Problem;

/// So many events are read at a time.
const PIECE: usize = 100;
/// So many of the latest events are kept for streams that are up to date.
const RING: usize = 256;
/// And so many bytes of them.
const RING_BYTES: usize = 512 * 1024;
/// Under load events are gathered for so long, rather than read one by one.
const GATHER: Duration = Duration::from_millis(10);

/// One event, ready to be sent to any number of readers.
#[derive(Debug)]
pub(crate) struct EncodedEvent {
    pub(crate) number: i64,
    pub(crate) kind: EventKind,
    pub(crate) frame: Frame,
    /// Tells of something that may have ended a credential.
    pub(crate) ends_credentials: bool,
}

/// What follows a number.
#[derive(Debug)]
pub(crate) enum Batch {
    /// These events, in order, without a gap; none when the reader is up to
    /// date.
    Events(Vec<Arc<EncodedEvent>>),
    /// What follows is not kept any more.
    Lost,
}

/// The events of one company.
pub(crate) struct Channel {
    store: Arc<dyn Store>,
    company: CompanyScope,
    /// Counts how often there was reason to look.
    calls: Arc<Notifier>,
    ring: Mutex<Ring>,
    /// Kept for its end.
    subscription: OnceLock<Box<dyn EventSubscription>>,
}

/// Rung by the feed.
struct Notifier(watch::Sender<u64>);

impl EventListener for Notifier {
    fn notify(&self) {
        self.0.send_modify(|calls| *calls = calls.wrapping_add(1));
    }
}

/// The latest events.
#[derive(Default)]
struct Ring {
    /// The number before the oldest that is here.
    before: i64,
    events: VecDeque<Arc<EncodedEvent>>,
    bytes: usize,
    /// There was nothing more when the store was asked after so many calls.
    exhausted_at: Option<u64>,
    asked_at: Option<Instant>,
}

impl Ring {
    fn head(&self) -> i64 {
        self.events.back().map_or(self.before, |last| last.number)
    }

    /// What is here after `number`; `None` when that lies outside.
    fn after(&self, number: i64) -> Option<Vec<Arc<EncodedEvent>>> {
        if !(self.before..=self.head()).contains(&number) {
            return None;
        }
        let known = usize::try_from(number - self.before).unwrap_or(usize::MAX);
        Some(
            self.events
                .iter()
                .skip(known)
                .take(PIECE)
                .cloned()
                .collect(),
        )
    }

    fn restart(&mut self, before: i64) {
        *self = Self {
            before,
            ..Self::default()
        };
    }

    fn push(&mut self, event: Arc<EncodedEvent>) {
        self.bytes += event.frame.text().len();
        self.events.push_back(event);
        while self.events.len() > RING || (self.bytes > RING_BYTES && self.events.len() > 1) {
            if let Some(oldest) = self.events.pop_front() {
                self.bytes -= oldest.frame.text().len();
                self.before = oldest.number;
            }
        }
    }
}

impl Channel {
    pub(super) fn open(store: &Arc<dyn Store>, company: CompanyScope) -> Arc<Self> {
        let calls = Arc::new(Notifier(watch::Sender::new(0)));
        let listener = Arc::clone(&calls) as Arc<dyn EventListener>;
        let channel = Self {
            store: Arc::clone(store),
            company,
            calls,
            ring: Mutex::default(),
            subscription: OnceLock::new(),
        };
        let subscription = store.feed().subscribe(company.company(), listener);
        // It is new, so that nothing is there yet.
        drop(channel.subscription.set(subscription));
        Arc::new(channel)
    }

    /// Changes whenever there may be new events.
    pub(crate) fn calls(&self) -> watch::Receiver<u64> {
        self.calls.0.subscribe()
    }

    /// There may be new events although nobody told.
    pub(crate) fn call(&self) {
        self.calls.notify();
    }

    /// What follows `number`.
    pub(crate) async fn after(&self, number: i64) -> Result<Batch, Problem> {
        let mut ring = self.ring.lock().await;
        match ring.after(number) {
            Some(found) if !found.is_empty() => return Ok(Batch::Events(found)),
            Some(_up_to_date) => {}
            // Further back than what is kept here: no concern of the others.
            None if number < ring.before => {
                drop(ring);
                let found = self.read(number).await?;
                if found.is_empty() {
                    return Ok(Batch::Lost);
                }
                return Ok(in_order(number, found));
            }
            None => ring.restart(number),
        }
        if ring.exhausted_at == Some(*self.calls.0.borrow()) {
            return Ok(Batch::Events(Vec::new()));
        }
        if let Some(asked_at) = ring.asked_at {
            sleep_until(asked_at + GATHER).await;
        }
        ring.asked_at = Some(Instant::now());
        // Read before the store is, so that a call meanwhile is seen later.
        let calls = *self.calls.0.borrow();
        let found = self.read(number).await?;
        let is_all = found.len() < PIECE;
        let piece = in_order(number, found);
        if let Batch::Events(found) = &piece {
            ring.exhausted_at = is_all.then_some(calls);
            for event in found {
                ring.push(Arc::clone(event));
            }
        }
        Ok(piece)
    }

    async fn read(&self, after: i64) -> Result<Vec<Arc<EncodedEvent>>, Problem> {
        let (store, company) = (Arc::clone(&self.store), self.company);
        let read = move || {
            let found: Result<_, Failure<std::convert::Infallible>> =
                store.read(|reads| Ok(reads.activity().events(company, after, PIECE)?));
            match found {
                Ok(found) => found.into_iter().map(sent).collect(),
                Err(Failure::Store(error)) => Err(Problem::from(error)),
                Err(Failure::Refused(never)) => match never {},
            }
        };
        match web::block(read).await {
            Ok(found) => found,
            Err(panicked) => Err(StoreError::Failed(panicked.into()).into()),
        }
    }
}

/// The events after `number`, unless there is a gap before them: they are
/// forgotten from the oldest on.
fn in_order(number: i64, found: Vec<Arc<EncodedEvent>>) -> Batch {
    match found.first() {
        Some(first) if first.number != number + 1 => Batch::Lost,
        _ => Batch::Events(found),
    }
}

fn sent(numbered: NumberedEvent) -> Result<Arc<EncodedEvent>, Problem> {
    let (number, kind) = (numbered.sequence, numbered.event.kind);
    let ends_credentials = ends_credentials(&numbered);
    let frame = Frame::new(number, kind.as_str(), &EventView::from(numbered))
        .map_err(|error| Problem::internal(&error))?;
    Ok(Arc::new(EncodedEvent {
        number,
        kind,
        frame,
        ends_credentials,
    }))
}

/// The deeds after which somebody may have to stop reading.
fn ends_credentials(numbered: &NumberedEvent) -> bool {
    const ENDS: [Action; 3] = [
        Action::AgentKeyRevoked,
        Action::AgentTerminated,
        Action::HeartbeatFinished,
    ];
    let event = &numbered.event;
    event.kind == EventKind::ActivityLogged
        && event
            .payload
            .get("action")
            .and_then(|action| action.as_str())
            .is_some_and(|action| ENDS.iter().any(|end| end.as_str() == action))
}
