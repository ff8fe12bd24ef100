//! What GitHub tells by itself. Whoever listens [verifies](verify) a delivery before it is
//! [read](parse), and takes what it says as a hint to look: deliveries are lost, come twice and
//! come late.

mod event;
mod signature;

pub use event::{Event, EventKind, parse};
pub use signature::verify;
