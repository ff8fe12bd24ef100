//! Parents of issues: of the same company, never a cycle, never too deep
//! (docs/issues.md#hierarchy).

use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{GoalId, IssueId, ProjectId};
use workforce_domain::issue::{Issue, IssueRef};
use workforce_domain::port::{Failure, Reads, Tx};

use super::IssueError;
use crate::access::FieldFault;

/// The parent a new issue is put below.
pub(super) fn parent_of_new(
    reads: &mut dyn Reads,
    company: CompanyScope,
    parent: &IssueRef,
) -> Result<Issue, Failure<IssueError>> {
    let found = existing(reads, company, parent)?;
    let above = reads.issues().ancestors(company, found.id)?.len();
    if above + 2 > Issue::MAX_DEPTH {
        return Err(Failure::Refused(IssueError::TooDeep));
    }
    Ok(found)
}

/// Checks that an issue may be moved below another, and tells the other's id.
pub(super) fn check_move(
    tx: &mut dyn Tx,
    company: CompanyScope,
    issue: &Issue,
    parent: &IssueRef,
) -> Result<IssueId, Failure<IssueError>> {
    let parent = existing(tx.reads(), company, parent)?.id;
    // Two moves at once could make a cycle that neither makes alone.
    tx.issues_mut().lock_hierarchy(company)?;
    let above = tx.issues().ancestors(company, parent)?;
    if parent == issue.id || above.iter().any(|ancestor| ancestor.id == issue.id) {
        return Err(Failure::Refused(IssueError::Cycle));
    }
    let below = tx.issues().depth_below(company, issue.id)?;
    if above.len() + below + 2 > Issue::MAX_DEPTH {
        return Err(Failure::Refused(IssueError::TooDeep));
    }
    Ok(parent)
}

fn existing(
    reads: &mut dyn Reads,
    company: CompanyScope,
    parent: &IssueRef,
) -> Result<Issue, Failure<IssueError>> {
    reads
        .issues()
        .find(company.into(), parent)?
        .ok_or_else(|| FieldFault::missing("/parentId", "issue").into())
}

/// Refuses a project or goal that does not exist in the company.
pub(super) fn check_places(
    reads: &mut dyn Reads,
    company: CompanyScope,
    project: Option<ProjectId>,
    goal: Option<GoalId>,
) -> Result<(), Failure<IssueError>> {
    if let Some(project) = project
        && reads.projects().find(company.into(), project)?.is_none()
    {
        return Err(FieldFault::missing("/projectId", "project").into());
    }
    if let Some(goal) = goal
        && reads.goals().find(company.into(), goal)?.is_none()
    {
        return Err(FieldFault::missing("/goalId", "goal").into());
    }
    Ok(())
}
