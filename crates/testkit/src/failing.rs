//! A store that fails at one of the calls that it is asked, to show what becomes of the rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use tempfile::TempDir;
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
use workforce_infra::store::{DatabaseUrl, OpenOptions, open};

/// What failed, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedAt {
    /// A transaction did not begin: [`StoreError::Unavailable`].
    Beginning,
    /// A part of a transaction (`tx.agents()`, ...) was that of a database without tables:
    /// [`StoreError::Failed`].
    Part,
    /// A transaction lost its race when it was to be committed: [`StoreError::Contended`].
    Commit,
}

impl FailedAt {
    /// Whether a store says so when it fails here.
    #[must_use]
    pub const fn is_told_by(self, error: &StoreError) -> bool {
        match self {
            Self::Beginning => matches!(error, StoreError::Unavailable(_)),
            Self::Part => matches!(error, StoreError::Failed(_)),
            Self::Commit => matches!(error, StoreError::Contended),
        }
    }
}

/// A store that fails once, at a call chosen with [`fail_at`](Self::fail_at). The beginning of
/// each transaction is a call, as is each use of a part of it, and its commit.
pub struct FailingStore {
    // Dropped in this order: connections first.
    broken: Arc<dyn Store>,
    inner: Arc<dyn Store>,
    fault: Fault,
    _folder: TempDir,
}

impl FailingStore {
    /// A store that fails in front of another one, and does not yet.
    ///
    /// # Panics
    /// When there is no room for a database without tables.
    #[must_use]
    #[track_caller]
    pub fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
        let path = format!("{}/broken.db", folder.path().display());
        let broken = open(&DatabaseUrl::sqlite(&path), &OpenOptions::default())
            .unwrap_or_else(|error| panic!("failed to open {path}: {error:?}"));
        empty(&path).unwrap_or_else(|error| panic!("failed to empty {path}: {error}"));
        Arc::new(Self {
            broken,
            inner,
            fault: Fault::default(),
            _folder: folder,
        })
    }

    /// Fails at the `call`-th call from now on, counted from 1, and only at that.
    pub fn fail_at(&self, ctx: usize) {
        *self.fault.lock() = Progress {
            left: ctx,
            met: None,
        };
    }

    /// Counts calls from now on, and fails at none of them.
    pub fn count(&self) {
        self.fail_at(usize::MAX);
    }

    /// How many calls there were since [`count`](Self::count).
    #[must_use]
    pub fn calls(&self) -> usize {
        usize::MAX - self.fault.lock().left
    }

    /// Fails no more; what has failed since [`fail_at`](Self::fail_at).
    #[must_use]
    pub fn heal(&self) -> Option<FailedAt> {
        std::mem::take(&mut *self.fault.lock()).met
    }
}

impl Store for FailingStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.fault.begin()?;
        if !self.fault.is_ahead() {
            return self.inner.run_read(body);
        }
        self.broken.run_read(&mut |broken| {
            self.inner
                .run_read(&mut |inner| body(&mut Failing::reading(inner, broken, &self.fault)))
        })
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.fault.begin()?;
        if !self.fault.is_ahead() {
            return self.inner.run_write(body);
        }
        let mut has_lost = false;
        self.broken.run_write(&mut |broken| {
            self.inner.run_write(&mut |inner| {
                let verdict = body(&mut Failing::writing(inner, broken, &self.fault))?;
                has_lost =
                    matches!(verdict, Verdict::Commit) && self.fault.is_met(FailedAt::Commit);
                Ok(if has_lost { Verdict::RollBack } else { verdict })
            })?;
            Ok(Verdict::RollBack)
        })?;
        // Told out here, so that neither database runs the body again.
        if has_lost {
            Err(StoreError::Contended)
        } else {
            Ok(())
        }
    }

    fn feed(&self) -> &dyn EventFeed {
        self.inner.feed()
    }
}

/// Counts calls up to the one that fails.
#[derive(Default)]
struct Fault(Mutex<Progress>);

#[derive(Default)]
struct Progress {
    /// How many calls there are up to the one that fails; zero when none is to come.
    left: usize,
    met: Option<FailedAt>,
}

impl Fault {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ahead(&self) -> bool {
        self.lock().left > 0
    }

    /// Counts a call; true when it is the one that fails.
    fn is_met(&self, at: FailedAt) -> bool {
        let mut progress = self.lock();
        let is_met = progress.left == 1;
        progress.left = progress.left.saturating_sub(1);
        if is_met {
            progress.met = Some(at);
        }
        is_met
    }

