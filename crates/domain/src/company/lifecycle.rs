//! Where a company stands and since when.

use serde::Serialize;

use crate::corrupt::Corrupt;
use crate::lifecycle::{IllegalTransition, Lifecycle};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// Where a company stands.
    pub enum CompanyStatus {
        /// Its agents may run.
        Active = "active",
        /// The board stopped all work.
        Paused = "paused",
        /// Put away: no work, hidden from default listings.
        Archived = "archived",
    }
}

string_enum! {
    /// Why a company or an agent is paused.
    pub enum PauseReason {
        /// The board paused it.
        Manual = "manual",
        /// Its month's budget is used up.
        Budget = "budget",
        /// workforce paused it for another reason.
        System = "system",
    }
}

impl Lifecycle for CompanyStatus {
    const SUBJECT: &'static str = "a company";

    fn successors(self) -> &'static [Self] {
        match self {
            Self::Active => &[Self::Paused, Self::Archived],
            Self::Paused => &[Self::Active, Self::Archived],
            Self::Archived => &[Self::Active, Self::Paused],
        }
    }
}

/// Why something is paused and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Who or what stopped it.
    pub reason: PauseReason,
    /// Since when.
    pub at: Timestamp,
}

/// Where a company stands, why no run of it may start, and since when. Paused
/// by the board means the status `paused`; a used-up budget stops starts while
/// the status stays as the board set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "CompanyLifecycleRecord")]
pub struct CompanyLifecycle {
    status: CompanyStatus,
    pause: Option<Pause>,
    archived_at: Option<Timestamp>,
}

/// A [`CompanyLifecycle`] as a store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = CompanyState))]
#[serde(rename_all = "camelCase")]
pub struct CompanyLifecycleRecord {
    /// Where the company stands.
    pub status: CompanyStatus,
    /// Why no run may start; the board's pause goes with the status `paused`.
    pub pause_reason: Option<PauseReason>,
    /// Since when; present exactly beside a reason.
    pub paused_at: Option<Timestamp>,
    /// When it was archived; present exactly while it is.
    pub archived_at: Option<Timestamp>,
}

impl From<CompanyLifecycle> for CompanyLifecycleRecord {
    fn from(lifecycle: CompanyLifecycle) -> Self {
        lifecycle.record()
    }
}

impl CompanyLifecycle {
    /// A company that works.
    pub const ACTIVE: Self = Self {
        status: CompanyStatus::Active,
        pause: None,
        archived_at: None,
    };

    /// The lifecycle that a store kept.
    ///
    /// # Errors
    /// When the reason or the instants do not fit the status.
    pub fn restore(record: CompanyLifecycleRecord) -> Result<Self, Corrupt> {
        let broken = |reason: &str| Err(Corrupt::new("company", reason));
        let CompanyLifecycleRecord {
            status,
            pause_reason,
            paused_at,
            archived_at,
        } = record;
        let pause = match (pause_reason, paused_at) {
            (Some(reason), Some(at)) => Some(Pause { reason, at }),
            (None, None) => None,
            _ => return broken("pause_reason and paused_at belong together"),
        };
        if (status == CompanyStatus::Paused) != (pause_reason == Some(PauseReason::Manual)) {
            return broken("the board's pause and the status paused belong together");
        }
        if (status == CompanyStatus::Archived) != archived_at.is_some() {
            return broken("archived_at is present exactly while it is archived");
        }
        Ok(Self {
            status,
            pause,
            archived_at,
        })
    }

    /// This lifecycle as a store keeps it.
    pub fn record(self) -> CompanyLifecycleRecord {
        CompanyLifecycleRecord {
            status: self.status,
            pause_reason: self.pause_reason(),
            paused_at: self.pause.map(|pause| pause.at),
            archived_at: self.archived_at,
        }
    }

    /// Where the company stands.
    pub const fn status(self) -> CompanyStatus {
        self.status
    }

    /// Why no run may start beside what the status says, and since when.
    pub const fn paused(self) -> Option<Pause> {
        self.pause
    }

    /// Why no run may start beside what the status says.
    pub fn pause_reason(self) -> Option<PauseReason> {
        self.pause.map(|pause| pause.reason)
    }

    /// When it was archived, while it is.
    pub const fn archived_at(self) -> Option<Timestamp> {
        self.archived_at
    }

    /// Moves the company to `to`. The board's pause hides a budget's stop
    /// until the company works again and its budget is looked at anew.
    ///
    /// # Errors
    /// When it stands there already.
    pub fn transition_to(
        self,
        to: CompanyStatus,
        now: Timestamp,
    ) -> Result<Self, IllegalTransition<CompanyStatus>> {
        let status = self.status.transition_to(to)?;
        let pause = match status {
            CompanyStatus::Paused => Some(Pause {
                reason: PauseReason::Manual,
                at: now,
            }),
            CompanyStatus::Active | CompanyStatus::Archived => self
                .pause
                .filter(|pause| pause.reason != PauseReason::Manual),
        };
        Ok(Self {
            status,
            pause,
            archived_at: (status == CompanyStatus::Archived).then_some(now),
        })
    }

    /// Stops starts because the budget is used up; the status stays. A stop
    /// that is there already does too.
    #[must_use]
    pub fn stop_for_budget(self, now: Timestamp) -> Self {
        let stop = Pause {
            reason: PauseReason::Budget,
            at: now,
        };
        Self {
            pause: self.pause.or(Some(stop)),
            ..self
        }
    }

    /// Lifts the stop of a budget, and no other one.
    #[must_use]
    pub fn lift_budget_stop(self) -> Self {
        Self {
            pause: self
                .pause
                .filter(|pause| pause.reason != PauseReason::Budget),
            ..self
        }
    }
}
