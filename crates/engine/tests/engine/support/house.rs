//! A company whose agents run.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_app::activity_log::document;
use workforce_app::runs::InvokeOutcome;
use workforce_app::{Context, Failure, agents, companies, issues, runs};
use workforce_domain::Document;
use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ClaimRequest, ClaimedRun, RunFilter, RunLogs, Store, TokenKind, Tx};
use workforce_domain::run::{ProcessRecord, Run, RunStatus};
use workforce_domain::text::{Name, Title};
use workforce_engine::{Engine, EngineConfig, EngineHandle, FileRunLogs, Ports};
use workforce_guard::client::GuardProgram;
use workforce_testkit::guards::kill_guards;
use workforce_testkit::ports;
use workforce_testkit::store::{TestStore, sqlite_store};

use super::processes::{Stray, start_ticks};
use super::{FragileStore, a_company, act, eventually, shell};

/// The guard that belongs to the engine under test.
fn guard_program() -> GuardProgram {
    GuardProgram {
        file: env!("CARGO_BIN_EXE_workforce-guard").into(),
        arguments: Vec::new(),
    }
}

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
            prices: ports::prices(),
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
            guard_program(),
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
        let store = Arc::new(FragileStore::over(Arc::clone(&self.ports.store)));
        let ports = Ports {
            store: Arc::clone(&store) as Arc<dyn Store>,
            ..self.ports.clone()
        };
        (Engine::start(config, ports), store)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same, for a server that follows those on a store of this kind.
    pub(crate) fn start_after(&self, predecessors: &[InstanceId], exclusive: bool) -> EngineHandle {
        let mut config = self.config();
        config.exclusive_store = exclusive;
        config.predecessors = predecessors.to_vec();
        self.start_with(config)
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
            name: Name::parse("Ada").expect("a name"),
            allow_same_name: true,
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
            title: Title::parse("Build it").expect("a title"),
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
            execution_workspace_id: None,
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

    /// The same for programs that take their time.
    pub(crate) async fn all_ended_within(&self, time: Duration) -> Vec<Run> {
        let begun = std::time::Instant::now();
        while begun.elapsed() < time && self.live() + self.runs(&[RunStatus::Queued]).len() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.all_ended().await
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
            .content()
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

/// Runs are not kept beyond their test.
impl Drop for House {
    fn drop(&mut self) {
        kill_guards(self.folder.path());
    }
}
