//! The end of a simulation: no fault comes about any more, everybody finishes, and nothing may be
//! left that nobody will ever deal with.

use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::agents::{self, UpdateAgent};
use workforce_app::approvals::{self, Decide};
use workforce_app::companies;
use workforce_domain::actor::Scope;
use workforce_domain::company::Company;
use workforce_domain::id::RunId;
use workforce_domain::port::StartConditionInputs;
use workforce_domain::run::{RunOutcome, StartCondition};

use crate::host::{Health, bare_end};
use crate::server::INSTANCE_CAP;
use crate::simulation::Simulation;
use crate::world::{Broken, demand};

/// So often time goes on until nothing waits any more.
const ROUNDS: usize = 30;
/// A run whose program succeeds at once has ended after so long.
const AT_ONCE: Duration = Duration::from_secs(30);

impl Simulation {
    /// Lets everybody finish, and demands that nothing is left.
    pub(crate) fn settle(&mut self) -> Result<(), Broken> {
        self.faults = false;
        self.note(|_| "no fault any more".to_owned());
        for at in 0..self.hosts.len() {
            match self.hosts[at].health {
                Health::Down => self.start_host(at)?,
                _ => self.hosts[at].health = Health::Well,
            }
        }
        self.work_off()?;
        if self.random.chance(30) {
            let end = self.world.month().end();
            self.pass(end.since(self.world.now()))?;
            self.note(|_| "the month turns".to_owned());
            self.work_off()?;
        }
        self.check_stops()?;
        if self.running()?.is_empty() {
            self.check_reasons()?;
        }
        self.lift_everything()?;
        for _ in 0..ROUNDS {
            self.work_off()?;
            if self.waiting()?.is_empty() && self.running()?.is_empty() {
                return self.check_end();
            }
            self.pass(Duration::from_secs(5 * 60))?;
        }
        let left: Vec<RunId> = self.waiting()?.into_keys().collect();
        let names: Vec<String> = left.iter().map(|run| self.reasons_of(*run)).collect();
        demand(
            false,
            "every wake is answered once nothing blocks it",
            || format!("{} wait: {names:?}", left.len()),
        )
    }

    /// Does whatever there is to be done now: programs succeed, and servers work off their tasks.
    fn work_off(&mut self) -> Result<(), Broken> {
        for _ in 0..ROUNDS {
            for program in &mut self.programs {
                let end = bare_end(RunOutcome::Succeeded);
                program.report.get_or_insert((end, None));
            }
            // What expired meanwhile is taken over before anything else.
            self.pass(Duration::from_secs(5))?;
            let mut is_idle = true;
            for at in 0..self.hosts.len() {
                self.look_around(at)?;
                self.check_runs()?;
                while !self.hosts[at].tasks.is_empty() {
                    is_idle = false;
                    self.next_task(at)?;
                }
                self.check_runs()?;
                while self.claim(at)? {
                    is_idle = false;
                    self.check_runs()?;
                }
            }
            if is_idle && self.running()?.is_empty() {
                self.check_timers()?;
                return Ok(());
            }
        }
        // Timers may start one run after the other all the while.
        let now = self.world.now();
        let mut left = self.running()?;
        left.retain(|run| run.started_at.is_none_or(|at| now.since(at) > AT_ONCE));
        demand(left.is_empty(), "every run ends", || {
            format!("{:?}", left.iter().map(|run| run.id).collect::<Vec<_>>())
        })
    }

