use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Lets one caller at a time do something about a key. Not every forge refuses a second pull
/// request that comes while it makes the first.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Mutex<HashSet<String>>,
    given_back: Condvar,
}

/// A turn, which ends when this is dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    key: String,
}

impl Turns {
    /// Waits until nobody else has the turn for this key.
    pub(crate) fn take(&self, key: String) -> Turn<'_> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.insert(key.clone()) {
            let waited = self.given_back.wait(taken);
            taken = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Turn { turns: self, key }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let taken = self.turns.taken.lock();
        taken
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
        self.turns.given_back.notify_all();
    }
}
