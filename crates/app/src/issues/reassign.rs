use workforce_domain::actor::Owned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Issue, IssueStatus};
use workforce_domain::port::{Failure, Held, Tx};

use super::{IssueError, assignment, work};
use crate::access::{Denied, denied};
use crate::call::Call;
use crate::wakes;

/// Gives the issue to another agent, to a member of the board or to nobody; the
/// agent it was given to. Taking away what it has not changes nothing.
/// The lease ends with it, what would still have the former assignee work on
/// it is taken back, and whoever works on it is asked to stop, except the
/// caller's own run. The issue is changed, not saved.
pub(super) fn reassign(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &mut Held<Issue>,
    agent: Change<AgentId>,
    board: &Change<String>,
) -> Result<Option<Agent>, Failure<IssueError>> {
    let scope = issue.scope();
    assignment::require_one(agent.value().is_some(), board.value().is_some())?;
    let (new, agent) = match (agent, board) {
        (Change::Set(id), _) => {
            let agent = assignment::assignable(tx.reads(), call, scope, id)?;
            (Assignee::Agent(id), Some(agent))
        }
        (_, Change::Set(named)) => {
            let member = assignment::board_member(tx.reads(), named)?;
            (Assignee::Board(member), None)
        }
        (Change::Clear, _) if issue.assignee.agent().is_some() => (Assignee::Nobody, None),
        (_, Change::Clear) if issue.assignee.board().is_some() => (Assignee::Nobody, None),
        (Change::Keep | Change::Clear, _) => return Ok(None),
    };
    if new == issue.assignee {
        return Ok(None);
    }
    let former = issue.assignee.agent();
    if let Some(former) = former {
        if issue.status() == IssueStatus::InProgress
            && !assignment::may_assign(tx.reads(), call, scope, former)?
        {
            return Err(denied(Denied::Forbidden(
                "only its managers may take an agent's work in progress away",
            )));
        }
        wakes::withdraw(tx, call, scope, former, issue.id)?;
    }
    work::stop(tx, call, issue)?;
    tx.issues_mut().end_lease(issue)?;
    issue.assignee = new;
    Ok(agent)
}