    /// What still waits, waits for a reason that is so.
    fn check_reasons(&mut self) -> Result<(), Broken> {
        for (run, waiting) in self.waiting()? {
            let company = self.scope();
            let terms = StartConditionInputs {
                now: self.world.now(),
                instance: self.hosts[0].instance,
                instance_cap: i64::try_from(INSTANCE_CAP).unwrap_or(i64::MAX),
            };
            let (reasons, agent, firm) = self.world.read(|reads| {
                let reasons = reads
                    .runs()
                    .blocking_conditions(company, waiting.wake, &terms)?;
                let agent = reads.agents().find(Scope::SYSTEM, waiting.agent)?;
                let firm = reads.companies().find(Scope::SYSTEM, self.company)?;
                Ok((reasons.unwrap_or_default(), agent, firm))
            })?;
            let month = self.world.month();
            let is_so = |reason: &StartCondition| match reason {
                StartCondition::AgentPaused => agent
                    .as_ref()
                    .is_some_and(|it| it.lifecycle.paused().is_some()),
                StartCondition::BudgetAgent => agent.as_ref().is_some_and(|agent| {
                    let limit = agent.budget.limit().map(|limit| limit.micros());
                    limit.is_some_and(|limit| self.books.spent_by(agent.id, month) >= limit)
                }),
                StartCondition::BudgetCompany | StartCondition::CompanyNotActive => {
                    firm.as_ref().is_some_and(|firm| self.stops_all(firm))
                }
                StartCondition::CapAgent
                | StartCondition::CapCompany
                | StartCondition::CapInstance
                | StartCondition::IssueHasLiveRun
                | StartCondition::IssueEnded => false,
                _ => true,
            };
            let is_stated = !reasons.is_empty() && reasons.iter().all(is_so);
            demand(is_stated, "a wake waits for a reason that is so", || {
                format!("{run} waits for {reasons:?}")
            })?;
        }
        Ok(())
    }

    fn stops_all(&self, company: &Company) -> bool {
        let limit = company.budget.limit().map(|limit| limit.micros());
        let spent = self.books.spent_in(self.world.month());
        !company.is_active() || limit.is_some_and(|limit| spent >= limit)
    }

    fn reasons_of(&self, run: RunId) -> String {
        let waiting = self.books.waiting.get(&run).copied();
        let terms = StartConditionInputs {
            now: self.world.now(),
            instance: self.hosts[0].instance,
            instance_cap: 1,
        };
        let company = self.scope();
        let reasons = waiting.map(|waiting| {
            self.world.read(|reads| {
                reads
                    .runs()
                    .blocking_conditions(company, waiting.wake, &terms)
            })
        });
        format!("{run}: {reasons:?}")
    }

    /// The board takes away whatever keeps work from starting, and every timer.
    fn lift_everything(&mut self) -> Result<(), Broken> {
        let company = self.company;
        self.world
            .board(|tx, ctx| companies::resume(tx, ctx, company))?;
        self.limit_company(0)?;
        for plan in self.plans.clone() {
            self.world.board(|tx, ctx| {
                let decide = Decide {
                    decision_note: None,
                    force: Some(false),
                    seen: None,
                };
                approvals::approve(tx, ctx, plan, decide)
            })?;
        }
        for agent in self.agents.clone() {
            self.limit_agent(agent, 0)?;
            let command = UpdateAgent {
                runtime_config: Some(document(json!({ "heartbeat": { "intervalSec": 0 } }))),
                ..UpdateAgent::default()
            };
            self.world
                .board(|tx, ctx| agents::update(tx, ctx, agent, command.clone()))?;
            self.world
                .board(|tx, ctx| agents::resume(tx, ctx, agent, true))?;
        }
        self.note(|_| "the board lifts everything".to_owned());
        self.check_runs()
    }

    /// Nothing is left: no lease of a run, no program, and totals that fit.
    fn check_end(&mut self) -> Result<(), Broken> {
        self.check_runs()?;
        let held = self
            .leases
            .values()
            .find(|lease| lease.holder.run().is_some());
        demand(
            held.is_none(),
            "no issue is held by a run that is over",
            || format!("{held:?}"),
        )?;
        demand(
            self.programs.is_empty(),
            "no program is left without its run",
            || format!("{} are left", self.programs.len()),
        )?;
        self.check_totals()?;
        for (run, ended) in self.books.ended.clone() {
            let stored = self.run(run)?;
            let finished = stored.and_then(|run| run.finished_at);
            demand(
                finished == Some(ended),
                "a run ends once and for all",
                || format!("{run} ended at {ended}, and then at {finished:?}"),
            )?;
        }
        self.world.check_store()
    }
}
