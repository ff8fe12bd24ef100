//! What happened to an approval, in its history and in the activity.

use serde_json::Value;
use workforce_domain::activity::Action;
use workforce_domain::approval::{
    Approval, ApprovalEvent, ApprovalHistoryEntry, ApprovalHistoryKind,
};
use workforce_domain::port::{Locked, StoreError, Tx};

use crate::activity_log::{document, log_change};
use crate::context::Context;

/// Writes down what the caller did to an approval, and keeps what it shows
/// where that is new.
pub(crate) fn append(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    kind: ApprovalHistoryKind,
    note: Option<&str>,
    details: Value,
) -> Result<(), StoreError> {
    let event = ApprovalEvent {
        id: ctx.id(),
        company: approval.company,
        approval: approval.id,
        kind,
        actor_kind: ctx.actor().kind(),
        actor_id: ctx.actor().name(),
        note: note.map(ToOwned::to_owned),
        details: document(details.clone()),
        created_at: ctx.now,
    };
    let payload = kind.submits().then(|| approval.payload.clone());
    tx.approvals_mut()
        .add_event(&ApprovalHistoryEntry { event, payload })?;
    log_change(tx, ctx, action(kind), approval, details);
    Ok(())
}

const fn action(kind: ApprovalHistoryKind) -> Action {
    match kind {
        ApprovalHistoryKind::Created => Action::ApprovalCreated,
        ApprovalHistoryKind::Approved => Action::ApprovalApproved,
        ApprovalHistoryKind::Rejected => Action::ApprovalRejected,
        ApprovalHistoryKind::RevisionRequested => Action::ApprovalRevisionRequested,
        ApprovalHistoryKind::Resubmitted => Action::ApprovalResubmitted,
        ApprovalHistoryKind::Edited => Action::ApprovalEdited,
        ApprovalHistoryKind::Cancelled => Action::ApprovalCancelled,
    }
}
