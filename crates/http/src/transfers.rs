//! What uploads and downloads share: how many there may be at once, and the
//! threads on which they wait for the place where bytes are kept.

use std::time::Duration;

use tokio::sync::Semaphore;
use workforce_domain::attachment::AttachmentLimit;

use crate::blocking_threads::BlockingThreads;
use crate::problem::Problem;
use crate::slots::{SlotLimits, Slots};

/// Bounds of uploads (docs/issues.md#attachments).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// The most bytes that an attachment has, where its company does not say
    /// otherwise.
    pub attachment: AttachmentLimit,
    /// How many uploads are received at once.
    pub uploads: SlotLimits,
}

impl Default for TransferLimits {
    /// 25 MiB each, eight at once and two of one caller, ten seconds of
    /// patience.
    fn default() -> Self {
        Self {
            attachment: AttachmentLimit::DEFAULT,
            uploads: SlotLimits {
                at_once: 8,
                per_caller: 2,
                patience: Duration::from_secs(10),
            },
        }
    }
}

/// Calls to the place of bytes that wait at once.
const CALLS: usize = 16;

pub(crate) struct Transfers {
    pub(crate) limits: TransferLimits,
    pub(crate) uploads: Slots,
    calls: Semaphore,
    pub(crate) threads: BlockingThreads,
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
            uploads: Slots::new("uploads", limits.uploads),
            calls: Semaphore::new(CALLS),
            threads: BlockingThreads::default(),
        }
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
