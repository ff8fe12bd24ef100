//! Companies (specification section 2, contract sections 2.1 and 3.3).

use alloc::string::String;

use crate::actor::owned;
use crate::attachment::AttachmentLimit;
use crate::id::CompanyId;
use crate::money::Budget;
use crate::text::{Description, Label, Name};
use crate::time::Timestamp;
use crate::words;

words! {
    /// Where a company stands (specification section 3).
    pub enum CompanyStatus {
        /// Its agents may run.
        Active = "active",
        /// The board stopped all work.
        Paused = "paused",
        /// Put away: no work, hidden from default listings.
        Archived = "archived",
    }
}

words! {
    /// Why a company or an agent is paused.
    pub enum PauseReason {
        /// The board paused it.
        Manual = "manual",
        /// Its month's budget is used up (contract section 10.6).
        Budget = "budget",
        /// workforce paused it for another reason.
        System = "system",
    }
}

/// A company: the owner of everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// Unique id.
    pub id: CompanyId,
    /// Its name.
    pub name: Name,
    /// What it does.
    pub description: Option<Description>,
    /// Administrative state, set by the board only.
    pub status: CompanyStatus,
    /// Monthly limit over all its agents.
    pub budget: Budget,
    /// Starts every issue identifier; unique in the instance, never changed.
    pub issue_prefix: String,
    /// Whether new agents need an approval.
    pub require_board_approval_for_new_agents: bool,
    /// Whether every issue must be reviewed before it is done (amendment A5).
    pub review_required: bool,
    /// At most so many of its runs are live at once (contract section 10.1).
    pub max_concurrent_runs: i32,
    /// The most bytes that its attachments may have; `None` for the server's own
    /// limit (contract section 10.10).
    pub attachment_limit: Option<AttachmentLimit>,
    /// Language of generated text.
    pub locale: Option<Label>,
    /// Colour of its badge.
    pub brand_color: Option<Label>,
    /// Why no run may start, beside the status: `budget` blocks starts while
    /// the status stays as the board set it (amendment A7).
    pub pause_reason: Option<PauseReason>,
    /// Since when.
    pub paused_at: Option<Timestamp>,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Company {
    /// How many runs of a company may be live at once unless it says otherwise.
    pub const DEFAULT_MAX_CONCURRENT_RUNS: i32 = 4;

    /// Moves the company to `status` and keeps what stands beside it in step:
    /// paused means paused by the board, which hides a budget's stop until the
    /// company works again and its budget is looked at anew. False when it has
    /// the status already, and then nothing changed.
    pub fn move_to(&mut self, status: CompanyStatus, now: Timestamp) -> bool {
        if self.status == status {
            return false;
        }
        self.status = status;
        self.archived_at = (status == CompanyStatus::Archived).then_some(now);
        if status == CompanyStatus::Paused {
            self.pause_reason = Some(PauseReason::Manual);
            self.paused_at = Some(now);
        } else if self.pause_reason == Some(PauseReason::Manual) {
            self.pause_reason = None;
            self.paused_at = None;
        }
        self.updated_at = now;
        true
    }

    /// True when its agents may start work and change things.
    pub fn is_active(&self) -> bool {
        self.status == CompanyStatus::Active
    }
}

owned!(Company, id);

/// The first choice of an issue prefix: the first three letters of the name in
/// upper case, `CO` where it has none (contract section 2.1).
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
