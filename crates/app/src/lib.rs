//! The use cases of workforce: one plain synchronous function each, which
//! takes an open transaction, the call it serves and a command, and answers
//! with a value or a refusal.
//!
//! Everything a use case causes (rows, wakes, activity, events) is written in
//! the transaction it is given. Nothing here knows HTTP, a database or an
//! asynchronous runtime.

pub mod access;
pub mod activity;
pub mod activity_log;
pub mod agents;
mod approval_records;
pub mod approvals;
pub mod attachments;
pub mod attention;
pub mod authenticate;
pub mod board_sessions;
pub mod board_tokens;
pub mod budgets;
mod changes;
pub mod compaction;
pub mod companies;
pub mod context;
pub mod conventions;
pub mod costs;
pub mod dashboard;
mod denied;
mod digest;
pub mod disk_alerts;
pub mod events;
mod given_back;
pub mod goals;
pub mod issues;
pub mod labels;
pub mod login_links;
pub mod masking;
pub mod mentions;
pub mod projects;
pub mod prompt;
pub mod pull_requests;
pub mod refusal;
pub mod runs;
pub mod secrets;
pub mod stream_tickets;
pub mod tickets;
pub mod timers;
pub mod wakes;

pub use context::{Caller, Context, Signal};
pub use refusal::{Code, Codes, Refusal};
pub use workforce_domain::port::Failure;
