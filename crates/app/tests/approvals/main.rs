//! What the use cases of approvals promise (specification sections 3 and 4, contract sections
//! 3.2, 10.4 and 10.5).
#![expect(
    clippy::unwrap_used,
    reason = "what a test sets up is there, and a test that finds it missing ends"
)]

mod desk;
mod histories;
mod mentions;
mod timers;
mod wakes;
