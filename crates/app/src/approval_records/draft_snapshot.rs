//! The payload of a hire: it always shows the draft as it is stored, so that
//! the board agrees to exactly what it reads.

use serde::Serialize;
use serde_json::json;
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalHistoryKind};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Tx};

use super::save::save_transition;
use super::{history, review_flags};
use crate::access::{FieldFault, check_document};
use crate::activity_log::document;
use crate::context::Context;
use crate::masking::masked;
use crate::refusal::{Code, Codes};

/// The payload that shows a draft, with what `extras` says beyond.
pub(crate) fn of(draft: &Agent, mut extras: Document) -> Result<Document, FieldFault> {
    extras.remove("hire");
    extras.extend(document(json!({
        "agentId": draft.id,
        "name": draft.name,
        "role": draft.role,
        "title": draft.title,
        "icon": draft.icon,
        "capabilities": draft.capabilities,
        "reportsTo": draft.reports_to,
        "adapterType": draft.adapter_type,
        "adapterConfig": draft.adapter_config,
        "runtimeConfig": draft.runtime_config,
        "budgetMonthlyCents": draft.budget.cents(),
        "permissions": { "canCreateAgents": draft.can_create_agents },
        "metadata": draft.metadata,
    })));
    let payload = masked(extras);
    check_document(&payload, "/payload", Approval::MAX_PAYLOAD)?;
    Ok(payload)
}

/// What a change of a draft is refused with: its approval could not show it.
pub const DRAFT_EDITED: Codes = Codes::of(&[Code::InvalidField]);

/// Notes in the history of a draft's approval that the board changed the
/// draft, and shows the draft as it is now.
///
/// # Errors
/// The fault of a draft that became too large to be shown.
pub(crate) fn draft_edited(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: &Locked<Agent>,
    changed: &[impl Serialize],
) -> Result<(), Failure<FieldFault>> {
    let company = draft.scope();
    let Some(id) = tx.approvals().find_by_draft(company, draft.id)? else {
        return Ok(());
    };
    let Some(mut approval) = tx.approvals_mut().lock(company.into(), id)? else {
        return Ok(());
    };
    let status = approval.status();
    if status.is_terminal() {
        return Ok(());
    }
    let extras = std::mem::take(&mut approval.payload);
    approval.payload = of(draft, extras).map_err(Failure::Refused)?;
    if approval.requested_by.agent().is_some() {
        approval.attention = review_flags::of(draft);
    }
    approval.updated_at = ctx.now;
    save_transition(tx, &mut approval, status)?;
    let details = json!({ "agentId": draft.id, "changed": changed });
    let kind = ApprovalHistoryKind::Edited;
    Ok(history::append(
        tx,
        ctx,
        &mut approval,
        kind,
        None,
        details,
    )?)
}
