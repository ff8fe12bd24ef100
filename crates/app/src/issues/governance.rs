//! Issues whose end somebody else agrees to (docs/issues.md#governed-issues).

use workforce_domain::actor::CompanyOwned;
use workforce_domain::issue::{Governance, Issue};
use workforce_domain::port::{Failure, Reads, StoreError};

use super::IssueError;
use crate::access::Denied;
use crate::context::Context;

/// What governs an issue, of its own or from above it.
pub(super) fn governance_of(
    reads: &mut dyn Reads,
    issue: &Issue,
) -> Result<Governance, StoreError> {
    reads.issues().governance(issue.scope(), issue.id)
}

/// Refuses an agent where a project demands a plan that is not approved.
pub(super) fn require_plan(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    if ctx.agent().is_none() {
        return Ok(());
    }
    let governance = governance_of(reads, issue)?;
    refuse_without_plan(governance, issue)
}

/// Refuses where a project demands a plan that is not approved.
pub(super) fn refuse_without_plan(
    governance: Governance,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    match governance.missing_plan() {
        Some(project) => Err(Failure::Refused(IssueError::PlanRequired {
            issue: issue.id,
            project,
        })),
        None => Ok(()),
    }
}

/// What governed an issue before an agent moved it; `None` where nobody asks.
pub(super) fn before_move(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &Issue,
    moves: bool,
) -> Result<Option<Governance>, StoreError> {
    if !moves || ctx.agent().is_none() {
        return Ok(None);
    }
    governance_of(reads, issue).map(Some)
}

/// Refuses an agent that moves an issue to where nobody else agrees to its end, or
/// below one for which its project demands a plan. To be asked when the moved issue
/// is saved.
pub(super) fn check_move(
    reads: &mut dyn Reads,
    before: &Issue,
    governed_before: Option<Governance>,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    let Some(governed_before) = governed_before else {
        return Ok(());
    };
    let now = governance_of(reads, issue)?;
    if governed_before.governed && !now.governed {
        return Err(Denied::Forbidden("only the board takes an issue out of governed work").into());
    }
    if issue.parent.is_some() && issue.parent != before.parent {
        refuse_without_plan(now, issue)?;
    }
    Ok(())
}
