//! Where one issue stands and since when. What has ended goes on only when it is reopened.

use serde::Serialize;

use super::{IssueStatus, Mover};
use crate::corrupt::Corrupt;
use crate::lifecycle::{IllegalTransition, Lifecycle};
use crate::time::Timestamp;

/// The issue does not stand where a checkout expects it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the issue is {status}, which is not one of the expected statuses")]
pub struct StatusMismatch {
    /// Where the issue stands.
    pub status: IssueStatus,
}

/// Where an issue stands and since when. Every instant is consistent with the
/// status, and no later step is recorded before an earlier one, even when the
/// clocks of several servers disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = IssueProgress))]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Where it stands.
    status: IssueStatus,
    /// When it first became in_progress.
    started_at: Option<Timestamp>,
    /// When it last became in_progress.
    last_started_at: Option<Timestamp>,
    /// When it became done.
    completed_at: Option<Timestamp>,
    /// When it became cancelled.
    cancelled_at: Option<Timestamp>,
    /// How often the work began anew: by a reopening or an approved plan.
    workflow_epoch: i32,
}

/// A [`Progress`] as a store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressRecord {
    /// Where the issue stands.
    pub status: IssueStatus,
    /// When it first became in_progress.
    pub started_at: Option<Timestamp>,
    /// When it last became in_progress.
    pub last_started_at: Option<Timestamp>,
    /// When it became done; present exactly while it is.
    pub completed_at: Option<Timestamp>,
    /// When it became cancelled; present exactly while it is.
    pub cancelled_at: Option<Timestamp>,
    /// How often the work began anew: by a reopening or an approved plan.
    pub workflow_epoch: i32,
}

/// What a move did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where the issue stands now.
    pub progress: Progress,
    /// Where it stood before; the same status when nothing changed.
    pub from: IssueStatus,
    /// The board made a move that the agents' table does not have, which is
    /// logged as an override.
    pub overridden: bool,
    /// The move led out of a terminal status.
    pub reopened: bool,
}

impl Moved {
    /// True when the status is another than before.
    pub fn is_change(&self) -> bool {
        self.from != self.progress.status
    }
}

impl Progress {
    /// The progress of a new issue created in `status` at `now`.
    pub const fn begin(status: IssueStatus, now: Timestamp) -> Self {
        let started = if matches!(status, IssueStatus::InProgress) {
            Some(now)
        } else {
            None
        };
        Self {
            status,
            started_at: started,
            last_started_at: started,
            completed_at: if matches!(status, IssueStatus::Done) {
                Some(now)
            } else {
                None
            },
            cancelled_at: if matches!(status, IssueStatus::Cancelled) {
                Some(now)
            } else {
                None
            },
            workflow_epoch: 0,
        }
    }

    /// The progress that a store kept.
    ///
    /// # Errors
    /// When the instants do not fit the status or each other.
    pub fn restore(record: ProgressRecord) -> Result<Self, Corrupt> {
        let broken = |reason: &str| Err(Corrupt::new("issue", reason));
        let ProgressRecord {
            status,
            started_at,
            last_started_at,
            completed_at,
            cancelled_at,
            workflow_epoch,
        } = record;
        if completed_at.is_some() != (status == IssueStatus::Done) {
            return broken("completed_at is present exactly when the status is done");
        }
        if cancelled_at.is_some() != (status == IssueStatus::Cancelled) {
            return broken("cancelled_at is present exactly when the status is cancelled");
        }
        if started_at.is_some() != last_started_at.is_some() || started_at > last_started_at {
            return broken("started_at and last_started_at belong together, in this order");
        }
        if status == IssueStatus::InProgress && started_at.is_none() {
            return broken("an issue in progress has started");
        }
        if completed_at
            .or(cancelled_at)
            .is_some_and(|end| Some(end) < last_started_at)
        {
            return broken("an issue ends after it started");
        }
        if workflow_epoch < 0 {
            return broken("workflow_epoch is not negative");
        }
        Ok(Self {
            status,
            started_at,
            last_started_at,
            completed_at,
            cancelled_at,
            workflow_epoch,
        })
    }

    /// This progress as a store keeps it.
    pub const fn record(&self) -> ProgressRecord {
        ProgressRecord {
            status: self.status,
            started_at: self.started_at,
            last_started_at: self.last_started_at,
            completed_at: self.completed_at,
            cancelled_at: self.cancelled_at,
            workflow_epoch: self.workflow_epoch,
        }
    }

