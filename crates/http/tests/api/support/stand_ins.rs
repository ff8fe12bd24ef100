//! Ports that tests look into.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus, CheckedProgram};
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{
    AdapterCheckError, AdapterCheckFuture, AdapterChecks, AdapterToCheck, EngineSignal, LogError,
    LogSlice, RunLogs,
};

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

/// Finds nothing wrong with any adapter, and shows what it was asked about.
#[derive(Default)]
pub(crate) struct FitAdapters {
    asked: Mutex<Vec<AdapterToCheck>>,
    is_busy: AtomicBool,
}

impl FitAdapters {
    /// What was asked about, oldest first.
    pub(crate) fn asked(&self) -> Vec<AdapterToCheck> {
        self.asked.lock().unwrap().clone()
    }

    /// From now on there is no place for checks.
    pub(crate) fn fill(&self) {
        self.is_busy.store(true, Ordering::SeqCst);
    }
}

impl AdapterChecks for FitAdapters {
    fn check(&self, adapter: AdapterToCheck) -> AdapterCheckFuture<'_> {
        Box::pin(async move {
            if self.is_busy.load(Ordering::SeqCst) {
                return Err(AdapterCheckError::Busy);
            }
            let mut check = AdapterCheck::new(adapter.adapter_type);
            check.add(CheckName::Program, CheckStatus::Ok, "it is there");
            check.program = Some(CheckedProgram {
                path: "/usr/bin/program".into(),
                version: None,
                tested_version: None,
            });
            self.asked.lock().unwrap().push(adapter);
            Ok(check)
        })
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
