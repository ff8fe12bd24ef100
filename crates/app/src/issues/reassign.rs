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

/// Gives the issue to another agent or to nobody; the agent it was given to.
/// The lease ends with it, what would still have the former assignee work on
/// it is taken back, and whoever works on it is asked to stop, except the
/// caller's own run. The issue is changed, not saved.
pub(super) fn reassign(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &mut Held<Issue>,
    assignee: Change<AgentId>,
) -> Result<Option<Agent>, Failure<IssueError>> {
    let scope = issue.scope();
    let (new, agent) = match assignee {
        Change::Keep => return Ok(None),
        Change::Clear => (Assignee::Nobody, None),
        Change::Set(id) => {
            let agent = assignment::assignable(tx.reads(), call, scope, id)?;
            (Assignee::Agent(id), Some(agent))
        }
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
