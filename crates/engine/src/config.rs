use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::containment::ContainmentPlan;
use crate::default_cap::default_cap;
use crate::private_files::make_folder;
use crate::tickets::TicketSettings;
use workforce_domain::cost::PriceTable;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, RunId};
use workforce_domain::port::{Clock, Ids, InstructionFiles, Store, Tokens, Vault};
use workforce_guard::GuardFiles;
use workforce_guard::client::GuardProgram;
use workforce_http_caller::AddressRange;
use workforce_vitals::{StorageArea, Vitals};

/// The mode of a folder that its owner alone may use.
const OWNER_ONLY: u32 = 0o700;

/// Nobody else can take a run over on a store of its own: a restart may take this
/// long.
const EXCLUSIVE_PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The folder of the homes of agents, in the data folder.
const HOMES: &str = "agents";
/// The folder that servers keep runs in, there.
const RUNS: &str = "runs";
/// The folder of the worktrees of tickets, there.
pub(crate) const WORKTREES: &str = "worktrees";

/// Whether a folder of the data folder has parts that are the runs'. The engine
/// makes those in it as open as they must be.
pub(crate) fn is_way(name: &OsStr) -> bool {
    name == HOMES || name == RUNS || name == WORKTREES
}

/// Whose home folder agents have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentHome {
    /// That of the server's user.
    Shared,
    /// Each has one of its own, in the data folder.
    Private,
}

/// How an engine works.
#[derive(Clone)]
pub struct EngineConfig {
    /// This server among those that share the store; new with every start.
    pub instance: InstanceId,
    /// Where agents reach the API, without a path
    /// (docs/heartbeats.md#environment).
    pub api_url: String,
    /// The same for agents that run elsewhere, if it is not reached there under
    /// `api_url`.
    pub public_url: Option<String>,
    /// What agents may be called at beside public addresses
    /// (docs/heartbeats.md#addresses).
    pub http_allow: Vec<AddressRange>,
    /// Where the logs of runs are kept: `<runs_dir>/<company>/<run>.log`. The
    /// homes of agents lie beside it, in `agents`.
    pub runs_dir: PathBuf,
    /// At most so many runs are live at once on this server.
    pub instance_cap: usize,
    /// For how long a run stays this server's without a renewal.
    pub lease: Duration,
    /// How often the leases of live runs are renewed.
    pub renew_every: Duration,
    /// How often it is looked what there is to do where nothing says that there is something.
    pub poll_every: Duration,
    /// How long a shutdown waits for live runs to end by themselves.
    pub drain: Duration,
    /// How long a program may take to tell its version when it is checked.
    pub check_limit: Duration,
    /// Names of variables of the server that agents may see too.
    pub allowed_env: Vec<String>,
    /// The folder of the program `workforce`, which agents find in their `PATH`
    /// after all others.
    pub command_folder: Option<PathBuf>,
    /// What runs the guards of runs. With the argument `http-call` alone it calls an
    /// agent instead.
    pub guard: GuardProgram,
    /// What runs are kept from.
    pub containment: ContainmentPlan,
    /// Whose home folder agents have.
    pub agent_home: AgentHome,
    /// Whether a shutdown leaves live runs to the next start on the same folder.
    pub keep_runs: bool,
    /// Whether no other server uses the store: then whatever is live on it at
    /// the start was left by a dead predecessor.
    pub exclusive_store: bool,
    /// Servers that are gone for certain and whose processes were on this
    /// host: what they left is cleared away at the start. On an exclusive
    /// store the runs of every other server are ended, and the processes of these alone.
    pub predecessors: Vec<InstanceId>,
    /// The folder beneath which secrets may lie in files; none when `None`.
    pub secret_files: Option<PathBuf>,
    /// The vitals of this server. They keep the engine's tasks running, and no
    /// run starts while they report too little room.
    pub vitals: Vitals,
    /// Where room is looked for, on disks of this server.
    pub watched_folders: Vec<(StorageArea, PathBuf)>,
    /// How governed tickets are worked on.
    pub tickets: TicketSettings,
    /// The environment of the server, of which agents see the allowed part.
    pub server_environment: Vec<(OsString, OsString)>,
}

impl EngineConfig {
    /// A configuration with the usual times: a lease of 60 s renewed every
    /// 10 s, a look for what there is to do every 15 s, 30 s to drain, and 20 s to tell a
    /// version. The store counts as shared.
    pub fn new(
        instance: InstanceId,
        api_url: impl Into<String>,
        runs_dir: impl Into<PathBuf>,
        server_environment: impl IntoIterator<Item = (OsString, OsString)>,
        guard: GuardProgram,
    ) -> Self {
        let runs_dir = runs_dir.into();
        Self {
            tickets: TicketSettings::beside(&runs_dir),
            instance,
            api_url: api_url.into(),
            public_url: None,
            http_allow: Vec::new(),
            runs_dir,
            instance_cap: default_cap(),
            lease: Duration::from_secs(60),
            renew_every: Duration::from_secs(10),
            poll_every: Duration::from_secs(15),
            drain: Duration::from_secs(30),
            check_limit: Duration::from_secs(20),
            allowed_env: Vec::new(),
            command_folder: None,
            guard,
            containment: ContainmentPlan::default(),
            agent_home: AgentHome::Shared,
            keep_runs: false,
            exclusive_store: false,
            predecessors: Vec::new(),
            secret_files: None,
            vitals: Vitals::default(),
            watched_folders: Vec::new(),
            server_environment: server_environment.into_iter().collect(),
        }
    }

