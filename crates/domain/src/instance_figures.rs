//! What goes on in all companies of an instance, in numbers.

use alloc::vec::Vec;

use crate::approval::ApprovalType;
use crate::id::CompanyId;
use crate::issue::StuckReason;
use crate::money::Cents;
use crate::run::StartCondition;

/// The spending of so many companies is told: those that spent most.
pub const SPENDERS_TOLD: usize = 50;

/// So many pending wakes at most are asked what they wait for, so that to tell of a long queue takes
/// no longer than of this.
pub const WAKES_ASKED: usize = 5000;

/// The figures of an instance. What there is none of is left out of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceFigures {
    /// Companies, also paused and archived ones.
    pub companies: i64,
    /// Runs that are live on any server.
    pub live_runs: i64,
    /// Wakes that wait for their run.
    pub pending_wakes: i64,
    /// At most [`WAKES_ASKED`] of them, by the first condition of a start that does not hold;
    /// `None` for those that may be answered at once.
    pub queued_wakes: Vec<(Option<StartCondition>, i64)>,
    /// Approvals that wait for the board.
    pub waiting_approvals: Vec<(ApprovalType, i64)>,
    /// Leases of issues that have not ended.
    pub issue_leases: i64,
    /// Issues that are noted as stuck.
    pub stuck_issues: Vec<(StuckReason, i64)>,
    /// What counts against the budgets of the month, of [`SPENDERS_TOLD`] companies, most first.
    pub month_spends: Vec<(CompanyId, Cents)>,
}
