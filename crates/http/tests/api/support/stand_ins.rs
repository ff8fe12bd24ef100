//! Ports that tests look into.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus, CheckedProgram};
use workforce_domain::forge::ForgeKind;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{
    AdapterCheckError, AdapterCheckFuture, AdapterChecks, AdapterToCheck, DeliveryFuture,
    DeliveryOutcome, EngineSignal, ForgeDelivery, ForgeWebhooks, LogError, LogPart, LogSlice,
    LogStream, RunLogs, StoreError,
};
use workforce_domain::time::Timestamp;

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
    is_held: AtomicBool,
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

    /// From now on no check ends.
    pub(crate) fn hold(&self) {
        self.is_held.store(true, Ordering::SeqCst);
    }

    /// All of them end.
    pub(crate) fn let_go(&self) {
        self.is_held.store(false, Ordering::SeqCst);
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
            while self.is_held.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(check)
        })
    }
}

/// Takes every message with the proof [`Webhooks::SIGNATURE`], once.
#[derive(Default)]
pub(crate) struct Webhooks {
    is_off: AtomicBool,
    fault: Mutex<Option<fn() -> StoreError>>,
    taken: Mutex<Vec<ForgeDelivery>>,
}

impl Webhooks {
    pub(crate) const SIGNATURE: &str = "sha256=0123";

    /// From now on no forge has a secret.
    pub(crate) fn switch_off(&self) {
        self.is_off.store(true, Ordering::SeqCst);
    }

    /// From now on its store fails in this way.
    pub(crate) fn break_store(&self, fault: fn() -> StoreError) {
        *self.fault.lock().unwrap() = Some(fault);
    }

    /// What was taken, oldest first.
    pub(crate) fn taken(&self) -> Vec<ForgeDelivery> {
        self.taken.lock().unwrap().clone()
    }
}

impl ForgeWebhooks for Webhooks {
    fn is_configured(&self, _forge: ForgeKind) -> bool {
        !self.is_off.load(Ordering::SeqCst)
    }

    fn take(&self, delivery: ForgeDelivery) -> DeliveryFuture<'_> {
        Box::pin(async move {
            if let Some(fault) = *self.fault.lock().unwrap() {
                return Err(fault());
            }
            if delivery.proof != Self::SIGNATURE {
                return Ok(DeliveryOutcome::Forged);
            }
            let mut taken = self.taken.lock().unwrap();
            let is_same = |other: &ForgeDelivery| {
                other.forge == delivery.forge && other.body == delivery.body
            };
            if taken.iter().any(is_same) {
                return Ok(DeliveryOutcome::Repeated);
            }
            taken.push(delivery);
            Ok(DeliveryOutcome::Taken)
        })
    }
}

/// Every run wrote the digits over and over, this many bytes: the first ten by
/// workforce and at an instant that nobody noted, then ten to standard output, one
/// second after 1970 began, ten to standard error, two seconds after, and so on.
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
        let total = self.length() as u64;
        let (start, end) = (offset.min(total), offset.saturating_add(limit).min(total));
        let mut parts = Vec::new();
        let mut begin = start;
        while begin < end {
            let ten = begin / 10;
            let until = end.min((ten + 1) * 10);
            parts.push(LogPart {
                at: (ten > 0).then(|| Timestamp::from_micros(ten as i64 * 1_000_000)),
                stream: [LogStream::System, LogStream::Stdout, LogStream::Stderr][ten as usize % 3],
                offset: begin,
                text: "0123456789"[begin as usize % 10..][..(until - begin) as usize].to_owned(),
            });
            begin = until;
        }
        Ok(LogSlice {
            parts,
            next_offset: end.max(offset),
            total,
        })
    }

    fn delete(&self, _company: CompanyId) -> Result<(), LogError> {
        self.resize(0);
        Ok(())
    }
}
