//! Answers that do not end: what open streams share (docs/events.md#ends).
//!
//! An open stream is a task of its own on the worker that accepted it. While
//! nothing happens it holds its connection, a bounded queue and a timer:
//! neither a thread nor a connection to the store.

mod channel;
mod end;
mod event_view;
mod frame;
mod frame_size_limiter;
mod sender;
mod socket;
mod stall;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use workforce_app::{Code, Codes};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::CompanyId;
use workforce_domain::port::Store;

pub(crate) use channel::{Batch, Channel, EncodedEvent};
pub(crate) use end::{CloseCause, ReaderGone};
pub(crate) use event_view::EventView;
pub(crate) use frame::{EVENT_STREAM, Frame, KEEP_ALIVE, preamble};
pub(crate) use sender::{EventSender, answer};
pub(crate) use socket::{UPGRADE, WebSocketSender, accept};

use crate::problem::Problem;

/// How many streams there may be, and how patient they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Open at once on this server.
    pub in_all: usize,
    /// Open at once by one caller.
    pub per_caller: usize,
    /// A comment is sent after so long without an event, so that nobody in
    /// between takes the connection for dead.
    pub keep_alive: Duration,
    /// The caller's credential is looked at so often, and so are the events of
    /// other servers, should nobody have told of them.
    pub recheck: Duration,
    /// A reader that takes nothing for so long is dropped.
    pub patience: Duration,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            in_all: 512,
            per_caller: 32,
            keep_alive: Duration::from_secs(15),
            recheck: Duration::from_secs(4),
            patience: Duration::from_secs(30),
        }
    }
}

/// The streams of a server.
pub struct Streams {
    limits: StreamLimits,
    closing: watch::Sender<bool>,
    table: Mutex<Table>,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Table {
    open: usize,
    of_callers: HashMap<String, usize>,
    channels: HashMap<CompanyId, Weak<Channel>>,
}

impl Streams {
    /// No streams yet.
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self {
            limits,
            closing: watch::Sender::new(false),
            table: Mutex::default(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Ends every stream at once and opens none any more: whoever stops the
    /// server does this first, so that nobody waits for streams to end.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        self.table().open
    }

    /// How many were dropped since their reader took nothing.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(crate) const fn limits(&self) -> StreamLimits {
        self.limits
    }

    /// Resolves when the streams are to end.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more stream of this caller.
    ///
    /// # Errors
    /// `too_many_streams`, `server_stopping`
    pub(crate) fn enter(self: &Arc<Self>, caller: &str) -> Result<Permit, Problem> {
        if *self.closing.borrow() {
            let detail = "the server stops and opens no streams any more";
            return Err(Problem::new(Code::ServerStopping, detail));
        }
        let mut table = self.table();
        let own = table.of_callers.get(caller).copied().unwrap_or(0);
        let refused = if own >= self.limits.per_caller {
            Some(("you", self.limits.per_caller))
        } else if table.open >= self.limits.in_all {
            Some(("this server", self.limits.in_all))
        } else {
            None
        };
        if let Some((whose, limit)) = refused {
            let detail = format!("{whose} may have {limit} streams open at once");
            return Err(Problem::new(Code::TooManyStreams, detail));
        }
        table.open += 1;
        *table.of_callers.entry(caller.to_owned()).or_default() += 1;
        Ok(Permit {
            streams: Arc::clone(self),
            caller: caller.to_owned(),
        })
    }

    /// What the streams of a company read from; the first of them opens it and
    /// the last one closes it.
    pub(crate) fn channel(&self, store: &Arc<dyn Store>, company: CompanyScope) -> Arc<Channel> {
        let mut table = self.table();
        let present = table.channels.get(&company.company());
        if let Some(channel) = present.and_then(Weak::upgrade) {
            return channel;
        }
        table
            .channels
            .retain(|_, channel| channel.strong_count() > 0);
        let channel = Channel::open(store, company);
        let weak = Arc::downgrade(&channel);
        table.channels.insert(company.company(), weak);
        channel
    }
}

/// What [`Streams::enter`] refuses with.
pub(crate) const ENTER: Codes = Codes::of(&[Code::ServerStopping, Code::TooManyStreams]);

/// The right to have a stream open; given back when dropped.
pub(crate) struct Permit {
    streams: Arc<Streams>,
    caller: String,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut table = self.streams.table();
        table.open -= 1;
        if let Some(own) = table.of_callers.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                table.of_callers.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_per_caller_and_in_all() {
        let streams = Arc::new(Streams::new(StreamLimits {
            in_all: 3,
            per_caller: 2,
            ..StreamLimits::default()
        }));
        let code = |caller: &str| streams.enter(caller).err().map(|problem| problem.code());
        let first = streams.enter("a").unwrap();
        let _second = streams.enter("a").unwrap();
        assert_eq!(code("a"), Some(Code::TooManyStreams));
        let _third = streams.enter("b").unwrap();
        assert_eq!(code("c"), Some(Code::TooManyStreams));
        drop(first);
        assert_eq!(streams.open(), 2);
        assert_eq!(code("a"), None);
        streams.close();
        assert_eq!(code("a"), Some(Code::ServerStopping));
    }
}
