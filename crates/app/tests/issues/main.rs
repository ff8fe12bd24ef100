//! What the use cases of issues promise (docs/issues.md).
#![expect(
    clippy::unwrap_used,
    reason = "what a test sets up is there, and a test that finds it missing ends"
)]

mod approvals;
mod assignment;
mod attachments;
mod checkout;
mod coalescing;
mod comments;
mod deeds;
mod expectations;
mod governed;
mod histories;
mod instants;
mod list;
mod parents;
mod patches;
mod plain_reviews;
mod racing;
mod references;
mod release;
mod review;
mod review_walk;
mod reviews;
mod rights;
mod scene;
mod stuck;
mod ticket;
mod transitions;
mod verdicts;
