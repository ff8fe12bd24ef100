//! What must hold after every step. Each check has a name that says it.

use std::collections::BTreeMap;

use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::company::Company;
use workforce_domain::id::{AgentId, InstanceId, IssueId, RunId};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::RunFilter;
use workforce_domain::run::{Run, RunKind, RunStatus};
use workforce_domain::wake::WakeReason;

use crate::books::Waiting;
use crate::server::INSTANCE_CAP;
use crate::simulation::Simulation;
use crate::world::{Broken, demand};

impl Simulation {
    /// Everything that one look at the runs tells.
    pub(crate) fn check_runs(&mut self) -> Result<(), Broken> {
        if !self.world.take_touch() {
            return Ok(());
        }
        let running = self.running()?;
        let mut of_agents: BTreeMap<AgentId, usize> = BTreeMap::new();
        let mut of_instances: BTreeMap<InstanceId, usize> = BTreeMap::new();
        let mut of_issues: BTreeMap<IssueId, RunId> = BTreeMap::new();
        for run in &running {
            *of_agents.entry(run.agent).or_default() += 1;
            if let Some(instance) = run.instance {
                *of_instances.entry(instance).or_default() += 1;
            }
            if let Some(issue) = run.issue.filter(|_| run.kind == RunKind::Execution) {
                let other = of_issues.insert(issue, run.id);
                demand(other.is_none(), "one run at most works on an issue", || {
                    format!("{issue}: {other:?} and {}", run.id)
                })?;
            }
            demand(
                !self.books.ended.contains_key(&run.id),
                "a run ends once and for all",
                || format!("{} runs again", run.id),
            )?;
        }
        for (agent, count) in of_agents {
            let cap = self.caps.get(&agent).copied().unwrap_or(1);
            demand(
                count <= cap,
                "no agent has more live runs than its cap",
                || format!("{agent}: {count} of {cap}"),
            )?;
        }
        let cap = usize::try_from(Company::DEFAULT_MAX_CONCURRENT_RUNS).unwrap_or_default();
        demand(
            running.len() <= cap,
            "no company has more live runs than its cap",
            || format!("{} of {cap}", running.len()),
        )?;
        for (instance, count) in of_instances {
            demand(
                count <= INSTANCE_CAP,
                "no server has more live runs than its cap",
                || format!("{instance}: {count}"),
            )?;
        }
        self.note_leases()?;
        self.check_waiting()
    }

    fn note_leases(&mut self) -> Result<(), Broken> {
        let (company, issues) = (self.scope(), self.issues.clone());
        let leases = self
            .world
            .read(|reads| reads.issues().leases(company, &issues))?;
        self.leases = leases
            .into_iter()
            .map(|lease| (lease.issue, lease))
            .collect();
        Ok(())
    }

    /// A wake waits until a run answers it, or until there is a reason to take it back.
    fn check_waiting(&mut self) -> Result<(), Broken> {
        let waiting = self.waiting()?;
        let before = core::mem::replace(&mut self.books.waiting, waiting);
        let is_new = |(run, _): &(&RunId, &Waiting)| !before.contains_key(run);
        let new = self.books.waiting.iter().filter(is_new);
        let new: Vec<_> = new.map(|(run, wake)| (*run, *wake)).collect();
        let gone = before
            .into_iter()
            .filter(|(run, _)| !self.books.waiting.contains_key(run));
        for (run, wake) in gone.collect::<Vec<_>>() {
            let Some(stored) = self.run(run)? else {
                return demand(false, "no wake is lost", || format!("{run} is gone"));
            };
            let is_answered = stored.started_at.is_some();
            let is_taken_back = stored.status == RunStatus::Cancelled
                && (self.books.cancelled == Some(run) || self.may_be_taken_back(&wake)?);
            demand(is_answered || is_taken_back, "no wake is lost", || {
                format!(
                    "{run} for {:?} is {} and was never started",
                    wake.issue, stored.status
                )
            })?;
        }
        self.books.cancelled = None;
        self.check_retries(&new)
    }

    fn may_be_taken_back(&self, wake: &Waiting) -> Result<bool, Broken> {
        let (company, agent, issue) = self.world.read(|reads| {
            let company = reads.companies().find(Scope::SYSTEM, self.company)?;
            let agent = reads.agents().find(Scope::SYSTEM, wake.agent)?;
            let issue = match wake.issue {
                Some(issue) => reads.issues().find(Scope::SYSTEM, &issue.into())?,
                None => None,
            };
            Ok((company, agent, issue))
        })?;
        let is_stopped = company.is_none_or(|company| !company.is_active());
        let is_gone = agent.is_none_or(|agent| !agent.is_employed());
        let is_lost = issue.is_some_and(|issue| {
            issue.status().is_terminal() || issue.assignee.agent() != Some(wake.agent)
        });
        Ok(is_stopped || is_gone || is_lost)
    }

    /// Work that was lost is queued again once an hour at most, but for what never began.
    fn check_retries(&mut self, new: &[(RunId, Waiting)]) -> Result<(), Broken> {
        for (id, wake) in new {
            let Some(run) = self.run(*id)? else { continue };
            if run.reason != WakeReason::ProcessLostRetry {
                continue;
            }
            let key = (wake.agent, wake.issue);
            let last = self.books.retried.insert(key, run.created_at);
            let spacing = last.map(|last| run.created_at.since(last).as_secs());
            demand(
                spacing.is_none_or(|spacing| spacing >= 60 * 60) || self.follows_unbegun(&run)?,
                "lost work is queued again once an hour at most",
                || format!("{spacing:?} s after the last time"),
            )?;
        }
        Ok(())
    }

