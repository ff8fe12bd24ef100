//! What must hold of money.

use workforce_domain::actor::Scope;
use workforce_domain::agent::AgentState;
use workforce_domain::company::PauseReason;
use workforce_domain::id::AgentId;
use workforce_domain::port::Spender;

use crate::books::Spending;
use crate::simulation::Simulation;
use crate::world::{Broken, demand};

impl Simulation {
    /// Notes what was spent, by a report that was taken.
    pub(crate) fn note_spending(&mut self, spending: &Spending) -> Result<(), Broken> {
        self.check_overspend(spending)?;
        let key = (spending.agent, spending.month.number());
        *self.books.spent.entry(key).or_default() += spending.micros;
        self.note_used_up(spending.agent)
    }

    /// What is spent beyond a limit, a run spends that was live when the limit was reached. Each
    /// of them may send reports until its server has stopped it.
    ///
    /// To sharpen once a run is stopped by its own reports: one report for each of these runs.
    fn check_overspend(&self, spending: &Spending) -> Result<(), Broken> {
        let Some(since) = self.books.used_up.get(&spending.agent) else {
            return Ok(());
        };
        let Some(run) = spending.run else {
            return Ok(());
        };
        let started = self.run(run)?.and_then(|run| run.started_at);
        demand(
            started.is_some_and(|started| started <= *since),
            "only runs that were live when a budget was used up spend more",
            || format!("{run} started at {started:?}, used up since {since}"),
        )
    }

    /// Notes whether the budget of an agent is used up.
    pub(crate) fn note_used_up(&mut self, agent: AgentId) -> Result<(), Broken> {
        let (now, month) = (self.world.now(), self.world.month());
        let stored = self
            .world
            .read(|reads| reads.agents().find(Scope::SYSTEM, agent))?;
        let is_used_up = stored.is_some_and(|stored| {
            let limit = stored.budget.limit().map(|limit| limit.micros());
            let spent = self.books.spent_by(agent, month);
            limit.is_some_and(|limit| spent >= limit) && !stored.may_overspend(month)
        });
        if is_used_up {
            self.books.used_up.entry(agent).or_insert(now);
        } else {
            self.books.used_up.remove(&agent);
        }
        Ok(())
    }

    /// The totals are what the reports that were taken add up to.
    pub(crate) fn check_totals(&self) -> Result<(), Broken> {
        let (company, month) = (self.scope(), self.world.month());
        let agents = self.agents.clone();
        let (of_agents, of_company) = self.world.read(|reads| {
            let of_agents: Result<Vec<_>, _> = agents
                .iter()
                .map(|agent| reads.ledger().spent(company, Spender::Agent(*agent), month))
                .collect();
            Ok((
                of_agents?,
                reads.ledger().spent(company, Spender::Company, month)?,
            ))
        })?;
        let total = "totals are what was reported";
        for (agent, spent) in agents.iter().zip(of_agents) {
            let reported = self.books.spent_by(*agent, month);
            let spent = spent.actual.micros();
            demand(spent == reported, total, || {
                format!("{agent}: total {spent}, reported {reported}")
            })?;
        }
        let reported = self.books.spent_in(month);
        let spent = of_company.actual.micros();
        demand(spent == reported, total, || {
            format!("company: total {spent}, reported {reported}")
        })
    }

    /// A budget stops only who has used it up in this month.
    pub(crate) fn check_stops(&self) -> Result<(), Broken> {
        let month = self.world.month();
        let name = "a stop is lifted when the month turns";
        for agent in &self.agents {
            let stored = self
                .world
                .read(|reads| reads.agents().find(Scope::SYSTEM, *agent))?;
            let Some(stored) = stored else { continue };
            let is_stopped = stored.lifecycle.state() == AgentState::Paused
                && stored.lifecycle.pause_reason() == Some(PauseReason::Budget);
            let limit = stored.budget.limit().map(|limit| limit.micros());
            let spent = self.books.spent_by(*agent, month);
            let is_used_up = limit.is_some_and(|limit| spent >= limit);
            demand(is_used_up || !is_stopped, name, || {
                format!("{agent} is stopped with {spent} of {limit:?}")
            })?;
        }
        let company = self
            .world
            .read(|reads| reads.companies().find(Scope::SYSTEM, self.company))?;
        let Some(company) = company else {
            return Ok(());
        };
        let is_stopped = company.lifecycle.pause_reason() == Some(PauseReason::Budget);
        let limit = company.budget.limit().map(|limit| limit.micros());
        let spent = self.books.spent_in(month);
        let is_used_up = limit.is_some_and(|limit| spent >= limit);
        demand(is_used_up || !is_stopped, name, || {
            format!("the company is stopped with {spent} of {limit:?}")
        })
    }
}
