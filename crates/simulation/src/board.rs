//! What people do.

use workforce_app::agents::{self, UpdateAgent};
use workforce_app::approvals::{self, Decide};
use workforce_app::companies::{self, UpdateCompany};
use workforce_app::issues::{self, AddComment, CheckOut, UpdateIssue};
use workforce_app::runs;
use workforce_domain::Document;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, IssueId, RunId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Budget;

use crate::simulation::Simulation;
use crate::text::comment;
use crate::world::{Answer, Broken, demand};

impl Simulation {
    /// The board does something, and sometimes once more, because it heard no answer.
    pub(crate) fn board_step(&mut self) -> Result<(), Broken> {
        let (Some(agent), Some(issue)) = (
            self.random.pick(&self.agents),
            self.random.pick(&self.issues),
        ) else {
            return Ok(());
        };
        let deed = self.random.below(17);
        let times = if self.fault(15) { 2 } else { 1 };
        let drawn = self.random.draw();
        for _ in 0..times {
            let (what, answer) = self.deed(deed, drawn, agent, issue)?;
            self.note(|names| {
                let (agent, issue) = (names.of(agent), names.of(issue));
                format!("the board {what} ({agent}, {issue}): {answer}")
            });
        }
        self.note_used_up(agent)
    }

    fn deed(
        &mut self,
        deed: usize,
        drawn: u64,
        agent: AgentId,
        issue: IssueId,
    ) -> Result<(&'static str, &'static str), Broken> {
        Ok(match deed {
            0..=3 => ("assigns", self.assign(agent, issue)?),
            4..=5 => ("invokes", self.invoke(agent)?),
            6 => {
                let status = if drawn.is_multiple_of(2) {
                    IssueStatus::Done
                } else {
                    IssueStatus::Cancelled
                };
                ("ends the issue", self.change_issue(issue, status)?)
            }
            7 => (
                "moves the issue to todo",
                self.change_issue(issue, IssueStatus::Todo)?,
            ),
            8 => {
                let answer = self.world.board(|tx, ctx| {
                    let command = AddComment {
                        body: comment("@Ada, @Bob, go on."),
                        reopen: Some(drawn.is_multiple_of(2)),
                        interrupt: Some(drawn.is_multiple_of(3)),
                    };
                    issues::add_comment(tx, ctx, &issue.into(), command)
                })?;
                ("comments", answer.word())
            }
            9 => {
                let answer = self.world.board(|tx, ctx| agents::pause(tx, ctx, agent))?;
                ("pauses the agent", answer.word())
            }
            10 => {
                let force = drawn.is_multiple_of(3);
                let answer = self
                    .world
                    .board(|tx, ctx| agents::resume(tx, ctx, agent, force))?;
                ("resumes the agent", answer.word())
            }
            11 => {
                let cents = [0, 10, 25, 60][usize::try_from(drawn % 4).unwrap_or_default()];
                (
                    "sets the budget of the agent",
                    self.limit_agent(agent, cents)?,
                )
            }
            12 => {
                let cents = [0, 40, 90][usize::try_from(drawn % 3).unwrap_or_default()];
                ("sets the budget of the company", self.limit_company(cents)?)
            }
            13 => ("cancels a run", self.cancel_run(drawn)?),
            14 => {
                let command = CheckOut {
                    agent: Some(agent),
                    expected: None,
                };
                let answer = self
                    .world
                    .board(|tx, ctx| issues::check_out(tx, ctx, &issue.into(), command.clone()))?;
                ("checks out for the agent", answer.word())
            }
            15 => ("decides on a plan", self.decide(drawn)?),
            _ => ("switches the company", self.switch_company(drawn)?),
        })
    }

