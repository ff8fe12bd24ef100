//! What a server and a guard say to each other: one JSON document a line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use workforce_agent_programs::{
    AgentProgram, Conclusion, MicroCents, SessionId, TokenUsage, UsageBaseline,
};
use workforce_domain::id::RunId;
use workforce_domain::run::RunErrorCode;

use crate::containment::{Containment, Means};
use crate::environment::ChildEnvironment;
use crate::launch::LaunchError;
use crate::log::LogSummary;
use crate::process::ProcessIdentity;
use crate::resource_limits::ResourceLimits;
use crate::run_as::RunAs;
use crate::survey::Survey;

/// All that a guard is told about its run. It goes through a socket, never
/// through a file, an argument or a variable: it holds secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The run.
    pub run: RunId,
    /// The fencing number that it was claimed with.
    pub fence: i64,
    /// The folder of the guard's own files; see [`GuardFiles`](crate::GuardFiles).
    pub folder: PathBuf,
    /// A program's name, looked up in the `PATH` of `environment`, or a path,
    /// relative to `cwd`.
    pub program: OsString,
    /// The arguments after the program's name. No shell reads them.
    pub arguments: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment; the run's tag is added to it.
    pub environment: ChildEnvironment,
    /// What the program needs in its home, where it is not there yet.
    pub home_files: Vec<HomeFile>,
    /// What the program reads from its standard input; nothing when `None`.
    pub stdin: Option<String>,
    /// Where the output goes.
    pub log: PathBuf,
    /// How many bytes of it are kept.
    pub log_cap: u64,
    /// What must not be written to the log.
    pub secrets: Vec<String>,
    /// By what the program is judged.
    pub judged_by: JudgedBy,
    /// The session that an agent program goes on with.
    pub resumed: Option<SessionId>,
    /// What the session was counted for before.
    pub usage_baseline: UsageBaseline,
    /// Text that the log begins with.
    pub preamble: String,
    /// What the run may take.
    pub limits: Limits,
    /// What its programs may use of the computer.
    pub resource_limits: ResourceLimits,
    /// For how long the run goes on without a server that renews its lease.
    pub patience: Duration,
    /// What the run is kept from.
    pub containment: Containment,
    /// What the server wants to be told when it takes the run up again.
    pub memo: Value,
}

impl Start {
    /// The program's name, for people.
    pub(crate) fn named(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// A file that a program needs in its home, the `HOME` of its environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeFile {
    /// Its path below the home.
    pub path: PathBuf,
    /// What it holds.
    pub content: String,
}

/// By what a program is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// Its exit code.
    ExitCode,
    /// The output of this agent program.
    Output(AgentProgram),
    /// What it says of itself on its standard error; see
    /// [`SelfReport`](workforce_agent_programs::SelfReport).
    SelfReport,
}

/// What a run may take (docs/heartbeats.md#processes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From start to end; without limit when `None`.
    pub wall: Option<Duration>,
    /// Without output and without a request of its agent; without limit when
    /// `None`, and once the program says that it waits for somebody else.
    pub idle: Option<Duration>,
    /// Between `SIGTERM` and `SIGKILL`.
    pub grace: Duration,
}

/// What a server tells a guard.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToGuard {
    /// The first message: what to start.
    Start(Box<Start>),
    /// Instead of the first message: what can be used here, by programs of this
    /// account?
    Probe { run_as: Option<RunAs> },
    /// Instead of the first message: can this account search a folder?
    Enter { run_as: RunAs, folder: PathBuf },
    /// Instead of the first message: what would the program of this run find? It is
    /// not executed.
    Survey {
        start: Box<Start>,
        files: Vec<PathBuf>,
    },
    /// The process is recorded: the program may be executed.
    Go,
    /// Asks for a [`Description`].
    Describe,
    /// The lease was renewed: without another renewal the run ends after so long.
    Renew { patience: Duration },
    /// The agent gave a sign of life.
    Touch,
    /// The run is to end, for this reason, within the grace of its limits.
    Stop { reason: RunErrorCode },
    /// The run is to end at once.
    Kill,
}

/// What a guard tells a server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromGuard {
    /// The answer to [`ToGuard::Probe`].
    Probed(Means),
    /// The answer to [`ToGuard::Enter`]: why not, if it cannot.
    Entered(Option<String>),
    /// The answer to [`ToGuard::Survey`].
    Surveyed(Box<Survey>),
    /// The program waits at its gate.
    Prepared(ProcessIdentity),
    /// The program is executed.
    Started,
    /// Nothing was executed; the guard ends.
    Refused(LaunchError),
    /// The answer to [`ToGuard::Describe`].
    Described(Box<Description>),
    /// The program told what it used, which stands in the events.
    Used,
    /// Nothing of the run executes any more.
    Ended(Box<RunReport>),
}

/// What a guard tells a server that takes its run up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The run.
    pub run: RunId,
    /// The fencing number that it was claimed with.
    pub fence: i64,
    /// The process on record.
    pub identity: ProcessIdentity,
    /// What must not be written to the log.
    pub secrets: Vec<String>,
    /// What the server that started the run wanted to be kept.
    pub memo: Value,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// The fencing number that it was claimed with.
    pub fence: i64,
    /// What made it end.
    pub ended_by: Ending,
    /// How the program ended; `None` when the system did not tell.
    pub exit: Option<Exit>,
    /// Whether the kernel ended a process of it that needed more memory than the run
    /// may have. Known only of a run whose cgroup keeps the limit.
    #[serde(default)]
    pub ran_out_of_memory: bool,
    /// What the program told; `None` for one that is judged by its exit code.
    #[serde(default)]
    pub conclusion: Option<Conclusion>,
    /// What it used, for each model that it named.
    #[serde(default)]
    pub usage: Vec<ModelUsage>,
    /// What the server that started the run wanted to be kept.
    #[serde(default)]
    pub memo: Value,
    /// What its log holds.
    pub log: LogSummary,
}

/// What a run used of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The model; `None` when the program did not name it.
    pub model: Option<String>,
    /// Tokens used.
    pub tokens: TokenUsage,
    /// What the program says that it cost.
    pub cost: Option<MicroCents>,
}

impl ModelUsage {
    /// Adds it to the sum of its model.
    pub fn add_to(self, sums: &mut Vec<Self>) {
        match sums.iter_mut().find(|known| known.model == self.model) {
            Some(known) => known.add(self.tokens, self.cost),
            None => sums.push(self),
        }
    }

    /// Adds what a further call used.
    pub fn add(&mut self, tokens: TokenUsage, cost: Option<MicroCents>) {
        let sum = &mut self.tokens;
        sum.input = sum.input.saturating_add(tokens.input);
        sum.cached_read = sum.cached_read.saturating_add(tokens.cached_read);
        sum.cached_write = sum.cached_write.saturating_add(tokens.cached_write);
        sum.output = sum.output.saturating_add(tokens.output);
        if let Some(MicroCents(cost)) = cost {
            let MicroCents(before) = self.cost.unwrap_or(MicroCents::ZERO);
            self.cost = Some(MicroCents(before.saturating_add(cost)));
        }
    }
}

/// What made a run end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The program ended.
    Itself,
    /// A server asked it to stop, for this reason.
    Stopped(RunErrorCode),
    /// It ran into its wall limit.
    WallLimit,
    /// It ran into its idle limit.
    IdleLimit,
    /// No server renewed its lease.
    Abandoned,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It ended itself with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}
