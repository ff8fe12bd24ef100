use serde_json::json;
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::Agent;
use workforce_domain::approval::{
    Approval, ApprovalHistoryKind, ApprovalState, ApprovalType, ReviewFlag,
};
use workforce_domain::board::Author;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{Locked, StoreError, Tx};

use super::view::ApprovalView;
use crate::approval_records::{history, linked_issues};
use crate::context::Context;

/// An approval that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedApproval {
    /// The approval.
    pub view: ApprovalView,
    /// True when the same was asked for already and is undecided; that one is
    /// answered then, and nothing was written.
    pub existing: bool,
}

/// What is known of an approval that is about to be made.
pub(super) struct NewApproval {
    pub(super) kind: ApprovalType,
    pub(super) requested_by: Author,
    pub(super) payload: Document,
    pub(super) attention: Vec<ReviewFlag>,
    pub(super) primary_issue: Option<IssueId>,
}

/// Stores a new approval and begins its history.
pub(super) fn insert(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    new: NewApproval,
    issues: &[Locked<Issue>],
    draft: Option<&Locked<Agent>>,
) -> Result<Locked<Approval>, StoreError> {
    let approval = Approval {
        id: ctx.id(),
        company: scope.company(),
        kind: new.kind,
        state: ApprovalState::Pending,
        payload: new.payload,
        attention: new.attention,
        requested_by: new.requested_by,
        primary_issue: new.primary_issue,
        resubmit_count: 0,
        revision: 1,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let mut approval = tx.approvals_mut().insert(approval, issues, draft)?;
    let mut ids: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
    ids.sort_unstable();
    let details = json!({ "issueIds": linked_issues::primary_first(&approval, ids) });
    let kind = ApprovalHistoryKind::Created;
    history::append(tx, ctx, &mut approval, kind, None, details)?;
    Ok(approval)
}
