use alloc::vec::Vec;

use super::{Agenda, AgendaTerms, Locked, StartConditionInputs, StoreError};
use crate::actor::{CompanyScope, InstanceScope};
use crate::agent::Agent;
use crate::company::Company;
use crate::id::{AgentId, InstanceId, IssueId, RunId};
use crate::run::{ProcessRecord, Run, RunStart};
use crate::time::{Month, Timestamp};
use crate::timer::TimerSetting;
use crate::wake::Wake;

/// What a claim may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The server that claims.
    pub instance: InstanceId,
    /// The present instant.
    pub now: Timestamp,
    /// When the run's lease ends unless renewed.
    pub lease_until: Timestamp,
    /// Digest of the token minted for the run.
    pub token_digest: [u8; 32],
    /// At most so many runs live on this server at once.
    pub instance_cap: i64,
}

impl ClaimRequest {
    /// What the conditions of a start are asked about.
    pub const fn terms(&self) -> StartConditionInputs {
        StartConditionInputs {
            now: self.now,
            instance: self.instance,
            instance_cap: self.instance_cap,
        }
    }
}

/// A run that was claimed: its row says `running`, its wake `dispatched`, and
/// an execution run holds its issue's lease.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedRun {
    /// The run.
    pub run: Run,
    /// The wake it answers.
    pub wake: Wake,
    /// The agent to start.
    pub agent: Agent,
    /// Its company.
    pub company: Company,
}

/// A live run as its server sees it at a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewedRun {
    /// The run.
    pub run: RunId,
    /// The fencing number it was claimed with.
    pub fence: i64,
    /// Set when somebody asked it to stop.
    pub stop_reason: Option<crate::run::RunErrorCode>,
}

/// Open issues of which it is noted wrongly whether they are stuck.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StuckChanges {
    /// The issues.
    pub issues: Vec<IssueId>,
    /// The last one that was looked at; `None` when there are no more.
    pub next: Option<IssueId>,
}

/// What only the engine looks for.
pub trait EngineReads {
    /// Runs whose lease expired, oldest first, at most `limit`.
    fn expired(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError>;

    /// Every running run that is not a run of `instance`: what a dead
    /// predecessor left, on a store that only one server uses.
    fn running_elsewhere(
        &mut self,
        scope: InstanceScope,
        instance: InstanceId,
    ) -> Result<Vec<Run>, StoreError>;

    /// The recorded processes that `instance` did not start.
    fn processes_elsewhere(
        &mut self,
        scope: InstanceScope,
        instance: InstanceId,
    ) -> Result<Vec<ProcessRecord>, StoreError>;

    /// When the agent's last retry after a lost process was queued.
    fn last_retry_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        issue: Option<IssueId>,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// True when wakes are pending that nobody will ever answer: their agent is
    /// terminated, or the issue they are to work on has ended.
    fn has_obsolete_wakes(&mut self, scope: InstanceScope) -> Result<bool, StoreError>;

    /// What there is to do, and when.
    fn agenda(&mut self, scope: InstanceScope, terms: &AgendaTerms) -> Result<Agenda, StoreError>;

    /// Whether a claim would start a run.
    fn has_startable(
        &mut self,
        scope: InstanceScope,
        terms: &StartConditionInputs,
    ) -> Result<bool, StoreError>;

    /// Agents whose timer is due, the longest due first, those whose timer
    /// is to be set anew or stopped, and those whose timer rests although something waits for
    /// them; at most `limit` of each.
    fn timers_to_check(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(CompanyScope, AgentId)>, StoreError>;

    /// For each company a number that is another one when something changed, or the lease of an
    /// agent has expired by `now`.
    fn change_counts(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
    ) -> Result<Vec<(CompanyScope, i64)>, StoreError>;

    /// Of the open issues of a company after `after`, by id, at most `limit`: those of which it is
    /// noted wrongly whether and why they are stuck. Says also where to go on.
    fn to_note_stuck(
        &mut self,
        company: CompanyScope,
        now: Timestamp,
        after: Option<IssueId>,
        limit: usize,
    ) -> Result<StuckChanges, StoreError>;

    /// Issues that are noted as stuck although nothing is to be done for them any more, at most
    /// `limit`.
    fn wrongly_stuck(
        &mut self,
        company: CompanyScope,
        limit: usize,
    ) -> Result<Vec<IssueId>, StoreError>;

    /// Agents and companies that are stopped by a budget although it is not
    /// used up in `month`: those to resume.
    fn budget_stops_to_lift(
        &mut self,
        scope: InstanceScope,
        month: Month,
        limit: usize,
    ) -> Result<Vec<BudgetStop>, StoreError>;
}

/// What only the engine does.
pub trait EngineWrites {
    /// Claims the next run that may start: the one place where a run begins.
    /// Its wake is pending and every
    /// [`StartCondition`](crate::run::StartCondition) holds. Companies take
    /// turns; within one, the more urgent issue and then the older wake come
    /// first.
    fn claim(
        &mut self,
        scope: InstanceScope,
        request: &ClaimRequest,
    ) -> Result<Option<ClaimedRun>, StoreError>;

    /// Renews the leases of a server's live runs and tells which were asked to
    /// stop. A run that is missing from the answer is no longer the server's.
    fn renew(
        &mut self,
        scope: InstanceScope,
        instance: InstanceId,
        runs: &[RunId],
        lease_until: Timestamp,
    ) -> Result<Vec<RenewedRun>, StoreError>;

    /// Records the process of a run, before it may execute anything. May be done again after a
    /// failure: a run has one process, the one recorded last.
    fn record_process(&mut self, process: &ProcessRecord) -> Result<(), StoreError>;

    /// Notes what a running run is started with, in the transaction that
    /// records its process. False when the run has ended or was claimed again;
    /// then nothing is written.
    fn note_run_start(
        &mut self,
        company: CompanyScope,
        run: RunId,
        fence: i64,
        start: &RunStart,
    ) -> Result<bool, StoreError>;

    /// Gives a running run, with its process, from the server that recorded the
    /// process to another one, with a lease until `lease_until`. False when the run
    /// has ended, was claimed again, or is another server's already.
    fn take_up(
        &mut self,
        company: CompanyScope,
        process: &ProcessRecord,
        fence: i64,
        instance: InstanceId,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Forgets the process of a run, once its group is empty.
    fn delete_process(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError>;

    /// Cancels at most `limit` wakes that nobody will ever answer, with their
    /// queued runs; how many it was.
    fn cancel_obsolete_wakes(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;

    /// Sets the timer of a locked agent for the interval it has now, or stops
    /// it.
    fn set_timer(
        &mut self,
        agent: &Locked<Agent>,
        setting: &TimerSetting,
    ) -> Result<(), StoreError>;

    /// Forgets events: those of before `before`, and of each company all but
    /// the latest `keep`. At most `limit` of them; how many it was. What is
    /// kept of a company has no gap.
    fn delete_events(
        &mut self,
        scope: InstanceScope,
        before: Timestamp,
        keep: i64,
        limit: usize,
    ) -> Result<usize, StoreError>;

    /// Forgets wakes of which nothing more can come, since before `before`:
    /// they ended, and so did the run that answered them. At most `limit` of
    /// them; how many it was.
    fn delete_wakes(
        &mut self,
        scope: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;
}

/// Somebody stopped by a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStop {
    /// The company.
    pub company: CompanyScope,
    /// The agent, or `None` for the company itself.
    pub agent: Option<AgentId>,
}
