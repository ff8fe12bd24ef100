//! Companies: each has its own agents, goals, issues and budgets, and reaches no other.

mod lifecycle;

use serde::Serialize;

use alloc::string::String;

pub use lifecycle::*;

use crate::actor::company_owned;
use crate::attachment::AttachmentLimit;
use crate::budget::BudgetBasis;
use crate::id::CompanyId;
use crate::money::Budget;
use crate::text::{Description, Label, Name};
use crate::time::Timestamp;

/// A company: the owner of everything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = CompanyRecord))]
#[serde(rename_all = "camelCase")]
pub struct Company {
    /// Unique id.
    pub id: CompanyId,
    /// Its name.
    pub name: Name,
    /// What it does.
    pub description: Option<Description>,
    /// Where it stands, why no run may start, and since when.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = CompanyLifecycleRecord))]
    pub lifecycle: CompanyLifecycle,
    /// Monthly limit over all its agents.
    #[serde(rename = "budgetMonthlyCents")]
    pub budget: Budget,
    /// What counts as spent against its budget and those of its agents and projects.
    pub budget_basis: BudgetBasis,
    /// Starts every issue identifier; unique in the instance, never changed.
    pub issue_prefix: String,
    /// Whether new agents need an approval.
    pub require_board_approval_for_new_agents: bool,
    /// Whether every issue must be reviewed before it is done.
    pub review_required: bool,
    /// At most so many of its runs are live at once.
    pub max_concurrent_runs: i32,
    /// The most bytes that its attachments may have; `None` for the server's own
    /// limit.
    #[serde(rename = "attachmentMaxBytes")]
    pub attachment_limit: Option<AttachmentLimit>,
    /// Language of generated text.
    pub locale: Option<Label>,
    /// Colour of its badge.
    pub brand_color: Option<Label>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Company {
    /// How many runs of a company may be live at once unless it says otherwise.
    pub const DEFAULT_MAX_CONCURRENT_RUNS: i32 = 4;

    /// Where it stands, as the board decided.
    pub const fn status(&self) -> CompanyStatus {
        self.lifecycle.status()
    }

    /// True when its agents may start work and change things.
    pub fn is_active(&self) -> bool {
        self.status() == CompanyStatus::Active
    }
}

company_owned!(Company, id);

/// The first choice of an issue prefix: the first three letters of the name in
/// upper case, `CO` where it has none.
pub fn prefix_stem(name: &str) -> String {
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphabetic)
        .take(3)
        .map(|letter| letter.to_ascii_uppercase())
        .collect();
    if letters.is_empty() {
        "CO".into()
    } else {
        letters
    }
}
