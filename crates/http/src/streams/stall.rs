//! Whether a reader takes what is handed to it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// What the sending and the receiving end of a stream know of each other. Both
/// belong to tasks of one thread, so that nothing comes between a piece that is
/// handed over and the note of it.
#[derive(Clone, Debug, Default)]
pub(super) struct StallDetector {
    /// Since when something waits that the reader could take; it begins anew
    /// with whatever is taken.
    waits_since: Arc<Mutex<Option<Instant>>>,
}

impl StallDetector {
    fn set(&self, change: impl FnOnce(&mut Option<Instant>)) {
        change(
            &mut self
                .waits_since
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    fn waits_since(&self) -> Option<Instant> {
        *self
            .waits_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece was handed over.
    pub(super) fn handed(&self) {
        self.set(|since| {
            since.get_or_insert_with(Instant::now);
        });
    }

    /// The reader took something; `more` says whether something still waits.
    pub(super) fn taken(&self, more: bool) {
        self.set(|since| *since = more.then(Instant::now));
    }

    /// Resolves when the reader has taken nothing for so long although
    /// something waited.
    pub(super) async fn lost(&self, patience: Duration) {
        loop {
            let now = Instant::now();
            // What comes meanwhile waits no longer than until the next look.
            let until = self.waits_since().unwrap_or(now) + patience;
            if until <= now && self.waits_since().is_some() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_from_what_was_handed_first_to_what_is_taken_last() {
        let attention = StallDetector::default();
        assert_eq!(attention.waits_since(), None);
        attention.handed();
        let first = attention.waits_since().unwrap();
        attention.handed();
        assert_eq!(attention.waits_since(), Some(first));
        attention.taken(true);
        assert!(attention.waits_since() >= Some(first));
        attention.taken(false);
        assert_eq!(attention.waits_since(), None);
    }
}
