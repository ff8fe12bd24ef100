//! What uploads and downloads share: how many there may be at once, and the
//! threads on which they wait for the place where bytes are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use actix_web::rt::time::timeout;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use workforce_app::Code;
use workforce_domain::attachment::AttachmentLimit;

use crate::blocking_threads::BlockingThreads;
use crate::problem::Problem;

/// Bounds of uploads (docs/issues.md#attachments).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// The most bytes that an attachment has, where its company does not say
    /// otherwise.
    pub attachment: AttachmentLimit,
    /// So many uploads are received at once.
    pub uploads_at_once: usize,
    /// So many of them from one caller, so that none keeps out all others.
    pub uploads_per_caller: usize,
    /// For how long a further one waits for its turn.
    pub patience: Duration,
}

impl Default for TransferLimits {
    /// 25 MiB each, eight at once and two of one caller, ten seconds of
    /// patience.
    fn default() -> Self {
        Self {
            attachment: AttachmentLimit::DEFAULT,
            uploads_at_once: 8,
            uploads_per_caller: 2,
            patience: Duration::from_secs(10),
        }
    }
}

/// Calls to the place of bytes that wait at once.
const CALLS: usize = 16;

pub(crate) struct Transfers {
    pub(crate) limits: TransferLimits,
    uploads: Arc<Semaphore>,
    of_callers: Mutex<HashMap<String, Weak<Semaphore>>>,
    calls: Semaphore,
    pub(crate) threads: BlockingThreads,
}

/// The right to receive an upload; given back when dropped.
pub(crate) struct UploadSlot {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Default for Transfers {
    fn default() -> Self {
        Self::new(TransferLimits::default())
    }
}

impl Transfers {
    pub(crate) fn new(limits: TransferLimits) -> Self {
        Self {
            limits,
            uploads: Arc::new(Semaphore::new(limits.uploads_at_once)),
            of_callers: Mutex::default(),
            calls: Semaphore::new(CALLS),
            threads: BlockingThreads::default(),
        }
    }

    /// The right to receive an upload of this caller.
    ///
    /// # Errors
    /// `busy` when there is none in time.
    pub(crate) async fn upload_slot(&self, caller: &str) -> Result<UploadSlot, Problem> {
        let own = self.uploads_of(caller);
        let turn = timeout(self.limits.patience, async {
            Ok::<_, AcquireError>(UploadSlot {
                _own: own.acquire_owned().await?,
                _of_all: Arc::clone(&self.uploads).acquire_owned().await?,
            })
        });
        turn.await.ok().and_then(Result::ok).ok_or_else(|| {
            let detail = "as many uploads as can be received at once are under way; try again";
            Problem::new(Code::Busy, detail)
        })
    }

    /// What the uploads of a caller take their turns from; kept as long as
    /// there are any.
    fn uploads_of(&self, caller: &str) -> Arc<Semaphore> {
        let mut of_callers = self
            .of_callers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = of_callers.get(caller).and_then(Weak::upgrade) {
            return own;
        }
        of_callers.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.limits.uploads_per_caller));
        of_callers.insert(caller.to_owned(), Arc::downgrade(&own));
        own
    }

    /// Runs a call that may wait for a disk or a network.
    ///
    /// # Errors
    /// `internal` when it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let runtime = self.threads.runtime();
        // The semaphore is never closed.
        let turn = self.calls.acquire().await;
        let _turn = turn.map_err(|closed| Problem::internal(&closed))?;
        let span = tracing::Span::current();
        let called = runtime.spawn_blocking(move || {
            let _entered = span.enter();
            call()
        });
        called
            .await
            .map_err(|panicked| Problem::internal(&panicked))
    }
}