    /// An open issue that is given to an agent waits for it, or it works on it already.
    fn assign(&mut self, agent: AgentId, issue: IssueId) -> Result<&'static str, Broken> {
        let command = UpdateIssue {
            assignee_agent_id: Change::Set(agent),
            ..UpdateIssue::default()
        };
        let answer = self
            .world
            .board(|tx, ctx| issues::update(tx, ctx, &issue.into(), command.clone()))?;
        Ok(answer.word())
    }

    fn invoke(&mut self, agent: AgentId) -> Result<&'static str, Broken> {
        let answer = self
            .world
            .board(|tx, ctx| runs::invoke(tx, ctx, agent, Document::new()))?;
        let word = answer.word();
        if let Some(invoked) = answer.done() {
            let waits = self.waiting()?.contains_key(&invoked.run.id);
            demand(waits, "who is invoked waits for a run", || {
                format!("{} does not wait", invoked.run.id)
            })?;
        }
        Ok(word)
    }

    fn change_issue(
        &mut self,
        issue: IssueId,
        status: IssueStatus,
    ) -> Result<&'static str, Broken> {
        let command = UpdateIssue {
            status: Replace::Set(status),
            ..UpdateIssue::default()
        };
        let answer = self
            .world
            .board(|tx, ctx| issues::update(tx, ctx, &issue.into(), command.clone()))?;
        Ok(answer.word())
    }

    /// Sets the limit of an agent; 0 for none.
    pub(crate) fn limit_agent(
        &mut self,
        agent: AgentId,
        cents: i64,
    ) -> Result<&'static str, Broken> {
        let command = UpdateAgent {
            budget: Budget::from_cents(cents).ok(),
            ..UpdateAgent::default()
        };
        let answer = self
            .world
            .board(|tx, ctx| agents::update(tx, ctx, agent, command.clone()))?;
        Ok(answer.word())
    }

    /// Sets the limit of the company; 0 for none.
    pub(crate) fn limit_company(&mut self, cents: i64) -> Result<&'static str, Broken> {
        let command = UpdateCompany {
            budget_monthly_cents: Budget::from_cents(cents).map_or(Replace::Keep, Replace::Set),
            ..UpdateCompany::default()
        };
        let company = self.company;
        let answer = self
            .world
            .board(|tx, ctx| companies::update(tx, ctx, company, command.clone()))?;
        Ok(answer.word())
    }

    fn cancel_run(&mut self, drawn: u64) -> Result<&'static str, Broken> {
        let mut runs: Vec<RunId> = self.running()?.iter().map(|run| run.id).collect();
        runs.extend(self.books.waiting.keys());
        let place = usize::try_from(drawn % 64).unwrap_or_default();
        let Some(run) = place.checked_rem(runs.len()).and_then(|it| runs.get(it)) else {
            return Ok("there is none");
        };
        let answer = self.world.board(|tx, ctx| runs::cancel(tx, ctx, *run))?;
        self.books.cancelled = Some(*run);
        Ok(answer.word())
    }

    fn decide(&mut self, drawn: u64) -> Result<&'static str, Broken> {
        let place = usize::try_from(drawn % 64).unwrap_or_default();
        let plan = place.checked_rem(self.plans.len());
        let Some(plan) = plan.and_then(|place| self.plans.get(place).copied()) else {
            return Ok("there is none");
        };
        let decide = Decide {
            decision_note: None,
            force: Some(false),
            seen: None,
        };
        let answer = self.world.board(|tx, ctx| match drawn >> 32 & 3 {
            0 => approvals::reject(tx, ctx, plan, decide.clone()),
            1 => approvals::request_revision(tx, ctx, plan, decide.clone()),
            _ => approvals::approve(tx, ctx, plan, decide.clone()),
        })?;
        Ok(answer.word())
    }

    fn switch_company(&mut self, drawn: u64) -> Result<&'static str, Broken> {
        let company = self.company;
        let answer: Answer<_> = self.world.board(|tx, ctx| {
            if drawn.is_multiple_of(3) {
                companies::pause(tx, ctx, company)
            } else {
                companies::resume(tx, ctx, company)
            }
        })?;
        Ok(answer.word())
    }
}
