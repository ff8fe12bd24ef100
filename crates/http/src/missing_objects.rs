//! Which attachments had no bytes when somebody asked for them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use workforce_domain::attachment::ObjectName;
use workforce_domain::port::ObjectError;

/// So many are remembered.
const MOST: usize = 1000;

/// The objects that were missing when they were last read, since the server started.
#[derive(Debug, Default)]
pub(crate) struct MissingObjects(Mutex<HashSet<ObjectName>>);

impl MissingObjects {
    /// Notes how the reading of an object went.
    pub(crate) fn note<T>(&self, object: ObjectName, read: &Result<T, ObjectError>) {
        let mut missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(_) => {
                missing.remove(&object);
            }
            Err(ObjectError::Missing(_)) if missing.len() < MOST => {
                missing.insert(object);
            }
            Err(_) => {}
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        let missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missing.len()
    }
}
