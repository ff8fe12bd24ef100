//! The unit of work.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardSessionReads, BoardSessionWrites, BoardTokenReads, BoardTokenWrites,
    CommentReads, CommentWrites, CompanyReads, CompanyWrites, Connections, CredentialReads,
    CredentialWrites, EngineReads, EngineWrites, EventFeed, ExecutionWorkspaceReads,
    ExecutionWorkspaceWrites, GoalReads, GoalWrites, IdempotencyWrites, InstructionReads,
    InstructionWrites, IssueReads, IssueWrites, Journal, LabelReads, LabelWrites, LedgerReads,
    LedgerWrites, ProjectReads, ProjectWrites, PullRequestWatchReads, PullRequestWatchWrites,
    RevisionReads, RevisionWrites, RunReads, RunWrites, SealedReads, SealedWrites, SecretReads,
    SecretWrites, SessionReads, SessionWrites, StreamTicketReads, StreamTicketWrites,
};
use crate::corrupt::Corrupt;
use crate::instructions::BundleFault;
use crate::lifecycle::{IllegalTransition, Lifecycle};

/// A failure of the store itself, not of a rule.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The transaction lost a race and may be run again. Seen by callers only
    /// when it lost every time.
    #[error("the store is contended")]
    Contended,
    /// The store cannot be reached.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The store has no room for what was to be written.
    #[error("the store is full")]
    Full(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The store was lost while it committed, and does not tell what became of
    /// the transaction: all of it was written, or nothing.
    #[error("the store does not tell whether the transaction was committed")]
    OutcomeUnknown(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// A constraint refused a write that the rules let through.
    #[error("the store refused a write: {constraint}")]
    Constraint {
        /// The constraint, as far as the database names it.
        constraint: String,
    },
    /// A stored record breaks a rule.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// Anything else.
    #[error("the store failed")]
    Failed(#[source] Box<dyn core::error::Error + Send + Sync>),
}

impl StoreError {
    /// Whether the same may go well later, without anybody's doing: the store was away, was
    /// busy or had no room.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Contended | Self::Unavailable(_) | Self::Full(_) | Self::OutcomeUnknown(_) => {
                true
            }
            Self::Constraint { .. } | Self::Corrupt(_) | Self::Failed(_) => false,
        }
    }
}

/// Why a use case did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// A rule refused it. Nothing was written.
    #[error(transparent)]
    Refused(E),
    /// The store failed. Nothing was written, save perhaps when it says that
    /// the outcome is not known.
    #[error("the store failed")]
    Store(#[source] StoreError),
}

impl<E> From<StoreError> for Failure<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<S: Lifecycle, E: From<IllegalTransition<S>>> From<IllegalTransition<S>> for Failure<E> {
    fn from(illegal: IllegalTransition<S>) -> Self {
        Self::Refused(illegal.into())
    }
}

impl<E: From<BundleFault>> From<BundleFault> for Failure<E> {
    fn from(fault: BundleFault) -> Self {
        Self::Refused(fault.into())
    }
}

impl<E> Failure<E> {
    /// The same failure with another refusal.
    pub fn map<F>(self, convert: impl FnOnce(E) -> F) -> Failure<F> {
        match self {
            Self::Refused(refusal) => Failure::Refused(convert(refusal)),
            Self::Store(error) => Failure::Store(error),
        }
    }
}

/// What a body tells the store to do with its transaction.
#[derive(Debug)]
pub enum Verdict {
    /// Keep what was written.
    Commit,
    /// Undo what was written.
    RollBack,
}

/// Reads within a read-only transaction: one consistent picture.
pub type ReadBody<'a> = dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + 'a;
/// Reads and writes within one transaction.
pub type WriteBody<'a> = dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + 'a;

/// Writes that are brought to a store together. They are numbered from 0.
pub trait WriteQueue: Send {
    /// Whether there is one with this number. A store asks for the next one when
    /// all before it have run. What was there stays, and may be run again; after
    /// a no, none is added.
    fn has(&mut self, which: usize) -> bool;

