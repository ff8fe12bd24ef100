//! How far the issues of projects and goals have come.

use workforce_domain::dashboard::IssueTally;
use workforce_domain::id::{CompanyId, GoalId, ProjectId};
use workforce_domain::port::{Failure, Reads};

use super::IssueError;
use crate::access;
use crate::context::Context;

/// How many issues each project has, as far as it has any. Anyone of the company.
pub fn count_by_project(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Vec<(ProjectId, IssueTally)>, Failure<IssueError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.issues().count_by_project(scope)?)
}

/// How many issues each goal has itself, as far as it has any. Anyone of the company.
pub fn count_by_goal(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Vec<(GoalId, IssueTally)>, Failure<IssueError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.issues().count_by_goal(scope)?)
}
