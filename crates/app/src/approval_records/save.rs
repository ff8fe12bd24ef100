use workforce_domain::approval::{Approval, ApprovalStatus};
use workforce_domain::port::{Locked, StoreError, Tx};

/// Saves a locked approval that stood in `from`, as its next revision.
pub(crate) fn save_transition(
    tx: &mut dyn Tx,
    approval: &mut Locked<Approval>,
    from: ApprovalStatus,
) -> Result<(), StoreError> {
    approval.revision = approval.revision.saturating_add(1);
    if tx.approvals_mut().transition(approval, &[from])? {
        Ok(())
    } else {
        // Another decision came first: the body runs again and sees it.
        Err(StoreError::Contended)
    }
}