    fn begin(&self) -> Result<(), StoreError> {
        if self.is_met(FailedAt::Beginning) {
            return Err(StoreError::Unavailable("the line is cut".into()));
        }
        Ok(())
    }
}

/// A transaction, and one on a database without tables, whose parts are handed out where the
/// fault is.
struct Failing<'a, T: ?Sized> {
    inner: &'a mut T,
    broken: &'a mut T,
    fault: &'a Fault,
}

impl<'a> Failing<'a, dyn Reads + 'a> {
    const fn reading(
        inner: &'a mut (dyn Reads + 'a),
        broken: &'a mut (dyn Reads + 'a),
        fault: &'a Fault,
    ) -> Self {
        Self {
            inner,
            broken,
            fault,
        }
    }
}

impl<'a> Failing<'a, dyn Tx + 'a> {
    const fn writing(
        inner: &'a mut (dyn Tx + 'a),
        broken: &'a mut (dyn Tx + 'a),
        fault: &'a Fault,
    ) -> Self {
        Self {
            inner,
            broken,
            fault,
        }
    }
}

impl<T: ?Sized> Failing<'_, T> {
    fn next(&mut self) -> &mut T {
        if self.fault.is_met(FailedAt::Part) {
            self.broken
        } else {
            self.inner
        }
    }
}

/// Hands out each of these parts.
macro_rules! parts {
    ($($name:ident: $port:ident),+ $(,)?) => {
        $(fn $name(&mut self) -> &mut dyn $port {
            self.next().$name()
        })+
    };
}

impl<T: Reads + ?Sized> Reads for Failing<'_, T> {
    parts! {
        companies: CompanyReads,
        agents: AgentReads,
        revisions: RevisionReads,
        instructions: InstructionReads,
        credentials: CredentialReads,
        board_tokens: BoardTokenReads,
        board_sessions: BoardSessionReads,
        stream_tickets: StreamTicketReads,
        goals: GoalReads,
        projects: ProjectReads,
        issues: IssueReads,
        labels: LabelReads,
        comments: CommentReads,
        attachments: AttachmentReads,
        approvals: ApprovalReads,
        execution_workspaces: ExecutionWorkspaceReads,
        pull_request_watches: PullRequestWatchReads,
        runs: RunReads,
        sessions: SessionReads,
        secrets: SecretReads,
        sealed: SealedReads,
        ledger: LedgerReads,
        activity: ActivityReads,
        engine: EngineReads,
    }
}

impl<T: Tx + ?Sized> Tx for Failing<'_, T> {
    parts! {
        companies_mut: CompanyWrites,
        agents_mut: AgentWrites,
        revisions_mut: RevisionWrites,
        instructions_mut: InstructionWrites,
        credentials_mut: CredentialWrites,
        board_tokens_mut: BoardTokenWrites,
        board_sessions_mut: BoardSessionWrites,
        stream_tickets_mut: StreamTicketWrites,
        goals_mut: GoalWrites,
        projects_mut: ProjectWrites,
        issues_mut: IssueWrites,
        labels_mut: LabelWrites,
        comments_mut: CommentWrites,
        approvals_mut: ApprovalWrites,
        attachments_mut: AttachmentWrites,
        execution_workspaces_mut: ExecutionWorkspaceWrites,
        pull_request_watches_mut: PullRequestWatchWrites,
        runs_mut: RunWrites,
        sessions_mut: SessionWrites,
        secrets_mut: SecretWrites,
        sealed_mut: SealedWrites,
        ledger_mut: LedgerWrites,
        idempotency: IdempotencyWrites,
        engine_mut: EngineWrites,
    }

    fn journal(&mut self) -> &mut dyn Journal {
        // It only gathers, which cannot fail; the commit can.
        self.inner.journal()
    }

    fn reads(&mut self) -> &mut dyn Reads {
        self
    }
}

/// The name of a table.
#[derive(QueryableByName)]
struct Table {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Removes every table of a SQLite file.
fn empty(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = SqliteConnection::establish(path)?;
    connection.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = OFF")?;
    // An index of texts takes the tables along that it keeps for itself.
    let tables: Vec<Table> = sql_query(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' \
         AND type IN ('virtual', 'table') AND name NOT LIKE 'sqlite_%'",
    )
    .load(&mut connection)?;
    for Table { name } in tables {
        connection.batch_execute(&format!("DROP TABLE \"{name}\""))?;
    }
    Ok(())
}
