//! What is read from the output of agent programs, and how they are called.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails like the test itself"
)]

mod claude;
mod claude_usage;
mod codex;
mod codex_usage_file;
mod command_lines;
mod cursor;
mod cuts;
mod damaged;
mod events;
mod failures;
mod gemini;
mod hostile;
mod numbers;
mod opencode;
mod pi;
mod recording;
mod reset_times;
mod settings;
mod transcripts;
