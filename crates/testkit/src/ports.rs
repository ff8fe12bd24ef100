//! The real clock, ids and credentials, for tests of crates that reach them as ports only.

use std::sync::Arc;

use workforce_domain::port::{Clock, Ids, Tokens};
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::tokens::RandomTokens;

/// The clock of the operating system.
#[must_use]
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// Ids that ascend.
#[must_use]
pub fn ids() -> Arc<dyn Ids> {
    Arc::new(UuidV7Ids::new(SystemClock))
}

/// Credentials made of randomness.
#[must_use]
pub fn tokens() -> Arc<dyn Tokens> {
    Arc::new(RandomTokens)
}
