use alloc::vec::Vec;

use super::{Locked, StoreError, WakeableAgent};
use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::id::{AgentId, InstanceId, IssueId, ProjectId, RunId, WakeId};
use crate::issue::Issue;
use crate::page::{CreationKey, Page, PageRequest};
use crate::run::{Completion, CompletionReport, Run, RunErrorCode, RunStatus, StartCondition};
use crate::time::Timestamp;
use crate::wake::Wake;

/// The place of a run in a list.
pub type RunCursor = CreationKey<RunId>;

/// Which runs of a company a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// About this issue.
    pub issue: Option<IssueId>,
    /// With one of these statuses; any when empty.
    pub statuses: Vec<RunStatus>,
}

/// Which wakes and runs a stop concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopScope {
    /// Those of one agent.
    Agent(AgentId),
    /// Those about one issue.
    Issue(IssueId),
    /// Those whose issue was in one project when they were claimed, so that they spend there;
    /// wakes about its issues.
    Project(ProjectId),
    /// This one.
    Run(RunId),
    /// All of the company.
    Company,
}

/// What the conditions of a start are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartConditionInputs {
    /// The present instant.
    pub now: Timestamp,
    /// The server that would start the run.
    pub instance: InstanceId,
    /// At most so many runs live on this server at once.
    pub instance_cap: i64,
}

/// Reads of runs and wakes.
pub trait RunReads {
    /// The run with this id.
    fn find(&mut self, scope: Scope, id: RunId) -> Result<Option<Run>, StoreError>;

    /// Runs of a company, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &RunFilter,
        page: &PageRequest<RunCursor>,
    ) -> Result<Page<Run, RunCursor>, StoreError>;

    /// The live runs of an agent, oldest first; no agent has more than its cap.
    fn live_of(&mut self, company: CompanyScope, agent: AgentId) -> Result<Vec<Run>, StoreError>;

    /// The pending wakes of an agent, oldest first, at most `limit`.
    fn pending_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        limit: usize,
    ) -> Result<Vec<Wake>, StoreError>;

    /// The wake that a run answers.
    fn wake_of(&mut self, company: CompanyScope, run: RunId) -> Result<Option<Wake>, StoreError>;

    /// The conditions that keep a pending wake from starting, in the order of
    /// [`StartCondition`]: those the claim asks for, so none are left exactly
    /// when it may start. `None` when no such wake is pending.
    fn blocking_conditions(
        &mut self,
        company: CompanyScope,
        wake: WakeId,
        terms: &StartConditionInputs,
    ) -> Result<Option<Vec<StartCondition>>, StoreError>;

    /// What a run's agent said about its end; `None` for a run that does not end in
    /// that way.
    fn completion(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<Completion>, StoreError>;

    /// Those of `runs` whose agents have said how they ended.
    fn completed(&mut self, scope: InstanceScope, runs: &[RunId])
    -> Result<Vec<RunId>, StoreError>;
}

/// Writes of runs and wakes.
pub trait RunWrites {
    /// Keeps an agent wakeable until the transaction ends; `None` when it is a
    /// draft or terminated, or its company is paused or archived.
    fn share_wakeability(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<WakeableAgent>, StoreError>;

    /// Locks the pending wake of an agent under a key (see [`Wake::key`]).
    fn lock_pending_wake(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        issue: Option<IssueId>,
    ) -> Result<Option<Locked<Wake>>, StoreError>;

    /// Stores a new pending wake and the queued run that will answer it. The wake is as urgent
    /// as its issue, whose priority stays as it is until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another wake with the same key was
    /// faster, [`StoreError::Constraint`] for a wake of another agent.
    fn queue<'a>(
        &mut self,
        agent: WakeableAgent,
        wake: &'a Wake,
        run: &'a Run,
    ) -> Result<(), StoreError>;

    /// Stores a locked wake.
    fn save_wake(&mut self, wake: &Locked<Wake>) -> Result<(), StoreError>;

    /// Makes the pending wakes about a locked issue as urgent as it is now.
    fn follow_priority(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;

    /// Cancels a pending wake and its queued run.
    fn cancel_wake(&mut self, wake: Locked<Wake>, now: Timestamp) -> Result<(), StoreError>;

    /// Locks a run.
    fn lock(&mut self, scope: Scope, id: RunId) -> Result<Option<Locked<Run>>, StoreError>;

    /// Stores a locked run.
    fn save(&mut self, run: &Locked<Run>) -> Result<(), StoreError>;

    /// Notes that a run's agent may say how the run ended.
    fn await_completion(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError>;

    /// Notes what the agent of a locked run said about its end.
    fn save_completion(
        &mut self,
        run: &Locked<Run>,
        report: &CompletionReport,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Cancels pending wakes and their queued runs; returns those runs.
    ///
    /// Nobody adds a wake meanwhile. For an agent or a company this first waits
    /// for every transaction with a [`WakeableAgent`] of it, and keeps out new
    /// ones until the commit. For an issue the caller holds the issue, as
    /// everybody does who adds a wake about it.
    fn cancel_pending(
        &mut self,
        company: CompanyScope,
        stop: StopScope,
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Asks live runs to stop, except `spare`, the caller's own; returns the
    /// runs that had not been asked before. Call it before
    /// [`cancel_pending`](Self::cancel_pending), and hold the agent or the
    /// company: a claim waits for that lock.
    fn request_stop(
        &mut self,
        company: CompanyScope,
        stop: StopScope,
        spare: Option<RunId>,
        reason: RunErrorCode,
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError>;
}
