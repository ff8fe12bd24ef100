use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use workforce_domain::forge::ForgeKind;
use workforce_domain::string_enum::StringEnum as _;
use workforce_domain::time::Timestamp;

/// So many messages are known again.
const KNOWN: usize = 4096;
/// So long one is known again. Forges that send a message once more do so sooner.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);

type Fingerprint = [u8; 32];

/// The messages of forges that were taken, so that none is taken twice. They are known
/// to this server alone, and until it ends.
#[derive(Debug, Default)]
pub(crate) struct TakenMessages {
    /// The oldest first, each with when it came.
    known: Mutex<VecDeque<(Fingerprint, Timestamp)>>,
}

impl TakenMessages {
    /// Notes a message whose sender is known; `None` if it was noted before. It is
    /// forgotten again unless [`Taking::finish`] is called: a forge may send once more
    /// what was not taken.
    pub(crate) fn begin(
        &self,
        forge: ForgeKind,
        body: &[u8],
        now: Timestamp,
    ) -> Option<Taking<'_>> {
        let fingerprint = fingerprint(forge, body);
        let mut known = self.known();
        while known
            .front()
            .is_some_and(|(_, at)| at.plus(KNOWN_FOR) <= now)
        {
            known.pop_front();
        }
        if known.iter().any(|(other, _)| *other == fingerprint) {
            return None;
        }
        if known.len() == KNOWN {
            known.pop_front();
        }
        known.push_back((fingerprint, now));
        Some(Taking {
            messages: self,
            fingerprint,
            is_finished: false,
        })
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<(Fingerprint, Timestamp)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that is being taken.
#[must_use]
#[derive(Debug)]
pub(crate) struct Taking<'a> {
    messages: &'a TakenMessages,
    fingerprint: Fingerprint,
    is_finished: bool,
}

impl Taking<'_> {
    /// What the message causes is done.
    pub(crate) fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let mut known = self.messages.known();
            known.retain(|(other, _)| *other != self.fingerprint);
        }
    }
}

fn fingerprint(forge: ForgeKind, body: &[u8]) -> Fingerprint {
    let mut digest = Sha256::new();
    digest.update(forge.as_str());
    // No word has this.
    digest.update([0]);
    digest.update(body);
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);
    const GITHUB: ForgeKind = ForgeKind::GitHub;

    /// Takes a message to its end; tells whether it was new.
    fn take(messages: &TakenMessages, forge: ForgeKind, body: &[u8], now: Timestamp) -> bool {
        let taking = messages.begin(forge, body, now);
        taking.map(Taking::finish).is_some()
    }

    #[test]
    fn a_message_is_taken_once_from_each_forge() {
        let messages = TakenMessages::default();
        for forge in ForgeKind::ALL {
            assert!(take(&messages, *forge, b"news", NOW), "{forge}");
            assert!(!take(&messages, *forge, b"news", NOW), "{forge}");
        }
        assert!(take(&messages, GITHUB, b"other news", NOW));
    }

    #[test]
    fn what_was_not_taken_may_come_again() {
        let messages = TakenMessages::default();
        let failing = messages.begin(GITHUB, b"news", NOW).expect("a new one");
        assert!(messages.begin(GITHUB, b"news", NOW).is_none());
        assert!(take(&messages, GITHUB, b"other news", NOW));
        drop(failing);
        assert!(take(&messages, GITHUB, b"news", NOW));
        assert!(!take(&messages, GITHUB, b"other news", NOW));
    }

    #[test]
    fn a_message_is_known_for_a_day() {
        let messages = TakenMessages::default();
        assert!(take(&messages, GITHUB, b"news", NOW));
        let almost = NOW.plus(KNOWN_FOR - Duration::from_secs(1));
        assert!(!take(&messages, GITHUB, b"news", almost));
        assert!(take(&messages, GITHUB, b"news", NOW.plus(KNOWN_FOR)));
    }

    #[test]
    fn only_the_newest_messages_are_known() {
        let messages = TakenMessages::default();
        for number in 0..=KNOWN {
            assert!(take(&messages, GITHUB, &number.to_le_bytes(), NOW));
        }
        assert_eq!(messages.known().len(), KNOWN);
        assert!(!take(&messages, GITHUB, &1_usize.to_le_bytes(), NOW));
        assert!(take(&messages, GITHUB, &0_usize.to_le_bytes(), NOW));
        assert_eq!(messages.known().len(), KNOWN);
    }
}
