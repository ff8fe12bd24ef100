//! Taking values out of texts.
#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be built is a failed test"
)]

mod forms;
mod spread;
mod streams;
mod texts;
