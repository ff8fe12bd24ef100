//! Approvals as they are stored: the one that a caller names, and who may act
//! on it.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::Approval;
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Failure, Locked, Tx};

use super::error::ApprovalError;
use crate::access::Denied;
use crate::context::Context;

/// The approval that a caller names, as it is now, not locked.
pub(super) fn seen(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Approval, Failure<ApprovalError>> {
    tx.approvals()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("approval").into())
}

/// Locks an approval that was just seen. Its draft and its issues are locked
/// before it.
pub(super) fn lock(
    tx: &mut dyn Tx,
    approval: &Approval,
) -> Result<Locked<Approval>, Failure<ApprovalError>> {
    tx.approvals_mut()
        .lock(approval.scope().into(), approval.id)?
        .ok_or_else(|| Denied::NotFound("approval").into())
}

/// Refuses agents other than the one that asked.
pub(super) fn require_requester(
    ctx: &Context<'_>,
    approval: &Approval,
) -> Result<(), Failure<ApprovalError>> {
    match ctx.agent() {
        Some(caller) if approval.requested_by.agent() != Some(caller.agent) => {
            Err(Denied::Forbidden("only the agent that asked, or the board, may do this").into())
        }
        _ => Ok(()),
    }
}
