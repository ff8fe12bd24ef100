use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignment, Issue, IssueStatus};
use workforce_domain::port::{EmployedAgent, Failure, Locked, Shared, StoreError, Tx};
use workforce_domain::wake::WakeReason;

use super::{IssueError, assignment, working_run};
use crate::access::Denied;
use crate::context::Context;
use crate::wakes;

/// Why an issue gets another assignee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// It is assigned.
    Assignment,
    /// The work of this agent is to be reviewed.
    Review {
        /// Who did it.
        implementer: AgentId,
    },
    /// Reviewed work goes back to whoever did it.
    Return,
}

/// Another assignee of an issue.
pub(super) struct Reassignment {
    /// Who had it.
    pub(super) former: Option<AgentId>,
    /// The agent that gets it.
    pub(super) new: Option<EmployedAgent>,
    /// Who gets it.
    pub(super) to: Assignment,
    /// Why.
    pub(super) occasion: Occasion,
}

/// Decides whom an issue is given to: an agent, a member of the board or
/// nobody; `None` when the assignee stays. Removing an assignee that the issue
/// does not have changes nothing. `candidate` is the agent that the change names.
pub(super) fn decide(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    agent: Change<AgentId>,
    board: &Change<String>,
    candidate: Option<Shared<Agent>>,
) -> Result<Option<Reassignment>, Failure<IssueError>> {
    let scope = issue.scope();
    assignment::require_one(agent.value().is_some(), board.value().is_some())?;
    let (to, new) = match (agent, board) {
        (Change::Set(_), _) => {
            let agent = assignment::assignable(tx.reads(), ctx, scope, candidate)?;
            (Assignment::to_agent(&agent), Some(agent))
        }
        (_, Change::Set(named)) => {
            let member = assignment::board_member(tx.reads(), named)?;
            (Assignment::to_board(member), None)
        }
        (Change::Clear, _) if issue.assignee.agent().is_some() => (Assignment::NOBODY, None),
        (_, Change::Clear) if issue.assignee.board().is_some() => (Assignment::NOBODY, None),
        (Change::Keep | Change::Clear, _) => return Ok(None),
    };
    if to == issue.assignee {
        return Ok(None);
    }
    let former = issue.assignee.agent();
    if let Some(former) = former
        && issue.status() == IssueStatus::InProgress
        && !assignment::may_assign(tx.reads(), ctx, scope, former)?
    {
        return Err(Denied::Forbidden(
            "only its managers may take an agent's work in progress away",
        )
        .into());
    }
    Ok(Some(Reassignment {
        former,
        new,
        to,
        occasion: Occasion::Assignment,
    }))
}

impl Reassignment {
    /// Gives the issue over: the lease ends, and whoever works on it is asked
    /// to stop, except the caller's own run and the runs of an agent that asks for
    /// a review, which end their turn. The issue is changed, not saved.
    pub(super) fn carry_out(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &mut Locked<Issue>,
    ) -> Result<(), StoreError> {
        match self.occasion {
            Occasion::Review { implementer } => issue.implementer = Some(implementer),
            Occasion::Assignment | Occasion::Return => working_run::stop(tx, ctx, issue)?,
        }
        tx.issues_mut().end_lease(issue)?;
        issue.assignee = self.to;
        Ok(())
    }

    /// Tells the new assignee of it.
    pub(super) fn wake(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        let Some(agent) = &self.new else {
            return Ok(());
        };
        let told = match self.occasion {
            Occasion::Assignment => {
                let reason = WakeReason::IssueAssigned;
                return assignment::wake_assignee(tx, ctx, issue, agent, reason);
            }
            Occasion::Review { implementer } => {
                json!({ "review": true, "implementerAgentId": implementer })
            }
            Occasion::Return => json!({ "returned": true, "reviewerAgentId": self.former }),
        };
        assignment::wake_after_handover(tx, ctx, issue, agent, told)
    }

    /// Withdraws the wake of the former assignee to work on the issue.
    pub(super) fn withdraw_wake(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        match self.former {
            Some(former) => wakes::withdraw(tx, ctx, issue.scope(), former, issue.id),
            None => Ok(()),
        }
    }
}
