//! An approval that asks for something else, or asks again, is written down.

use std::collections::BTreeSet;

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::approval::{Approval, ApprovalHistoryKind, ApprovalStatus};
use workforce_domain::port::{Locked, StoreError, Tx};

use crate::approval_records::{history, save_transition};
use crate::context::Context;

/// Shows the board something else than it was asked for first; nothing where that is the same.
pub(super) fn edit(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    payload: Document,
) -> Result<(), StoreError> {
    let before = std::mem::replace(&mut approval.payload, payload);
    let keys = before.keys().chain(approval.payload.keys());
    let changed: BTreeSet<&String> = keys
        .filter(|key| before.get(*key) != approval.payload.get(*key))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let details = json!({ "changed": changed });
    let from = approval.status();
    approval.updated_at = ctx.now;
    save_transition(tx, approval, from)?;
    history::append(
        tx,
        ctx,
        approval,
        ApprovalHistoryKind::Edited,
        None,
        details,
    )
}

/// Writes down an approval that was sent again.
pub(super) fn note(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    from: ApprovalStatus,
    replaced: bool,
) -> Result<(), StoreError> {
    approval.resubmit_count = approval.resubmit_count.saturating_add(1);
    approval.updated_at = ctx.now;
    save_transition(tx, approval, from)?;
    let details = json!({ "payloadReplaced": replaced, "resubmitCount": approval.resubmit_count });
    let kind = ApprovalHistoryKind::Resubmitted;
    history::append(tx, ctx, approval, kind, None, details)
}
