//! Accounts of which a provider wants to hear nothing for a while.

use super::FailureClass;
use crate::id::{CompanyId, RunId};
use crate::text::AccountKey;
use crate::time::Timestamp;

/// Until when the provider of a model refuses an account: a run that used the
/// account was told so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderGate {
    /// The company whose agents use the account.
    pub company: CompanyId,
    /// What tells the account from others of the company; never a credential.
    pub account: AccountKey,
    /// The first instant at which it makes sense to ask again.
    pub blocked_until: Timestamp,
    /// Why the provider refuses.
    pub reason: FailureClass,
    /// When a run was told so.
    pub noted_at: Timestamp,
    /// That run.
    pub run: Option<RunId>,
}
