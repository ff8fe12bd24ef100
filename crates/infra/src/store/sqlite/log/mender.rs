//! The log is mended as soon as the disk takes it again.
//!
//! The writer mends it before the next transaction, but there may be none for long, and until then
//! nobody can read.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::{self, Thread};

use workforce_domain::port::{StoreError, Verdict};
use workforce_vitals::Supervisor;

use super::flush::Flushes;
use crate::store::sqlite::writer::Writer;

/// The task's name among those that are supervised.
const TASK: &str = "mend";
/// So long it waits after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// The thread that has the log mended, until dropped.
pub(in crate::store::sqlite) struct Mender {
    closing: Arc<AtomicBool>,
    thread: Thread,
}

impl Mender {
    /// Starts the thread, for what `writer` commits and `flushes` flushes.
    pub(in crate::store::sqlite) fn start(
        writer: Weak<Writer>,
        flushes: Arc<Flushes>,
        supervisor: Supervisor,
    ) -> io::Result<Self> {
        let closing = Arc::<AtomicBool>::default();
        let of_thread = Arc::clone(&closing);
        let thread = thread::Builder::new().name(TASK.into()).spawn(move || {
            flushes.awake_when_refused(thread::current());
            let is_closing = || of_thread.load(Ordering::SeqCst);
            supervisor.keep_thread(TASK, is_closing, || {
                let mut is_told = false;
                while !is_closing() {
                    if !flushes.has_failed() {
                        is_told = false;
                        thread::park();
                    } else if let Err(error) = mend(&writer) {
                        if !is_told {
                            tracing::warn!(%error, cause = ?error, "the log is not mended yet");
                            is_told = true;
                        }
                        thread::park_timeout(RETRY);
                    }
                }
            });
        })?;
        Ok(Self {
            closing,
            thread: thread.thread().clone(),
        })
    }
}

impl Drop for Mender {
    /// Does not wait for the thread: it may wait for the one that drops this.
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Runs a transaction that changes nothing: before it, the log is mended.
fn mend(writer: &Weak<Writer>) -> Result<(), StoreError> {
    let ran = writer
        .upgrade()
        .map(|writer| writer.run(&mut |_tx| Ok(Verdict::RollBack)));
    ran.map_or(Ok(()), |ended| ended.map(drop))
}
