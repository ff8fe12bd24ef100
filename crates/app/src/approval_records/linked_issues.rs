//! The issues that an approval is linked to.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::Approval;
use workforce_domain::id::IssueId;
use workforce_domain::port::{Reads, StoreError};

/// The issues that an approval is linked to, its primary one first.
pub(crate) fn of(reads: &mut dyn Reads, approval: &Approval) -> Result<Vec<IssueId>, StoreError> {
    let links = reads.approvals().links(approval.scope(), &[approval.id])?;
    let ids = links.into_iter().map(|(_, issue)| issue).collect();
    Ok(primary_first(approval, ids))
}

/// Puts the primary issue of an approval in front.
pub(crate) fn primary_first(approval: &Approval, mut issues: Vec<IssueId>) -> Vec<IssueId> {
    if let Some(primary) = approval.primary_issue {
        issues.retain(|issue| *issue != primary);
        issues.insert(0, primary);
    }
    issues
}
