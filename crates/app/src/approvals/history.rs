//! What happened to an approval, in its history and in the activity.

use serde_json::{Value, json};
use workforce_domain::activity::{Action, Entity};
use workforce_domain::approval::{
    Approval, ApprovalEvent, ApprovalHistoryEntry, ApprovalHistoryKind,
};
use workforce_domain::port::{Held, StoreError, Tx};

use crate::call::Call;
use crate::changes::Changes;
use crate::record::{Deed, document, record_changes};

/// Writes down what the caller did to an approval, and keeps what it shows
/// where that is new.
pub(super) fn tell(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    approval: &mut Held<Approval>,
    kind: ApprovalHistoryKind,
    note: Option<&str>,
    details: Value,
) -> Result<(), StoreError> {
    let details = document(details);
    let event = ApprovalEvent {
        id: call.id(),
        company: approval.company,
        approval: approval.id,
        kind,
        actor_kind: call.actor().kind(),
        actor_id: call.actor().name(),
        note: note.map(ToOwned::to_owned),
        details: details.clone(),
        created_at: call.now,
    };
    let payload = kind.submits().then(|| approval.payload.clone());
    tx.approvals_mut()
        .add_event(&ApprovalHistoryEntry { event, payload })?;
    let mut told = details;
    told.insert("type".into(), json!(approval.kind));
    told.insert("status".into(), json!(approval.status()));
    let changes = Changes::of(approval);
    let deed = Deed {
        company: approval.company,
        action: action(kind),
        entity: Entity::Approval,
        id: &approval.id,
        details: told,
    };
    record_changes(tx, call, deed, changes);
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
