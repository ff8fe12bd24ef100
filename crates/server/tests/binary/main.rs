//! The real binary, started as a user would start it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "the binary under test is started as a process, and time is what the test waits for"
)]

mod agents;
mod board_tokens;
mod callers;
mod canaries;
mod command_line;
mod harness;
mod recovery;
mod secrets;
mod start_and_stop;
mod streams;
