use workforce_app::approvals::ApprovalError;
use workforce_domain::port::{CarryOutError, StoreError};

use super::Problem;

impl Problem {
    /// The answer to what was not done outside of the store.
    pub(crate) fn not_carried_out(error: CarryOutError) -> Self {
        match error {
            // Whoever can say more asks the store first.
            CarryOutError::Overtaken => StoreError::Contended.into(),
            CarryOutError::Step(failure) => Self::refused(ApprovalError::Step(failure)),
            CarryOutError::Store(error) => error.into(),
        }
    }
}
