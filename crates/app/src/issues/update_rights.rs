//! Who may change what of an issue (docs/issues.md#rights).

use workforce_domain::actor::{AgentCredential, CompanyOwned};
use workforce_domain::change::Replace;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::port::{Failure, StoreError, Tx};

use super::checkout_by_update::takes_up;
use super::update_command::UpdateIssue;
use super::{IssueError, MAX_DOCUMENT, assignment, reviews, status, working_run};
use crate::access::{self, Denied};
use crate::agents;
use crate::context::Context;

/// Refuses what the caller may not change.
pub(super) fn check_rights(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    command: &UpdateIssue,
) -> Result<(), Failure<IssueError>> {
    if !command.hidden_at.is_keep() || !command.assignee_adapter_overrides.is_keep() {
        ctx.require_board()?;
    }
    if let Some(overrides) = command.assignee_adapter_overrides.value() {
        access::check_document(overrides, "/assigneeAdapterOverrides", MAX_DOCUMENT)?;
        let before = issue.assignee_adapter_overrides.as_ref();
        let scope = issue.scope();
        agents::check_overrides::<IssueError>(tx, ctx, scope, before, overrides)?;
    }
    let Some(caller) = ctx.agent() else {
        return Ok(());
    };
    let begins = command.status == Replace::Set(IssueStatus::InProgress);
    if let AgentCredential::Run { consult: true, .. } = caller.credential
        && begins
    {
        return Err(Failure::Refused(IssueError::ConsultRun));
    }
    // Whoever may check an issue out may do so here as well.
    let takes_up = begins && takes_up(ctx, issue, command)?;
    // Whoever did the work may go on with it before it is reviewed.
    let takes_back = issue.implementer == Some(caller.agent)
        && command.only_takes_up()
        && reviews::is_sent_back(ctx, issue, command);
    if !takes_back && (!takes_up || !command.only_takes_up()) {
        let to = command.assignee_agent_id.value().copied();
        assignment::require_stake(tx.reads(), ctx, issue.scope(), issue, to)?;
    }
    if command
        .status
        .value()
        .is_some_and(|to| to != issue.status())
    {
        working_run::require_no_other_run(tx, ctx, issue, caller.agent)?;
    }
    // An issue cannot be moved out of the reach of its project's demand.
    if !command.project_id.is_keep() && status::project_demands_review(tx, issue)? {
        return Err(Denied::Forbidden(
            "only the board takes an issue out of a project that demands reviews",
        )
        .into());
    }
    let moves = command.project_id.apply(issue.project) != issue.project;
    if moves && is_project_limited(tx, issue)? {
        return Err(Denied::Forbidden(
            "only the board takes an issue out of a project with a budget",
        )
        .into());
    }
    Ok(())
}

/// True when the issue's project has a limit of money.
fn is_project_limited(tx: &mut dyn Tx, issue: &Issue) -> Result<bool, StoreError> {
    let Some(project) = issue.project else {
        return Ok(false);
    };
    let project = tx.projects().find(issue.scope().into(), project)?;
    Ok(project.is_some_and(|project| {
        let limits = [project.budget, project.total_budget];
        limits.iter().any(|budget| budget.limit().is_some())
    }))
}
