//! The servers: what each of them remembers, and how it breaks down.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use workforce_app::costs::RunUse;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::id::{AgentId, CompanyId, InstanceId, RunId};
use workforce_domain::port::BudgetStop;
use workforce_domain::run::{ProcessRecord, Run, RunEnd, RunErrorCode, RunOutcome};
use workforce_domain::time::{Month, Timestamp};
use workforce_engine::steps::{EndedRun, Halt};

/// For how long a run stays a server's without a renewal.
pub(crate) const LEASE: Duration = Duration::from_secs(60);
/// How often a server renews.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(10);

/// How a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// It works.
    Well,
    /// It runs, but the store does not answer it.
    CutOff,
    /// Nothing of it runs, but its guards and their programs do.
    Frozen,
    /// It is gone. Its guards go on.
    Down,
}

/// A server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) instance: InstanceId,
    /// Who was here before it.
    pub(crate) predecessors: Vec<InstanceId>,
    pub(crate) health: Health,
    /// When it last was anything but well.
    pub(crate) ailed_at: Option<Timestamp>,
    pub(crate) live: BTreeMap<RunId, Live>,
    /// What its tasks are in the midst of, between two transactions.
    pub(crate) tasks: VecDeque<Task>,
    /// Whether what its predecessors left is cleared away, so that it may start runs.
    pub(crate) is_recovered: bool,
    pub(crate) renewed_at: Timestamp,
    pub(crate) lifted_in: Option<Month>,
    /// When it last looked at timers.
    pub(crate) looked_at: Option<Timestamp>,
    /// When nothing was known to wait for an agent whose timer rests.
    pub(crate) clear_at: Option<Timestamp>,
}

/// A run that a server stays with.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) company: CompanyId,
    pub(crate) fence: i64,
    pub(crate) renewed_at: Timestamp,
    pub(crate) halt: Option<Halt>,
    pub(crate) had_process: bool,
    /// Its program is gone, and its end is being written down.
    pub(crate) is_settling: bool,
}

impl Live {
    /// A run that was claimed or taken up at `now`.
    pub(crate) const fn of(run: &Run, now: Timestamp, had_process: bool) -> Self {
        Self {
            company: run.company,
            fence: run.fence,
            renewed_at: now,
            halt: None,
            had_process,
            is_settling: false,
        }
    }

    /// Makes it stop.
    pub(crate) fn halt(&mut self, reason: Halt) {
        if reason.replaces(self.halt) {
            self.halt = Some(reason);
        }
    }

    /// Stops what was given to another server, unless its end is being written.
    pub(crate) fn mark_lost(&mut self) {
        if !self.is_settling {
            self.halt(Halt::LeaseLost);
        }
    }

    /// The run as its end is written down.
    pub(crate) const fn ended(&self, run: RunId) -> EndedRun {
        EndedRun {
            company: InstanceScope::SYSTEM.enter(self.company),
            run,
            fence: self.fence,
            had_process: self.had_process,
        }
    }
}

/// What a server is to do next for something that it has begun.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Start the program of a claimed run, which is given this token.
    Record(RunId, String),
    /// Write an end down, and what was used.
    Settle(RunId, Option<RunEnd>, Option<RunUse>),
    /// Take a run over whose lease was seen to be over.
    TakeOver(Box<Run>),
    /// Look at a timer that was seen to be due, knowing that no agent whose timer rests had
    /// work at that instant.
    Beat(CompanyScope, AgentId, Option<Timestamp>),
    /// Lift a stop that was seen not to be used up in this month.
    Lift(BudgetStop, Month),
    /// See what predecessors left.
    Recover,
    /// Take up or clear away a program that a predecessor started.
    TakeUp(ProcessRecord),
    /// End the runs of predecessors of which no program is left.
    EndLeft,
}

impl Host {
    /// A server that starts where others were before.
    pub(crate) fn starting(
        instance: InstanceId,
        predecessors: Vec<InstanceId>,
        now: Timestamp,
    ) -> Self {
        Self {
            instance,
            predecessors,
            health: Health::Well,
            ailed_at: None,
            live: BTreeMap::new(),
            tasks: VecDeque::from([Task::Recover]),
            is_recovered: false,
            renewed_at: now,
            lifted_in: None,
            looked_at: None,
            clear_at: None,
        }
    }

    /// Whether it works and reaches the store.
    pub(crate) fn is_well(&self) -> bool {
        self.health == Health::Well
    }

    /// Whether its programs are stopped when they must be.
    pub(crate) fn heeds_time(&self) -> bool {
        matches!(self.health, Health::Well | Health::CutOff)
    }
}

/// The end of a run that nobody knows more of.
pub(crate) fn bare_end(outcome: RunOutcome) -> RunEnd {
    RunEnd::without_exit(outcome, "as it came about in the simulation")
}

/// The end of a run that was lost.
pub(crate) fn lost_end(code: RunErrorCode) -> RunEnd {
    bare_end(RunOutcome::Lost(code))
}
