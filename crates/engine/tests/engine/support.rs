use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_app::activity_log::document;
use workforce_app::runs::InvokeOutcome;
use workforce_app::{Caller, Context, Failure, Signal, agents, companies, issues, runs};
use workforce_domain::Document;
use workforce_domain::actor::{Actor, InstanceScope, Scope};
use workforce_domain::board::BoardMember;
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::money::Budget;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{
    ClaimRequest, ClaimedRun, EventFeed, Reads, RunFilter, RunLogs, Store, StoreError, TokenKind,
    Tx, Verdict,
};
use workforce_domain::run::{ProcessRecord, Run, RunStatus};
use workforce_domain::text::{Name, Title};
use workforce_engine::{Engine, EngineConfig, EngineHandle, FileRunLogs, Ports};
use workforce_testkit::ports;
use workforce_testkit::store::{TestStore, sqlite_store};

/// Longer than any of the tests waits for anything.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const BOARD: Caller = Caller {
    actor: Actor::Board(BoardMember::Local),
    company_status: None,
};

/// A company, its store, and a folder for what its agents do.
pub(crate) struct House {
    pub(crate) ports: Ports,
    pub(crate) company: CompanyId,
    pub(crate) folder: TempDir,
    _store: TestStore,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::on(sqlite_store())
    }

    pub(crate) fn on(store: TestStore) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = Ports {
            store: store.shared(),
            clock: ports::clock(),
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            instructions: ports::instruction_files(folder.path()),
        };
        let company = act(&ports, |tx, ctx| {
            companies::create(tx, ctx, a_company("Acme"))
        })
        .company;
        Self {
            ports,
            company: company.id,
            folder,
            _store: store,
        }
    }

    /// A configuration that does not keep a test waiting.
    pub(crate) fn config(&self) -> EngineConfig {
        let environment = ["PATH", "HOME"]
            .into_iter()
            .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
        let mut config = EngineConfig::new(
            self.new_instance(),
            "http://127.0.0.1:3100",
            self.path("data/runs"),
            environment,
        );
        config.instance_cap = 8;
        config.renew_every = Duration::from_millis(100);
        config.poll_every = Duration::from_millis(50);
        config.drain = Duration::from_millis(100);
        config.exclusive_store = true;
        config
    }

    pub(crate) fn new_instance(&self) -> InstanceId {
        self.ports.ids.next().into()
    }

    pub(crate) fn start(&self) -> EngineHandle {
        self.start_with(self.config())
    }

    pub(crate) fn start_with(&self, config: EngineConfig) -> EngineHandle {
        Engine::start(config, self.ports.clone())
    }

    /// Starts an engine whose store can be taken away from it.
    pub(crate) fn start_fragile(&self, config: EngineConfig) -> (EngineHandle, Arc<FragileStore>) {
        let store = Arc::new(FragileStore {
            inner: Arc::clone(&self.ports.store),
            is_broken: AtomicBool::new(false),
        });
        let ports = Ports {
            store: Arc::clone(&store) as Arc<dyn Store>,
            ..self.ports.clone()
        };
        (Engine::start(config, ports), store)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a use case as the board.
    pub(crate) fn act<T, E: Debug>(
        &self,
        body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> T {
        act(&self.ports, body)
    }

    /// An agent of the `process` adapter. Its working directory is the folder.
    pub(crate) fn hire(&self, config: Value) -> AgentId {
        self.hire_with(config, |_| ())
    }

    pub(crate) fn hire_with(
        &self,
        config: Value,
        change: impl Fn(&mut agents::CreateAgent),
    ) -> AgentId {
        let mut config = document(config);
        if !config.contains_key("cwd") {
            config.insert("cwd".into(), json!(self.folder.path()));
        }
        config.retain(|_, value| !value.is_null());
        let mut command = agents::CreateAgent {
            name: Name::new("Ada").expect("a name"),
            role: None,
            title: None,
            icon: None,
            capabilities: None,
            reports_to: None,
            adapter_type: None,
            adapter_config: config,
            runtime_config: Document::new(),
            budget: Change::Keep,
            can_create_agents: None,
            metadata: Document::new(),
        };
        change(&mut command);
        self.act(|tx, ctx| agents::create(tx, ctx, self.company, command.clone()))
            .view
            .agent
            .id
    }

    /// An agent that runs a shell script.
    pub(crate) fn hire_shell(&self, script: &str) -> AgentId {
        self.hire(shell(script))
    }

    pub(crate) fn invoke(&self, agent: AgentId) -> InvokeOutcome {
        self.act(|tx, ctx| runs::invoke(tx, ctx, agent, Document::new()))
    }

    /// An issue that an agent is to work on.
    pub(crate) fn assign(
        &self,
        agent: AgentId,
        change: impl Fn(&mut issues::CreateIssue),
    ) -> IssueId {
        let mut command = issues::CreateIssue {
            title: Title::new("Build it").expect("a title"),
            description: None,
            status: Some(IssueStatus::Todo),
            priority: None,
            assignee_agent_id: Some(agent),
            assignee_user_id: None,
            parent_id: None,
            project_id: None,
            goal_id: None,
            billing_code: None,
            ticket_key: None,
            delegation: None,
            assignee_adapter_overrides: None,
            label_ids: Some(Vec::new()),
            request_key: None,
        };
        change(&mut command);
        self.act(|tx, ctx| issues::create(tx, ctx, self.company, command.clone()))
            .view
            .issue
            .id
    }

    pub(crate) fn run(&self, id: RunId) -> Run {
        self.act(|tx, ctx| runs::get(tx.reads(), ctx, id))
    }

    /// Every run of the company, newest first.
    pub(crate) fn runs(&self, statuses: &[RunStatus]) -> Vec<Run> {
        let filter = RunFilter {
            statuses: statuses.to_vec(),
            ..RunFilter::default()
        };
        self.act(|tx, ctx| {
            runs::list(
                tx.reads(),
                ctx,
                self.company,
                &filter,
                &PageRequest::first(),
            )
        })
        .items
    }

    pub(crate) fn live(&self) -> usize {
        self.runs(&[RunStatus::Running]).len()
    }

    /// Waits until a run has ended.
    pub(crate) async fn ended(&self, id: RunId) -> Run {
        eventually("the end of a run", || {
            Some(self.run(id)).filter(|run| run.status.is_terminal())
        })
        .await
    }

    /// Waits until every run has ended, oldest first.
    pub(crate) async fn all_ended(&self) -> Vec<Run> {
        let mut runs = eventually("the end of every run", || {
            Some(self.runs(&[])).filter(|runs| runs.iter().all(|run| run.status.is_terminal()))
        })
        .await;
        runs.reverse();
        runs
    }

    /// Waits for a file that a script writes in one go.
    pub(crate) async fn file(&self, name: &str) -> String {
        let path = self.path(name);
        eventually(name, || {
            std::fs::read_to_string(&path)
                .ok()
                .filter(|text| !text.is_empty())
        })
        .await
    }

    /// The process of a script that waits for `go`, once it does.
    pub(crate) async fn ready_process(&self) -> i32 {
        let ready = self.file("ready").await;
        ready.trim().parse().expect("a process id")
    }

    /// Lets scripts that wait for `go` go on.
    pub(crate) fn go(&self) {
        std::fs::write(self.path("go"), "").expect("a file");
    }

    pub(crate) fn log(&self, run: RunId) -> String {
        FileRunLogs::new(self.path("data/runs"))
            .read(self.company, run, 0, 1 << 20)
            .expect("a log")
            .content
    }

    /// The processes that are on record.
    pub(crate) fn processes(&self) -> Vec<ProcessRecord> {
        let nobody = self.new_instance();
        self.act(|tx, _| {
            Ok::<_, Failure<()>>(
                tx.engine()
                    .processes_elsewhere(InstanceScope::SYSTEM, nobody)?,
            )
        })
    }

    /// Claims the next run as another server would, with a lease of this
    /// length.
    pub(crate) fn claim_as(&self, instance: InstanceId, lease: Duration) -> ClaimedRun {
        let token_digest = self.ports.tokens.mint(TokenKind::Run).digest;
        self.act(|tx, ctx| {
            let request = ClaimRequest {
                instance,
                now: ctx.now,
                lease_until: ctx.now.plus(lease),
                token_digest,
                instance_cap: 100,
            };
            runs::start(tx, ctx, &request)
        })
        .expect("a run to claim")
    }

    /// Writes the process of a run of another server down.
    pub(crate) fn record(&self, instance: InstanceId, run: RunId, stray: &Stray) {
        let process = ProcessRecord {
            run,
            company: self.company,
            instance,
            pid: stray.pid(),
            process_group: stray.pid(),
            start_ticks: start_ticks(stray.pid()),
        };
        self.act(|tx, _| Ok::<_, Failure<()>>(tx.engine_mut().record_process(&process)?));
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.ports.store
    }

    /// The run with its own look-up, for what no use case shows.
    pub(crate) fn scope() -> Scope {
        Scope::SYSTEM
    }
}

pub(crate) fn act<T, E: Debug>(
    ports: &Ports,
    mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
) -> T {
    let signal = Signal::default();
    let ctx = Context {
        caller: &BOARD,
        now: ports.clock.now(),
        ids: &*ports.ids,
        tokens: &*ports.tokens,
        vault: &*ports.vault,
        strict_secrets: false,
        signal: &signal,
    };
    match ports.store.write(|tx| body(tx, &ctx)) {
        Ok(done) => done,
        Err(failure) => panic!("the board was refused: {failure:?}"),
    }
}

pub(crate) fn a_company(name: &str) -> companies::CreateCompany {
    companies::CreateCompany {
        name: Name::new(name).expect("a name"),
        description: None,
        budget_monthly_cents: Some(Budget::default()),
        require_board_approval_for_new_agents: None,
        review_required: Some(false),
        attachment_max_bytes: None,
        locale: None,
        brand_color: None,
    }
}

/// A configuration that runs a shell script.
pub(crate) fn shell(script: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", script], "graceSec": 0.3 })
}

/// A script that says `ready` by a file, and ends when it may go.
pub(crate) const UNTIL_GO: &str = "echo $$ > pid; mv pid ready; \
    while [ ! -e go ]; do sleep 0.02; done";

/// Waits for something to become true.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process executes: it is there and no zombie.
pub(crate) fn is_live(pid: i32) -> bool {
    fields(pid).is_some_and(|fields| !matches!(fields[0].as_str(), "Z" | "X"))
}

fn start_ticks(pid: i32) -> i64 {
    fields(pid).expect("a process")[19]
        .parse()
        .expect("a start time")
}

/// The fields of a process's status from the third on.
fn fields(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' ').map(str::to_owned).collect())
}

