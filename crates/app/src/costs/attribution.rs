//! Where a cost is booked, and who may book it there (docs/budgets.md#cost-events).

use workforce_domain::actor::{AgentCredential, CompanyScope};
use workforce_domain::id::{AgentId, ProjectId, RunId};
use workforce_domain::issue::Issue;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, Failure, IssueFilter, Reads, StoreError};
use workforce_domain::run::Run;

use super::{CostError, ReportCost};
use crate::access::{Denied, FieldFault};
use crate::context::Context;

/// The run a report belongs to, and whether the caller may report it.
pub(super) fn reporting_run(
    ctx: &Context<'_>,
    command: &ReportCost,
) -> Result<Option<RunId>, Denied> {
    let Some(agent) = ctx.agent() else {
        return Ok(command.run);
    };
    if agent.agent != command.agent {
        return Err(Denied::Forbidden("an agent reports its own costs only"));
    }
    match agent.credential {
        AgentCredential::Run { run, .. } => {
            if command.run.is_some_and(|named| named != run) {
                return Err(Denied::Forbidden("a run reports its own costs only"));
            }
            Ok(Some(run))
        }
        AgentCredential::Key { run, .. } => Ok(command.run.or(run)),
    }
}

/// What a cost belongs to.
pub(super) struct Attribution {
    pub(super) run: Option<Run>,
    /// The one named, or the run's.
    pub(super) issue: Option<Issue>,
    /// The one whose budgets it counts against.
    pub(super) project: Option<ProjectId>,
}

/// What a report belongs to.
///
/// # Errors
/// [`CostError::Field`] when it names what is not there; [`Denied::Forbidden`] when an agent
/// books on the project of others.
pub(super) fn attribute(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    command: &ReportCost,
) -> Result<Attribution, Failure<CostError>> {
    let missing =
        |pointer, kind| Failure::Refused(CostError::Field(FieldFault::missing(pointer, kind)));
    let run = match command.run {
        Some(id) => Some(
            reads
                .runs()
                .find(scope.into(), id)?
                .filter(|run| run.agent == command.agent)
                .ok_or_else(|| missing("/runId", "run of this agent"))?,
        ),
        None => None,
    };
    if let Some(project) = command.project
        && reads.projects().find(scope.into(), project)?.is_none()
    {
        return Err(missing("/projectId", "project"));
    }
    if let Some(goal) = command.goal
        && reads.goals().find(scope.into(), goal)?.is_none()
    {
        return Err(missing("/goalId", "goal"));
    }
    let issue = match &command.issue {
        Some(named) => Some(
            reads
                .issues()
                .find(scope.into(), named)?
                .ok_or_else(|| missing("/issueId", "issue"))?,
        ),
        None => match run.as_ref().and_then(|run| run.issue) {
            Some(id) => reads.issues().find(scope.into(), &id.into())?,
            None => None,
        },
    };
    let claim = match &run {
        Some(run) => reads.ledger().run_spend(scope, run.id)?,
        None => None,
    };
    let claimed_in = match claim.and_then(|claim| claim.project) {
        Some(project) => reads.projects().find(scope.into(), project)?,
        None => None,
    };
    let claimed_in = claimed_in.map(|project| project.id);
    let of_run = run.as_ref().and_then(|run| run.issue);
    let is_of_run = issue.as_ref().map(|issue| issue.id) == of_run;
    let project = match command.project {
        Some(named) => Some(named),
        // The money of a run stays where it was claimed, also outside of any project.
        None if claimed_in.is_some() || (claim.is_some() && is_of_run) => claimed_in,
        None => issue.as_ref().and_then(|issue| issue.project),
    };
    if let Some(caller) = ctx.agent()
        && let Some(project) = project
        && claimed_in != Some(project)
        && !works_on(reads, scope, caller.agent, project, issue.as_ref())?
    {
        return Err(Denied::Forbidden(
            "an agent books costs only on the project of its run or on one in which it has an issue",
        )
        .into());
    }
    Ok(Attribution {
        run,
        issue,
        project,
    })
}

/// Whether an agent has an issue in a project, such as this one. It still has one that it gave
/// to somebody for review.
fn works_on(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    agent: AgentId,
    project: ProjectId,
    issue: Option<&Issue>,
) -> Result<bool, StoreError> {
    let is_in_review =
        |issue: &&Issue| issue.project == Some(project) && issue.implementer == Some(agent);
    if issue.filter(is_in_review).is_some() {
        return Ok(true);
    }
    let own = IssueFilter {
        assignee: Some(AssigneeFilter::Agent(agent)),
        project: Some(project),
        ..IssueFilter::default()
    };
    let one = PageRequest {
        limit: 1,
        ..PageRequest::first()
    };
    Ok(!reads.issues().list(scope, &own, &one)?.items.is_empty())
}
