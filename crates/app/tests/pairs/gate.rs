//! A store whose transactions can be stopped on their way.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use workforce_domain::port::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardSessionReads, BoardSessionWrites, BoardTokenReads, BoardTokenWrites,
    CommentReads, CommentWrites, CompanyReads, CompanyWrites, CredentialReads, CredentialWrites,
    EngineReads, EngineWrites, EventFeed, ExecutionWorkspaceReads, ExecutionWorkspaceWrites,
    GoalReads, GoalWrites, IdempotencyWrites, InstructionReads, InstructionWrites, IssueReads,
    IssueWrites, Journal, LabelReads, LabelWrites, LedgerReads, LedgerWrites, ProjectReads,
    ProjectWrites, PullRequestWatchReads, PullRequestWatchWrites, Reads, RevisionReads,
    RevisionWrites, RunReads, RunWrites, SealedReads, SealedWrites, SecretReads, SecretWrites,
    SessionReads, SessionWrites, Store, StoreError, StreamTicketReads, StreamTicketWrites, Tx,
    Verdict,
};

/// Longer than any step of a test takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// What passes the gate last, when the body has ended well.
pub(crate) const COMMIT: &str = "commit";

/// Where a transaction can be stopped: before each look at what the writes of this test are
/// about, and before its commit.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

/// What passed the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) port: &'static str,
    /// Whether something was written or locked, or a transaction ended, since what passed before.
    pub(crate) is_after_write: bool,
}

#[derive(Default)]
struct State {
    passed: Vec<Passed>,
    has_written: bool,
    stop_at: Option<usize>,
    is_stopped: bool,
    is_over: bool,
    /// The state of a generator of random numbers; none where nobody is delayed.
    delays: Option<u64>,
}

impl Gate {
    /// Lets everybody through, from now on.
    pub(crate) fn open(&self) {
        *self.state() = State::default();
    }

    /// Stops the one who passes as number `place`, from 0.
    pub(crate) fn stop_at(&self, place: usize) {
        *self.state() = State {
            stop_at: Some(place),
            ..State::default()
        };
    }

    /// Keeps everybody for a little while, at random.
    pub(crate) fn delay(&self, seed: u64) {
        *self.state() = State {
            delays: Some(seed),
            ..State::default()
        };
    }

    /// Lets go who was stopped.
    pub(crate) fn release(&self) {
        self.state().stop_at = None;
        self.changed.notify_all();
    }

    /// Waits until somebody is stopped or the deed is over; true when somebody is stopped.
    pub(crate) fn somebody_is_stopped(&self) -> bool {
        let (state, late) = self
            .changed
            .wait_timeout_while(self.state(), PATIENCE, |it| !it.is_stopped && !it.is_over)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!late.timed_out(), "it neither stops nor ends");
        state.is_stopped
    }

    /// True when the deed is over.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Does a deed, and says that it is over however it ends.
    pub(crate) fn through<T>(&self, deed: impl FnOnce() -> T) -> T {
        struct Over<'g>(&'g Gate);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.state().is_over = true;
                self.0.changed.notify_all();
            }
        }
        let _over = Over(self);
        deed()
    }

    /// What has passed.
    pub(crate) fn passed(&self) -> Vec<Passed> {
        self.state().passed.clone()
    }

    /// Whether a transaction has come to its end.
    pub(crate) fn has_committed(&self) -> bool {
        self.state().passed.iter().any(|it| it.port == COMMIT)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a write that nobody is stopped before.
    fn writes(&self) {
        self.state().has_written = true;
    }

    fn pass(&self, port: &'static str) {
        let mut state = self.state();
        if let Some(seed) = &mut state.delays {
            // Marsaglia's xorshift.
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            let pause = Duration::from_micros(*seed % 800);
            drop(state);
            thread::sleep(pause);
            return;
        }
        let place = state.passed.len();
        let is_after_write = std::mem::replace(&mut state.has_written, is_write(port));
        state.passed.push(Passed {
            port,
            is_after_write,
        });
        if state.stop_at != Some(place) {
            return;
        }
        state.is_stopped = true;
        self.changed.notify_all();
        let (_state, late) = self
            .changed
            .wait_timeout_while(state, PATIENCE, |it| it.stop_at == Some(place))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!late.timed_out(), "nobody lets it go");
    }
}