/// A store that cannot be reached while it is broken.
pub(crate) struct FragileStore {
    inner: Arc<dyn Store>,
    is_broken: AtomicBool,
}

impl FragileStore {
    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    fn reach(&self) -> Result<&dyn Store, StoreError> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("it is broken".into()));
        }
        Ok(&*self.inner)
    }
}

impl Store for FragileStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.reach()?.run_read(body)
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.reach()?.run_write(body)
    }

    fn feed(&self) -> &dyn EventFeed {
        self.inner.feed()
    }
}

/// A process that a server which is gone left behind.
pub(crate) struct Stray(std::process::Child);

impl Stray {
    pub(crate) fn of(run: RunId) -> Self {
        use std::os::unix::process::CommandExt;
        #[expect(
            clippy::disallowed_methods,
            reason = "it stands for another server's child"
        )]
        let mut command = std::process::Command::new("/bin/sleep");
        let child = command
            .arg("300")
            .env("WORKFORCE_RUN_ID", run.to_string())
            .process_group(0)
            .spawn();
        Self(child.expect("a process"))
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    pub(crate) fn is_live(&self) -> bool {
        is_live(self.pid())
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The variables in a copy of `/proc/<pid>/environ`, by name.
pub(crate) fn variables(path: &Path) -> std::collections::BTreeMap<String, String> {
    let bytes = std::fs::read(path).expect("an environment");
    String::from_utf8(bytes)
        .expect("text")
        .split_terminator('\0')
        .filter_map(|variable| variable.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

pub(crate) fn os(name: &str, value: &str) -> (OsString, OsString) {
    (name.into(), value.into())
}

/// An engine that is told of everything by its signal alone.
pub(crate) fn shared(engine: &EngineHandle) -> Arc<dyn workforce_domain::port::EngineSignal> {
    Arc::new(engine.clone())
}
