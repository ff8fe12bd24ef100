//! The real agent programs against the imitation. A program that is not installed leaves its tests
//! out; `cargo xtask agents --all` installs all of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agent;
mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;
mod processes;
mod script;
