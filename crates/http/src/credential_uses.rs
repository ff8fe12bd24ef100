use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use workforce_app::authenticate::StoredCredential;
use workforce_domain::port::{Failure, Store, StoreError};
use workforce_domain::time::Timestamp;

const MINUTE: i64 = 60 * 1_000_000;

/// Gathers which credentials were used, to within a minute, so that a request
/// that only reads need not write.
#[derive(Debug, Default)]
pub struct CredentialUses(Mutex<Uses>);

#[derive(Debug, Default)]
struct Uses {
    pending: HashMap<StoredCredential, Timestamp>,
    /// The minute last stored per credential.
    stored: HashMap<StoredCredential, i64>,
}

impl CredentialUses {
    /// At most so many credentials are remembered; what comes beyond waits for the
    /// next use after a flush.
    pub const CAPACITY: usize = 10_000;

    /// Notes that a credential was used.
    pub fn note(&self, used: StoredCredential, at: Timestamp) {
        let mut uses = self.lock();
        if uses.stored.get(&used) == Some(&minute(at)) {
            return;
        }
        if uses.pending.len() < Self::CAPACITY || uses.pending.contains_key(&used) {
            let latest = uses.pending.entry(used).or_insert(at);
            *latest = at.max(*latest);
        }
    }

    /// Stores what was gathered; how many credentials it was. What cannot be stored
    /// is kept for the next flush.
    pub fn flush(&self, store: &dyn Store) -> Result<usize, StoreError> {
        let pending = std::mem::take(&mut self.lock().pending);
        if pending.is_empty() {
            return Ok(0);
        }
        let rows: Vec<_> = pending.into_iter().collect();
        let (mut keys, mut tokens, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
        for (used, at) in &rows {
            match used {
                StoredCredential::AgentKey(key) => keys.push((*key, *at)),
                StoredCredential::BoardToken(token) => tokens.push((*token, *at)),
                StoredCredential::BoardSession(session) => sessions.push((*session, *at)),
            }
        }
        let outcome = store.write(|tx| -> Result<(), Failure<Never>> {
            tx.credentials_mut().note_key_use(&keys)?;
            tx.board_tokens_mut().note_use(&tokens)?;
            Ok(tx.board_sessions_mut().note_use(&sessions)?)
        });
        let mut uses = self.lock();
        match outcome {
            Ok(()) => {
                if uses.stored.len() + rows.len() > Self::CAPACITY {
                    uses.stored.clear();
                }
                uses.stored
                    .extend(rows.iter().map(|(key, at)| (*key, minute(*at))));
                Ok(rows.len())
            }
            Err(Failure::Store(error)) => {
                for (key, at) in rows {
                    let latest = uses.pending.entry(key).or_insert(at);
                    *latest = at.max(*latest);
                }
                Err(error)
            }
            Err(Failure::Refused(never)) => match never {},
        }
    }

    fn lock(&self) -> MutexGuard<'_, Uses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The refusal of what is never refused.
#[derive(Debug)]
enum Never {}

const fn minute(at: Timestamp) -> i64 {
    at.micros().div_euclid(MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use workforce_domain::id::CompanyId;
    use workforce_domain::port::{EventFeed, EventListener, EventSubscription, Reads, Tx, Verdict};

    /// A store that cannot be reached, or that must not be asked.
    struct Broken;

    impl Store for Broken {
        fn run_read(
            &self,
            _body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
        ) -> Result<(), StoreError> {
            Err(StoreError::Contended)
        }

        fn run_write(
            &self,
            _body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
        ) -> Result<(), StoreError> {
            Err(StoreError::Contended)
        }

        fn feed(&self) -> &dyn EventFeed {
            self
        }
    }

    impl EventFeed for Broken {
        fn subscribe(
            &self,
            _company: CompanyId,
            _listener: Arc<dyn EventListener>,
        ) -> Box<dyn EventSubscription> {
            Box::new(Self)
        }

        fn subscribe_to_all(
            &self,
            _listener: Arc<dyn EventListener>,
        ) -> Box<dyn EventSubscription> {
            Box::new(Self)
        }
    }

    impl EventSubscription for Broken {}

    fn key(number: u128) -> StoredCredential {
        StoredCredential::AgentKey(uuid::Uuid::from_u128(number).into())
    }

    #[test]
    fn a_failed_flush_loses_nothing_and_later_uses_win() {
        let uses = CredentialUses::default();
        uses.note(key(1), Timestamp::from_micros(5));
        uses.note(key(1), Timestamp::from_micros(9));
        uses.note(key(1), Timestamp::from_micros(7));
        assert!(uses.flush(&Broken).is_err());
        assert_eq!(
            uses.lock().pending.get(&key(1)),
            Some(&Timestamp::from_micros(9))
        );
    }

    #[test]
    fn nothing_gathered_does_not_ask_the_store() {
        assert_eq!(CredentialUses::default().flush(&Broken).ok(), Some(0));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let uses = CredentialUses::default();
        for number in 0..CredentialUses::CAPACITY as u128 + 100 {
            uses.note(key(number), Timestamp::from_micros(1));
        }
        assert_eq!(uses.lock().pending.len(), CredentialUses::CAPACITY);
    }
}