    /// Whether a run was queued by the end of one whose program never began.
    fn follows_unbegun(&self, retry: &Run) -> Result<bool, Broken> {
        let filter = RunFilter {
            agent: Some(retry.agent),
            issue: retry.issue,
            statuses: vec![RunStatus::Failed],
        };
        let company = self.scope();
        let failed = self
            .world
            .read(|reads| reads.runs().list(company, &filter, &PageRequest::first()))?;
        let ended = failed.items.iter();
        Ok(ended
            .filter(|run| run.finished_at == Some(retry.created_at))
            .any(|run| !run.has_begun()))
    }

    /// Whoever checked an issue out holds it.
    pub(crate) fn check_holder(
        &self,
        issue: IssueId,
        run: RunId,
        agent: AgentId,
    ) -> Result<(), Broken> {
        let company = self.scope();
        let lease = self
            .world
            .read(|reads| reads.issues().lease(company, issue))?;
        let holder = lease.map(|lease| lease.holder);
        demand(
            holder.is_some_and(|it| it.run() == Some(run) && it.agent() == agent),
            "whoever checked an issue out holds it",
            || format!("{issue} is held by {holder:?}, not by {run}"),
        )
    }

    /// A run is taken over only when it has no server: its lease was over, and its server was not
    /// well for a while, or did not know of it. No server that heeds time, and knows of its program, has that still.
    pub(crate) fn check_take_over(&mut self, before: Option<&Run>) -> Result<(), Broken> {
        let Some(run) = before else { return Ok(()) };
        let now = self.world.now();
        let was_over = run.lease_expires_at.is_none_or(|until| until <= now);
        demand(
            was_over,
            "no run is taken over from a server that holds it",
            || format!("{} until {:?}", run.id, run.lease_expires_at),
        )?;
        let owner = self
            .hosts
            .iter()
            .find(|host| Some(host.instance) == run.instance && host.heeds_time());
        if let Some(owner) = owner.filter(|_| !self.books.orphans.contains(&run.id)) {
            let ailed = owner
                .ailed_at
                .is_some_and(|at| now.since(at).as_secs() < 120);
            demand(ailed, "a server that is well keeps its runs", || {
                format!("{} was lost by {}", run.id, owner.instance)
            })?;
        }
        let beside = self.programs.iter().find(|program| {
            let host = &self.hosts[program.host];
            let knows = host.heeds_time() && host.is_recovered;
            program.run == run.id && program.executes() && knows
        });
        demand(
            beside.is_none(),
            "the program of a lost lease is gone before the run is taken over",
            || format!("{} executes", run.id),
        )?;
        self.note_end(run.id)
    }

    /// Lost work that is still its agent's is queued again, unless it was within the hour. What
    /// never began is queued again in any case.
    pub(crate) fn check_retry(&mut self, run: &Run) -> Result<(), Broken> {
        let waiting = self.waiting()?;
        let waits = waiting
            .values()
            .any(|wake| wake.agent == run.agent && wake.issue == run.issue);
        let wake = Waiting {
            wake: run.wake,
            agent: run.agent,
            issue: run.issue,
        };
        let last = self.books.retried.get(&(run.agent, run.issue));
        let was_recent = run.has_begun()
            && last.is_some_and(|last| self.world.now().since(*last).as_secs() < 60 * 60);
        let was_asked = self
            .run(run.id)?
            .is_some_and(|run| run.stop_reason.is_some());
        let is_void = was_recent || was_asked || self.may_be_taken_back(&wake)?;
        demand(waits || is_void, "lost work is queued again", || {
            format!("{} of {} about {:?}", run.id, run.agent, run.issue)
        })
    }

    /// Notes that a run has ended, which happens once.
    pub(crate) fn note_end(&mut self, run: RunId) -> Result<(), Broken> {
        let now = self.world.now();
        let before = self.books.ended.insert(run, now);
        demand(before.is_none(), "a run ends once and for all", || {
            format!("{run} had ended at {before:?}")
        })
    }

    /// The live runs.
    pub(crate) fn running(&self) -> Result<Vec<Run>, Broken> {
        let nobody = InstanceId::from(uuid::Uuid::nil());
        self.world.read(|reads| {
            reads
                .engine()
                .running_elsewhere(InstanceScope::SYSTEM, nobody)
        })
    }

    /// The wakes that wait, by the run that is to answer.
    pub(crate) fn waiting(&self) -> Result<BTreeMap<RunId, Waiting>, Broken> {
        let filter = RunFilter {
            statuses: vec![RunStatus::Queued],
            ..RunFilter::default()
        };
        let company = self.scope();
        let queued = self
            .world
            .read(|reads| reads.runs().list(company, &filter, &PageRequest::first()))?;
        let waiting = |run: Run| {
            let waiting = Waiting {
                wake: run.wake,
                agent: run.agent,
                issue: run.issue,
            };
            (run.id, waiting)
        };
        Ok(queued.items.into_iter().map(waiting).collect())
    }

    /// A run as it is stored.
    pub(crate) fn run(&self, id: RunId) -> Result<Option<Run>, Broken> {
        self.world
            .read(|reads| reads.runs().find(Scope::SYSTEM, id))
    }

    /// Whether a run is running.
    pub(crate) fn is_running(&self, id: RunId) -> Result<bool, Broken> {
        Ok(self.run(id)?.is_some_and(|run| run.status.is_live()))
    }

    /// The one company.
    pub(crate) fn scope(&self) -> CompanyScope {
        InstanceScope::SYSTEM.enter(self.company)
    }
}