    /// Runs the body of one of them.
    ///
    /// # Errors
    /// What the body failed with.
    fn run(&mut self, which: usize, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// Told once what became of each, in their order, when what was written is
    /// durable. It may be told by a thread of the store, which it must not keep.
    fn end(self: Box<Self>, outcomes: Vec<Result<(), StoreError>>);
}

/// So long a reader waits for what it has seen to become durable. A store whose
/// disk does not answer for longer is called away: [`StoreError::Unavailable`].
pub const DURABLE_WITHIN: Duration = Duration::from_secs(5);

/// A transactional store. Call `read` and `write` of `dyn Store`; the methods
/// here are their object-safe cores.
///
/// A body may be run again after a lost race, a bounded number of times, so it
/// must not touch anything outside its transaction.
pub trait Store: Send + Sync {
    /// Runs `body` in a read-only transaction. All that it can have seen is
    /// durable when this returns.
    ///
    /// # Errors
    /// What the body or the store failed with, or [`StoreError::Unavailable`]
    /// when the disk refuses to keep that, or takes longer than [`DURABLE_WITHIN`].
    fn run_read(&self, body: &mut ReadBody<'_>) -> Result<(), StoreError>;

    /// The same, but what was seen may not be durable yet: nobody outside may
    /// be told of it before [`when_durable`](Self::when_durable). A store whose
    /// commits are durable before others see them need not tell the two apart.
    ///
    /// # Errors
    /// As [`run_read`](Self::run_read).
    fn run_early_read(&self, body: &mut ReadBody<'_>) -> Result<(), StoreError> {
        self.run_read(body)
    }

    /// Does `then` when all that can be seen now is durable: at once, or on a
    /// thread of the store, which it must not keep. A store that is away drops
    /// it undone.
    fn when_durable(&self, then: Box<dyn FnOnce() + Send>) {
        then();
    }

    /// Runs `body` in a transaction and commits it, durably, when the body says
    /// so. Returns only after the commit.
    ///
    /// # Errors
    /// What the body or the store failed with; then nothing was written, save
    /// perhaps with [`StoreError::OutcomeUnknown`].
    fn run_write(&self, body: &mut WriteBody<'_>) -> Result<(), StoreError>;

    /// Runs each of `writes` as [`run_write`](Self::run_write) does, one after
    /// the other and in as few commits as the store can, until there is none with
    /// the next number. Their end is told after the commits, perhaps later than
    /// this returns: others can be run while these become durable.
    fn run_writes(&self, mut writes: Box<dyn WriteQueue>) {
        let mut outcomes = Vec::new();
        while writes.has(outcomes.len()) {
            let which = outcomes.len();
            outcomes.push(self.run_write(&mut |tx| writes.run(which, tx)));
        }
        writes.end(outcomes);
    }

    /// Lets go of memory that is held only to make the next transactions faster.
    /// Waits for nobody: what is in use stays.
    fn give_memory_back(&self) {}

    /// Whether the store has one writer, so that writes that wait for it had
    /// better be handed to it together.
    fn has_one_writer(&self) -> bool {
        false
    }

    /// How its pool of connections is used; `None` when it has none.
    fn connections(&self) -> Option<Connections> {
        None
    }

    /// Tells of the events that transactions of this store, and of others on
    /// the same database, have committed.
    fn feed(&self) -> &dyn EventFeed;
}

impl dyn Store + '_ {
    /// Runs `body` in a read-only transaction.
    ///
    /// # Errors
    /// The body's refusal, or the store's failure.
    pub fn read<T, E>(
        &self,
        body: impl FnMut(&mut dyn Reads) -> Result<T, Failure<E>>,
    ) -> Result<T, Failure<E>> {
        read_by(|body| self.run_read(body), body)
    }

    /// The same, but what was seen may not be durable yet: nobody outside may
    /// be told of it before [`when_durable`](Store::when_durable).
    ///
    /// # Errors
    /// The body's refusal, or the store's failure.
    pub fn read_early<T, E>(
        &self,
        body: impl FnMut(&mut dyn Reads) -> Result<T, Failure<E>>,
    ) -> Result<T, Failure<E>> {
        read_by(|body| self.run_early_read(body), body)
    }

    /// Runs `body` in a transaction: committed when it returns `Ok`, undone
    /// when it refuses.
    ///
    /// # Errors
    /// The body's refusal, or the store's failure; nothing was written then,
    /// save perhaps with [`StoreError::OutcomeUnknown`].
    pub fn write<T, E>(
        &self,
        mut body: impl FnMut(&mut dyn Tx) -> Result<T, Failure<E>>,
    ) -> Result<T, Failure<E>> {
        let mut outcome = None;
        self.run_write(&mut |tx| match body(tx) {
            Err(Failure::Store(error)) => Err(error),
            other => {
                let verdict = if other.is_ok() {
                    Verdict::Commit
                } else {
                    Verdict::RollBack
                };
                outcome = Some(other);
                Ok(verdict)
            }
        })?;
        outcome.unwrap_or(Err(Failure::Store(StoreError::Contended)))
    }
}

/// Runs `body` by a core of a store, which knows nothing of refusals.
fn read_by<T, E>(
    run: impl FnOnce(&mut ReadBody<'_>) -> Result<(), StoreError>,
    mut body: impl FnMut(&mut dyn Reads) -> Result<T, Failure<E>>,
) -> Result<T, Failure<E>> {
    let mut outcome = None;
    run(&mut |reads| match body(reads) {
        Err(Failure::Store(error)) => Err(error),
        other => {
            outcome = Some(other);
            Ok(())
        }
    })?;
    outcome.unwrap_or(Err(Failure::Store(StoreError::Contended)))
}

/// Looks at the store. Each method hands out the reads of one aggregate.
pub trait Reads {
    /// Companies.
    fn companies(&mut self) -> &mut dyn CompanyReads;
    /// Agents.
    fn agents(&mut self) -> &mut dyn AgentReads;
    /// Revisions of the configuration of agents.
    fn revisions(&mut self) -> &mut dyn RevisionReads;
    /// Instructions of agents.
    fn instructions(&mut self) -> &mut dyn InstructionReads;
    /// Keys and run tokens.
    fn credentials(&mut self) -> &mut dyn CredentialReads;
    /// Tokens of the board.
    fn board_tokens(&mut self) -> &mut dyn BoardTokenReads;
    /// Sessions of the board.
    fn board_sessions(&mut self) -> &mut dyn BoardSessionReads;
    /// Tickets for streams of events.
    fn stream_tickets(&mut self) -> &mut dyn StreamTicketReads;
    /// Goals.
    fn goals(&mut self) -> &mut dyn GoalReads;
    /// Projects and workspaces.
    fn projects(&mut self) -> &mut dyn ProjectReads;
    /// Issues and their leases.
    fn issues(&mut self) -> &mut dyn IssueReads;
    /// Labels of issues.
    fn labels(&mut self) -> &mut dyn LabelReads;
    /// Comments on issues.
    fn comments(&mut self) -> &mut dyn CommentReads;
    /// Files attached to issues.
    fn attachments(&mut self) -> &mut dyn AttachmentReads;
    /// Approvals.
    fn approvals(&mut self) -> &mut dyn ApprovalReads;
    /// The worktrees of governed tickets.
    fn execution_workspaces(&mut self) -> &mut dyn ExecutionWorkspaceReads;
    /// The watches of their open pull requests.
    fn pull_request_watches(&mut self) -> &mut dyn PullRequestWatchReads;
    /// Runs and wakes.
    fn runs(&mut self) -> &mut dyn RunReads;
    /// Sessions of agents, and what keeps their accounts waiting.
    fn sessions(&mut self) -> &mut dyn SessionReads;
    /// Secrets and who uses them.
    fn secrets(&mut self) -> &mut dyn SecretReads;
    /// Everything that the vault sealed.
    fn sealed(&mut self) -> &mut dyn SealedReads;
    /// Costs and what they add up to.
    fn ledger(&mut self) -> &mut dyn LedgerReads;
    /// What happened.
    fn activity(&mut self) -> &mut dyn ActivityReads;
    /// What only the engine looks for.
    fn engine(&mut self) -> &mut dyn EngineReads;
}

/// Changes the store. What is locked here stays as it was read until the
/// transaction ends. Locks are taken in the order of [`Lock`](super::Lock);
/// with debug assertions a transaction that takes them in another panics.
pub trait Tx: Reads {
    /// Companies.
    fn companies_mut(&mut self) -> &mut dyn CompanyWrites;
    /// Agents.
    fn agents_mut(&mut self) -> &mut dyn AgentWrites;
    /// Revisions of the configuration of agents.
    fn revisions_mut(&mut self) -> &mut dyn RevisionWrites;
    /// Instructions of agents.
    fn instructions_mut(&mut self) -> &mut dyn InstructionWrites;
    /// Keys.
    fn credentials_mut(&mut self) -> &mut dyn CredentialWrites;
    /// Tokens of the board.
    fn board_tokens_mut(&mut self) -> &mut dyn BoardTokenWrites;
    /// Sessions of the board.
    fn board_sessions_mut(&mut self) -> &mut dyn BoardSessionWrites;
    /// Tickets for streams of events.
    fn stream_tickets_mut(&mut self) -> &mut dyn StreamTicketWrites;
    /// Goals.
    fn goals_mut(&mut self) -> &mut dyn GoalWrites;
    /// Projects and workspaces.
    fn projects_mut(&mut self) -> &mut dyn ProjectWrites;
    /// Issues and their leases.
    fn issues_mut(&mut self) -> &mut dyn IssueWrites;
    /// Labels of issues.
    fn labels_mut(&mut self) -> &mut dyn LabelWrites;
    /// Comments on issues.
    fn comments_mut(&mut self) -> &mut dyn CommentWrites;
    /// Approvals.
    fn approvals_mut(&mut self) -> &mut dyn ApprovalWrites;
    /// Files attached to issues.
    fn attachments_mut(&mut self) -> &mut dyn AttachmentWrites;
    /// The worktrees of governed tickets.
    fn execution_workspaces_mut(&mut self) -> &mut dyn ExecutionWorkspaceWrites;
    /// The watches of their open pull requests.
    fn pull_request_watches_mut(&mut self) -> &mut dyn PullRequestWatchWrites;
    /// Runs and wakes.
    fn runs_mut(&mut self) -> &mut dyn RunWrites;
    /// Sessions of agents, and what keeps their accounts waiting.
    fn sessions_mut(&mut self) -> &mut dyn SessionWrites;
    /// Secrets.
    fn secrets_mut(&mut self) -> &mut dyn SecretWrites;
    /// Everything that the vault sealed.
    fn sealed_mut(&mut self) -> &mut dyn SealedWrites;
    /// Costs.
    fn ledger_mut(&mut self) -> &mut dyn LedgerWrites;
    /// Answers kept for repeated requests.
    fn idempotency(&mut self) -> &mut dyn IdempotencyWrites;
    /// What happened in this transaction.
    fn journal(&mut self) -> &mut dyn Journal;
    /// What only the engine does.
    fn engine_mut(&mut self) -> &mut dyn EngineWrites;
    /// The reads of this transaction, which see its own writes.
    fn reads(&mut self) -> &mut dyn Reads;
}