/// Whether a port writes, takes locks or gives them back.
pub(crate) fn is_write(port: &str) -> bool {
    port.ends_with("_mut") || port == COMMIT
}

/// A store whose writing transactions pass a gate.
pub(crate) struct GatedStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) gate: Arc<Gate>,
}

impl Store for GatedStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.store.run_read(body)
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        let gate = &*self.gate;
        self.store.run_write(&mut |tx| {
            let verdict = body(&mut GatedTx { tx, gate })?;
            gate.pass(COMMIT);
            Ok(verdict)
        })
    }

    fn feed(&self) -> &dyn EventFeed {
        self.store.feed()
    }
}

struct GatedTx<'t> {
    tx: &'t mut dyn Tx,
    gate: &'t Gate,
}

/// Hands a port on; one that stands behind `stop` passes the gate before, one behind `note` is
/// noted there.
macro_rules! ports {
    (note $($name:ident: $port:ident),+ $(,)?) => {
        $(fn $name(&mut self) -> &mut dyn $port {
            self.gate.writes();
            self.tx.$name()
        })+
    };
    (stop $($name:ident: $port:ident),+ $(,)?) => {
        $(fn $name(&mut self) -> &mut dyn $port {
            self.gate.pass(stringify!($name));
            self.tx.$name()
        })+
    };
    ($($name:ident: $port:ident),+ $(,)?) => {
        $(fn $name(&mut self) -> &mut dyn $port {
            self.tx.$name()
        })+
    };
}

impl Reads for GatedTx<'_> {
    ports! { stop
        companies: CompanyReads,
        agents: AgentReads,
        issues: IssueReads,
        approvals: ApprovalReads,
        runs: RunReads,
        sessions: SessionReads,
        ledger: LedgerReads,
        execution_workspaces: ExecutionWorkspaceReads,
        pull_request_watches: PullRequestWatchReads,
    }
    ports! {
        revisions: RevisionReads,
        instructions: InstructionReads,
        credentials: CredentialReads,
        board_tokens: BoardTokenReads,
        board_sessions: BoardSessionReads,
        stream_tickets: StreamTicketReads,
        goals: GoalReads,
        projects: ProjectReads,
        labels: LabelReads,
        comments: CommentReads,
        attachments: AttachmentReads,
        secrets: SecretReads,
        sealed: SealedReads,
        activity: ActivityReads,
        engine: EngineReads,
    }
}

impl Tx for GatedTx<'_> {
    ports! { stop
        companies_mut: CompanyWrites,
        agents_mut: AgentWrites,
        credentials_mut: CredentialWrites,
        issues_mut: IssueWrites,
        approvals_mut: ApprovalWrites,
        runs_mut: RunWrites,
        sessions_mut: SessionWrites,
        ledger_mut: LedgerWrites,
        execution_workspaces_mut: ExecutionWorkspaceWrites,
        pull_request_watches_mut: PullRequestWatchWrites,
        engine_mut: EngineWrites,
    }
    ports! { note
        revisions_mut: RevisionWrites,
        instructions_mut: InstructionWrites,
        board_tokens_mut: BoardTokenWrites,
        board_sessions_mut: BoardSessionWrites,
        stream_tickets_mut: StreamTicketWrites,
        goals_mut: GoalWrites,
        projects_mut: ProjectWrites,
        labels_mut: LabelWrites,
        comments_mut: CommentWrites,
        attachments_mut: AttachmentWrites,
        secrets_mut: SecretWrites,
        sealed_mut: SealedWrites,
        idempotency: IdempotencyWrites,
        journal: Journal,
    }

    fn reads(&mut self) -> &mut dyn Reads {
        self
    }
}
