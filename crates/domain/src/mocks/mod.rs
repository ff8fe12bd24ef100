//! Mocks of the ports, with the feature `mocks`: what another program does with the rules is
//! tested without a store.
//!
//! A mock has the name of what it stands for: [`MockIssues`] is both [`IssueReads`] and
//! [`IssueWrites`], [`MockClock`] is a [`Clock`]. [`MockTx`] is a whole transaction of them, and
//! [`MockStore`] runs bodies in it. Each is told what to expect before it is used, panics when it
//! is called otherwise, and again when it is dropped before all that it expects has come, as
//! [`mockall`] says.
//!
//! A locking read gives out a [`Locked`] record. In a mock, which nobody shares,
//! [`Locked::assume_locked`] makes one.
//!
//! ```
//! use workforce_domain::id::IssueId;
//! use workforce_domain::issue::{IssueStatus, Mover};
//! use workforce_domain::lifecycle::IllegalTransition;
//! use workforce_domain::mocks::{MockClock, MockTx};
//! use workforce_domain::prelude::*;
//! # use uuid::Uuid;
//! # use workforce_domain::board::Author;
//! # use workforce_domain::issue::NewIssue;
//! # use workforce_domain::text::Title;
//!
//! /// What another program does with the rules: it lets an agent finish its work.
//! fn finish(
//!     tx: &mut dyn Tx,
//!     clock: &dyn Clock,
//!     actor: &Actor,
//!     id: IssueId,
//! ) -> Result<bool, Failure<IllegalTransition<IssueStatus>>> {
//!     let Some(mut issue) = tx.issues_mut().lock(actor.scope(), &id.into())? else {
//!         return Ok(false);
//!     };
//!     let moved = issue
//!         .progress
//!         .transition_to(Mover::Agent, IssueStatus::Done, clock.now())?;
//!     issue.progress = moved.progress;
//!     tx.issues_mut().save(&issue)?;
//!     Ok(true)
//! }
//!
//! # let id = IssueId::from(Uuid::from_u128(1));
//! # let new = NewIssue {
//! #     id,
//! #     company: Uuid::from_u128(2).into(),
//! #     prefix: "ACME",
//! #     number: 1,
//! #     title: Title::parse("Write the report").unwrap(),
//! #     status: IssueStatus::InProgress,
//! #     created_by: Author::System,
//! #     now: Timestamp::from_micros(0),
//! # };
//! # let issue = Issue::new(new);
//! let mut clock = MockClock::new();
//! clock.expect_now().return_const(Timestamp::from_micros(60_000_000));
//! let mut tx = MockTx::default();
//! tx.issues
//!     .expect_lock()
//!     .return_once(move |_, _| Ok(Some(Locked::assume_locked(issue))));
//! tx.issues
//!     .expect_save()
//!     .withf(|issue| issue.status() == IssueStatus::Done)
//!     .once()
//!     .returning(|_| Ok(()));
//! assert!(finish(&mut tx, &clock, &Actor::System, id).unwrap());
//! ```
//!
//! [`Clock`]: crate::port::Clock
//! [`IssueReads`]: crate::port::IssueReads
//! [`IssueWrites`]: crate::port::IssueWrites
//! [`Locked`]: crate::port::Locked
//! [`Locked::assume_locked`]: crate::port::Locked::assume_locked

mod agents;
mod approvals;
mod attachments;
mod board_sessions;
mod board_tokens;
mod companies;
mod engine;
mod execution_workspaces;
mod goals;
mod idempotency;
mod instructions;
mod issues;
mod journal;
mod labels;
mod ledger;
mod projects;
mod pull_request_watches;
mod revisions;
mod runs;
mod sealed;
mod secrets;
mod sessions;
mod store;
mod stream_tickets;
mod tx;

pub use agents::{MockAgents, MockCredentials};
pub use approvals::MockApprovals;
pub use attachments::MockAttachments;
pub use board_sessions::MockBoardSessions;
pub use board_tokens::MockBoardTokens;
pub use companies::MockCompanies;
pub use engine::MockEngine;
pub use execution_workspaces::MockExecutionWorkspaces;
pub use goals::MockGoals;
pub use idempotency::MockIdempotency;
pub use instructions::MockInstructions;
pub use issues::{MockComments, MockIssues};
pub use journal::MockActivity;
pub use labels::MockLabels;
pub use ledger::MockLedger;
pub use projects::MockProjects;
pub use pull_request_watches::MockPullRequestWatches;
pub use revisions::MockRevisions;
pub use runs::MockRuns;
pub use sealed::MockSealed;
pub use secrets::MockSecrets;
pub use sessions::MockSessions;
pub use store::MockStore;
pub use stream_tickets::MockStreamTickets;
pub use tx::MockTx;

pub use crate::port::{
    MockAdapterChecks, MockClock, MockEngineSignal, MockEventFeed, MockEventListener,
    MockEventSubscription, MockForgeWebhooks, MockGovernedWork, MockIds, MockInstructionFiles,
    MockJournal, MockObjectStore, MockObjectWriter, MockRunLogs, MockTextScrubber, MockTokens,
    MockVault,
};