    /// At most so many runs are live at once, as the store counts.
    pub(crate) fn instance_cap(&self) -> i64 {
        i64::try_from(self.instance_cap).unwrap_or(i64::MAX)
    }

    /// Whether this server comes after another one, which is gone.
    pub(crate) fn is_predecessor(&self, instance: InstanceId) -> bool {
        self.exclusive_store || self.predecessors.contains(&instance)
    }

    /// For how long a run goes on without a server. On a shared store another
    /// server takes it over when its lease ends, and it must be gone by then.
    pub(crate) fn patience(&self) -> Duration {
        match self.exclusive_store {
            true => self.lease.max(EXCLUSIVE_PATIENCE),
            false => self.lease * 5 / 6,
        }
    }

    /// Where agents that run elsewhere reach the API, without a path.
    pub(crate) fn outside_url(&self) -> &str {
        self.public_url.as_deref().unwrap_or(&self.api_url)
    }

    /// Where the output of a run is kept.
    pub(crate) fn log_path(&self, company: CompanyId, run: RunId) -> PathBuf {
        log_path(&self.runs_dir, company, run)
    }

    /// Where a run is told about its project.
    pub(crate) fn context_path(&self, company: CompanyId, run: RunId) -> PathBuf {
        self.run_folder(company, run).join("project.md")
    }

    /// What a run has of its own beside its log, until it ends.
    pub(crate) fn run_folder(&self, company: CompanyId, run: RunId) -> PathBuf {
        self.runs_dir
            .join(company.to_string())
            .join(run.to_string())
    }

    /// Where a run puts what it needs for a while, if it may not do so elsewhere.
    pub(crate) fn temporary_folder(&self, company: CompanyId, run: RunId) -> Option<PathBuf> {
        let is_strict = self.containment.writable.is_some();
        is_strict.then(|| self.run_folder(company, run).join("tmp"))
    }

    /// Where the guard of a run has its files.
    pub(crate) fn guard_files(&self, company: CompanyId, run: RunId) -> GuardFiles {
        GuardFiles::of(self.guard_folder(company, run))
    }

    /// The folder of those.
    pub(crate) fn guard_folder(&self, company: CompanyId, run: RunId) -> PathBuf {
        self.run_folder(company, run).join("guard")
    }

    /// Where an agent works that has no other place.
    pub(crate) fn home_of(&self, agent: AgentId) -> PathBuf {
        self.homes().join(agent.to_string())
    }

    fn homes(&self) -> PathBuf {
        let parent = self.runs_dir.parent().unwrap_or(&self.runs_dir);
        parent.join(HOMES)
    }

    /// Makes the folder of a run, and the way there.
    pub(crate) fn make_run_folder(&self, company: CompanyId, run: RunId) -> io::Result<()> {
        let folder = self.run_folder(company, run);
        let of_company = folder.parent().unwrap_or(&folder);
        let way = [&*self.runs_dir, of_company, &folder];
        self.containment.owner().make_way(&way)
    }

    /// Makes the home of an agent, and the way there.
    pub(crate) fn make_home(&self, agent: AgentId) -> io::Result<PathBuf> {
        let (owner, home) = (self.containment.owner(), self.home_of(agent));
        owner.make_way(&[&self.homes()])?;
        make_folder(&home)?;
        owner.give_home(&home)?;
        // A run may have closed it to itself.
        let mode = fs::symlink_metadata(&home)?.permissions().mode();
        if mode & OWNER_ONLY != OWNER_ONLY {
            fs::set_permissions(&home, Permissions::from_mode(OWNER_ONLY))?;
        }
        Ok(home)
    }
}

/// The file of a run's output.
pub(crate) fn log_path(runs_dir: &Path, company: CompanyId, run: RunId) -> PathBuf {
    runs_dir
        .join(company.to_string())
        .join(format!("{run}.log"))
}

/// What the engine reaches the rest of the system through.
#[derive(Clone)]
pub struct Ports {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives out ids.
    pub ids: Arc<dyn Ids>,
    /// Makes credentials.
    pub tokens: Arc<dyn Tokens>,
    /// Seals what may not lie in plain text at rest.
    pub vault: Arc<dyn Vault>,
    /// What the models cost by list.
    pub prices: Arc<PriceTable>,
    /// The folders that external instructions are in.
    pub instructions: Arc<dyn InstructionFiles>,
}
