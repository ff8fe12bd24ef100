//! What must hold of whatever starts, found out without the conditions of the claim.

use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::budget::BudgetBasis;
use workforce_domain::company::Company;
use workforce_domain::issue::Holder;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::{Run, RunKind};
use workforce_domain::wake::Wake;

use crate::simulation::Simulation;
use crate::world::{Broken, demand};

impl Simulation {
    /// Nothing starts that a condition keeps from starting, each found out without the claim.
    pub(crate) fn check_start(
        &mut self,
        run: &Run,
        wake: &Wake,
        agent: &Agent,
        company: &Company,
    ) -> Result<(), Broken> {
        let (now, month) = (self.world.now(), self.world.month());
        let waited = self.books.waiting.get(&run.id).map(|it| it.wake);
        let by = |what: &'static str| move || format!("{} with {what}", run.id);
        let starts = "nothing starts that must not";
        demand(
            waited == Some(wake.id),
            starts,
            by("a wake that did not wait"),
        )?;
        demand(wake.not_before <= now, starts, by("a wake that is not due"))?;
        let has_backoff = agent.backoff_until.is_some_and(|until| until > now);
        demand(
            wake.by_board || !has_backoff,
            starts,
            by("an agent that backs off"),
        )?;
        let state = agent.lifecycle.state();
        demand(
            state == AgentState::Enabled,
            starts,
            by("an agent that is not enabled"),
        )?;
        demand(company.is_active(), starts, by("a company that is stopped"))?;
        let is_stopped = company.lifecycle.pause_reason().is_some();
        demand(!is_stopped, starts, by("a company whose budget stops it"))?;
        let exhausted = "nothing starts once a budget is used up or held";
        let (held_of_agent, held) = self.held_beside(run)?;
        let spent = self.books.spent_by(agent.id, month) + held_of_agent;
        let limit = agent.budget.limit().map(|limit| limit.micros());
        let is_used_up = limit.is_some_and(|limit| spent >= limit) && !agent.may_overspend(month);
        demand(!is_used_up, exhausted, by("an agent without money"))?;
        let limit = company.budget.limit().map(|limit| limit.micros());
        let is_used_up = limit.is_some_and(|limit| self.books.spent_in(month) + held >= limit);
        demand(!is_used_up, exhausted, by("a company without money"))?;
        let Some(id) = run.issue.filter(|_| run.kind == RunKind::Execution) else {
            return Ok(());
        };
        let (issue, lease, undecided) = self.world.read(|reads| {
            let issue = reads.issues().find(Scope::SYSTEM, &id.into())?;
            let lease = reads.issues().lease(run.scope(), id)?;
            let undecided = reads.approvals().undecided_linked_to(run.scope(), id)?;
            Ok((issue, lease, undecided))
        })?;
        let is_open = issue.is_some_and(|issue| !issue.status().is_terminal());
        demand(is_open, starts, by("an issue that has ended"))?;
        let plan = undecided.iter().find(|approval| {
            approval.kind == ApprovalType::ApproveIssuePlan
                && approval.status() == ApprovalStatus::Pending
        });
        demand(
            plan.is_none(),
            starts,
            by("a plan that the board has not decided"),
        )?;
        let holder = lease.map(|lease| lease.holder);
        demand(
            holder.and_then(|holder| holder.run()) == Some(run.id),
            "a run that works on an issue holds it",
            || format!("{} starts, held by {holder:?}", run.id),
        )?;
        let held = self.leases.get(&id).filter(|lease| match lease.holder {
            Holder::Run { .. } => true,
            Holder::Agent(agent) => agent != wake.agent && lease.is_live(now),
        });
        demand(held.is_none(), starts, by("an issue that is held"))
    }

    /// What the live runs beside this one hold of the budgets of its agent and of the company, in
    /// millionths of a cent.
    fn held_beside(&self, run: &Run) -> Result<(i64, i64), Broken> {
        let company = self.scope();
        let (mut of_agent, mut of_company) = (0, 0);
        for other in self.running()?.iter().filter(|other| other.id != run.id) {
            let spend = self
                .world
                .read(|reads| reads.ledger().run_spend(company, other.id))?;
            let held = spend.unwrap_or_default().held(BudgetBasis::Actual).micros();
            of_company += held;
            if other.agent == run.agent {
                of_agent += held;
            }
        }
        Ok((of_agent, of_company))
    }
}
