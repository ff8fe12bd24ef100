//! Places for requests that each take much of the server: so many at once, and
//! so many of one caller, so that none keeps out all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use actix_web::rt::time::timeout;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use workforce_app::Code;

use crate::problem::Problem;

/// Who sends without needing a credential; all of them share the places of one caller.
pub(crate) const ANYBODY: &str = "";

/// How many places there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLimits {
    /// So many at once.
    pub at_once: usize,
    /// So many of them for one caller.
    pub per_caller: usize,
    /// For how long a further one waits for its turn.
    pub patience: Duration,
}

/// Places of one kind.
pub(crate) struct Slots {
    what: &'static str,
    limits: SlotLimits,
    all: Arc<Semaphore>,
    of_callers: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place; given back when dropped.
pub(crate) struct Slot {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Slots {
    /// Places for `what`, a word in the plural that refusals name it by.
    pub(crate) fn new(what: &'static str, limits: SlotLimits) -> Self {
        Self {
            what,
            limits,
            all: Arc::new(Semaphore::new(limits.at_once)),
            of_callers: Mutex::default(),
        }
    }

    /// A place for this caller.
    ///
    /// # Errors
    /// `busy` when there is none in time.
    pub(crate) async fn take(&self, caller: &str) -> Result<Slot, Problem> {
        let own = self.of(caller);
        let turn = timeout(self.limits.patience, async {
            Ok::<_, AcquireError>(Slot {
                _own: own.acquire_owned().await?,
                _of_all: Arc::clone(&self.all).acquire_owned().await?,
            })
        });
        turn.await.ok().and_then(Result::ok).ok_or_else(|| {
            let what = self.what;
            let detail =
                format!("as many {what} as can be received at once are under way; try again");
            Problem::new(Code::Busy, detail)
        })
    }

    /// What a caller's requests take their turns from; kept as long as there
    /// are any.
    fn of(&self, caller: &str) -> Arc<Semaphore> {
        let mut of_callers = self
            .of_callers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = of_callers.get(caller).and_then(Weak::upgrade) {
            return own;
        }
        of_callers.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.limits.per_caller));
        of_callers.insert(caller.to_owned(), Arc::downgrade(&own));
        own
    }
}
