//! The fields of an issue that follow no lifecycle.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Tx};

use super::hierarchy::Followers;
use super::update_command::UpdateIssue;
use super::{IssueError, hierarchy, labels};
use crate::changes::Changes;
use crate::context::Context;

/// Takes over the fields that follow no lifecycle; tells what changed of the
/// labels, which are no field of the issue's own.
pub(super) fn describe(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    command: UpdateIssue,
    followers: Option<Followers>,
) -> Result<Changes, Failure<IssueError>> {
    let scope = issue.scope();
    let (project, goal) = (
        command.project_id.value().copied(),
        command.goal_id.value().copied(),
    );
    hierarchy::check_places(tx.reads(), scope, project, goal)?;
    let ends = command.status.value().is_some_and(|to| to.is_terminal());
    let parent = match command.parent_id {
        Change::Keep => issue.parent,
        Change::Clear => None,
        Change::Set(parent) => Some(hierarchy::check_move(tx, ctx, scope, issue, &parent, ends)?),
    };
    if let Replace::Set(title) = command.title {
        issue.title = title;
    }
    issue.description = command.description.apply(issue.description.take());
    issue.priority = command.priority.apply(issue.priority);
    issue.project = command.project_id.apply(issue.project);
    issue.goal = command.goal_id.apply(issue.goal);
    hierarchy::move_below(tx, ctx, issue, parent, followers)?;
    issue.billing_code = command.billing_code.apply(issue.billing_code.take());
    issue.ticket_key = command.ticket_key.apply(issue.ticket_key.take());
    issue.assignee_adapter_overrides = command
        .assignee_adapter_overrides
        .apply(issue.assignee_adapter_overrides.take());
    match command.hidden_at {
        Change::Set(_) if issue.hidden_at.is_none() => issue.hidden_at = Some(ctx.now),
        Change::Clear => issue.hidden_at = None,
        Change::Set(_) | Change::Keep => {}
    }
    match command.label_ids {
        Change::Keep => Ok(Changes::none()),
        Change::Clear => labels::replace(tx, issue, Vec::new()),
        Change::Set(asked) => labels::replace(tx, issue, asked),
    }
}