    /// Where the issue stands.
    pub const fn status(&self) -> IssueStatus {
        self.status
    }

    /// When it first became in_progress; never changes afterwards.
    pub const fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// When it last became in_progress.
    pub const fn last_started_at(&self) -> Option<Timestamp> {
        self.last_started_at
    }

    /// When it became done; present exactly while it is.
    pub const fn completed_at(&self) -> Option<Timestamp> {
        self.completed_at
    }

    /// When it became cancelled; present exactly while it is.
    pub const fn cancelled_at(&self) -> Option<Timestamp> {
        self.cancelled_at
    }

    /// How often the work began anew: by a reopening or an approved plan.
    pub const fn workflow_epoch(&self) -> i32 {
        self.workflow_epoch
    }

    /// Moves to `to` as an update of the status does; to stay is no change.
    ///
    /// # Errors
    /// When the mover's table does not lead there.
    pub fn transition_to(
        &self,
        mover: Mover,
        to: IssueStatus,
        now: Timestamp,
    ) -> Result<Moved, IllegalTransition<IssueStatus>> {
        let from = self.status;
        if from == to {
            let progress = self.clone();
            return Ok(Moved {
                progress,
                from,
                overridden: false,
                reopened: false,
            });
        }
        let to = from.transition_within(from.successors_for(mover), to)?;
        let reopened = from.is_terminal();
        let overridden = !reopened && !from.successors().contains(&to);
        Ok(Moved {
            progress: self.enter(to, now),
            from,
            overridden,
            reopened,
        })
    }

    /// Takes up the work if the status is an expected and open one. An issue
    /// in progress stays as it is.
    ///
    /// # Errors
    /// When the status is not expected, or is terminal.
    pub fn check_out(
        &self,
        expected: &[IssueStatus],
        now: Timestamp,
    ) -> Result<Self, StatusMismatch> {
        if self.status.is_terminal() || !expected.contains(&self.status) {
            return Err(StatusMismatch {
                status: self.status,
            });
        }
        Ok(self.enter(IssueStatus::InProgress, now))
    }

    /// Gives the work back: in_progress becomes todo, everything else stays.
    #[must_use]
    pub fn release(&self, now: Timestamp) -> Self {
        match self.status {
            IssueStatus::InProgress => self.enter(IssueStatus::Todo, now),
            _ => self.clone(),
        }
    }

    /// Begins a new epoch of the work without a move: what was begun in the
    /// old one is out of date.
    #[must_use]
    pub const fn next_epoch(&self) -> Self {
        Self {
            workflow_epoch: self.workflow_epoch.saturating_add(1),
            ..*self
        }
    }

    /// Leaves a terminal status for one of [`IssueStatus::REOPENED`], whoever
    /// asks. When the work first started stays on record.
    ///
    /// # Errors
    /// When the issue is open, or `to` is another status.
    pub fn reopen(
        &self,
        to: IssueStatus,
        now: Timestamp,
    ) -> Result<Moved, IllegalTransition<IssueStatus>> {
        let from = self.status;
        let allowed = if from.is_terminal() {
            IssueStatus::REOPENED
        } else {
            &[]
        };
        let to = from.transition_within(allowed, to)?;
        Ok(Moved {
            progress: self.enter(to, now),
            from,
            overridden: false,
            reopened: true,
        })
    }

    fn enter(&self, to: IssueStatus, now: Timestamp) -> Self {
        if to == self.status {
            return self.clone();
        }
        let now = self.last_started_at.map_or(now, |started| started.max(now));
        let mut next = Self {
            status: to,
            completed_at: None,
            cancelled_at: None,
            ..*self
        };
        if self.status.is_terminal() {
            next.workflow_epoch = self.workflow_epoch.saturating_add(1);
        }
        match to {
            IssueStatus::InProgress => {
                next.started_at = self.started_at.or(Some(now));
                next.last_started_at = Some(now);
            }
            IssueStatus::Done => next.completed_at = Some(now),
            IssueStatus::Cancelled => next.cancelled_at = Some(now),
            IssueStatus::Backlog
            | IssueStatus::Todo
            | IssueStatus::InReview
            | IssueStatus::Blocked => {}
        }
        next
    }
}
