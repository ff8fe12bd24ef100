//! Ports that tests look into.

use std::sync::atomic::{AtomicUsize, Ordering};

use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{EngineSignal, LogError, LogSlice, RunLogs};

/// Counts how often the engine was told.
#[derive(Default)]
pub(crate) struct Signals(AtomicUsize);

impl Signals {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl EngineSignal for Signals {
    fn nudge(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Every run wrote the digits over and over, this many bytes.
pub(crate) struct Digits(AtomicUsize);

impl Digits {
    pub(super) fn new(length: usize) -> Self {
        Self(AtomicUsize::new(length))
    }

    /// From now on the logs are this long here.
    pub(crate) fn resize(&self, length: usize) {
        self.0.store(length, Ordering::SeqCst);
    }

    /// How long each of them is.
    pub(crate) fn length(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl RunLogs for Digits {
    fn read(
        &self,
        _company: CompanyId,
        _run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError> {
        let mut log = "0123456789".repeat(10);
        log.truncate(self.length());
        let total = log.len() as u64;
        let (start, end) = (offset.min(total), offset.saturating_add(limit).min(total));
        let content = log[start as usize..end as usize].to_owned();
        Ok(LogSlice {
            content,
            next_offset: end,
            total,
        })
    }

    fn delete(&self, _company: CompanyId) -> Result<(), LogError> {
        self.resize(0);
        Ok(())
    }
}
