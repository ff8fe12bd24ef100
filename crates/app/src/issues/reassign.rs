use workforce_domain::actor::Owned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignment, Issue, IssueStatus};
use workforce_domain::port::{EmployedAgent, Failure, Held, Shared, StoreError, Tx};

use super::{IssueError, assignment, work};
use crate::access::{Denied, denied};
use crate::call::Call;
use crate::wakes;

/// Another assignee of an issue.
pub(super) struct Reassignment {
    /// Who had it.
    pub(super) former: Option<AgentId>,
    /// Who gets it.
    pub(super) new: Option<EmployedAgent>,
}

/// Decides whom an issue is given to; `None` when it stays where it is.
/// `candidate` is the agent that the change names.
pub(super) fn decide(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &Issue,
    assignee: Change<AgentId>,
    candidate: Option<Shared<Agent>>,
) -> Result<Option<Reassignment>, Failure<IssueError>> {
    let scope = issue.scope();
    let new = match assignee {
        Change::Keep => return Ok(None),
        Change::Clear => None,
        Change::Set(_) => Some(assignment::assignable(tx.reads(), call, scope, candidate)?),
    };
    if new
        .as_ref()
        .map_or(Assignment::NOBODY, Assignment::to_agent)
        == issue.assignee
    {
        return Ok(None);
    }
    let former = issue.assignee.agent();
    if let Some(former) = former
        && issue.status() == IssueStatus::InProgress
        && !assignment::may_assign(tx.reads(), call, scope, former)?
    {
        return Err(denied(Denied::Forbidden(
            "only its managers may take an agent's work in progress away",
        )));
    }
    Ok(Some(Reassignment { former, new }))
}

impl Reassignment {
    /// Gives the issue over: the lease ends, and whoever works on it is asked
    /// to stop, except the caller's own run. The issue is changed, not saved.
    pub(super) fn carry_out(
        &self,
        tx: &mut dyn Tx,
        call: &Call<'_>,
        issue: &mut Held<Issue>,
    ) -> Result<(), StoreError> {
        work::stop(tx, call, issue)?;
        tx.issues_mut().end_lease(issue)?;
        let to = self.new.as_ref();
        issue.assignee = to.map_or(Assignment::NOBODY, Assignment::to_agent);
        Ok(())
    }

    /// Takes back what would still have the former assignee work on the issue.
    pub(super) fn withdraw_wake(
        &self,
        tx: &mut dyn Tx,
        call: &Call<'_>,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        match self.former {
            Some(former) => wakes::withdraw(tx, call, issue.scope(), former, issue.id),
            None => Ok(()),
        }
    }
}
