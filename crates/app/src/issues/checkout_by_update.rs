//! An update by which an agent takes up an issue. It has the effect of a checkout.

use workforce_domain::change::Change;
use workforce_domain::issue::{DEFAULT_EXPECTED, Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{EmployedAgent, Failure, Locked, Tx};

use super::update_command::UpdateIssue;
use super::{IssueError, checkout, reviews, status};
use crate::access::Denied;
use crate::context::Context;

/// True when setting in_progress means that the calling agent begins to work,
/// which is a checkout (docs/issues.md#status-changes). Reviewed work goes back to
/// whoever did it, and what else stands in review to its assignee when somebody
/// else sends it there.
pub(super) fn takes_up(
    ctx: &Context<'_>,
    before: &Issue,
    command: &UpdateIssue,
) -> Result<bool, Failure<IssueError>> {
    let Some(caller) = ctx.agent() else {
        return Ok(false);
    };
    if reviews::is_sent_back(ctx, before, command) {
        return Ok(false);
    }
    let own = before.assignee.agent() == Some(caller.agent);
    let (status, in_review) = (before.status(), before.status() == IssueStatus::InReview);
    let goes_on = status == IssueStatus::InProgress && own;
    let handed_over = match (command.assignee_agent_id, &command.assignee_user_id) {
        (_, Change::Set(_)) => true,
        (Change::Set(other), _) => other != caller.agent,
        (Change::Keep | Change::Clear, _) => false,
    };
    match command.assignee_agent_id {
        Change::Clear if !handed_over => Err(Failure::Refused(IssueError::AssigneeRequired)),
        _ if handed_over => {
            if in_review || status == IssueStatus::InProgress {
                return Ok(false);
            }
            Err(Denied::Forbidden("an agent checks out as itself only").into())
        }
        Change::Set(_) => Ok(!goes_on),
        Change::Keep | Change::Clear => Ok(!goes_on && (own || !in_review)),
    }
}

pub(super) fn check_out_itself(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    caller: Option<&EmployedAgent>,
) -> Result<(), Failure<IssueError>> {
    if issue.status().is_terminal() {
        status::transition(tx, ctx, issue, IssueStatus::InProgress)?;
    }
    let caller = caller.ok_or(Denied::Forbidden("the agent was terminated"))?;
    let expected = [DEFAULT_EXPECTED.as_slice(), &[IssueStatus::InReview]].concat();
    checkout::take(tx, ctx, issue, caller, Some(expected))?;
    Ok(())
}
