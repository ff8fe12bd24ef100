//! Where an approval stands.

use alloc::string::String;

use crate::board::BoardMember;
use crate::corrupt::Corrupt;
use crate::lifecycle::{IllegalTransition, Lifecycle};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// What the board is asked to agree to.
    pub enum ApprovalType {
        /// Hiring a drafted agent.
        HireAgent = "hire_agent",
        /// The strategy that the ceo proposes.
        ApproveCeoStrategy = "approve_ceo_strategy",
        /// The plan of an issue, perhaps with its workspace.
        ApproveIssuePlan = "approve_issue_plan",
        /// A commit, push and pull request for an issue.
        ApprovePullRequest = "approve_pull_request",
        /// A push to a pull request that exists.
        ApprovePushToExistingPr = "approve_push_to_existing_pr",
        /// The completion of an issue.
        ApproveCompletion = "approve_completion",
        /// A question of an agent to the board.
        AgentQuestion = "agent_question",
        /// Going on although a budget is used up.
        BudgetOverrideRequired = "budget_override_required",
        /// Anything else that an agent wants the board to agree to.
        RequestBoardApproval = "request_board_approval",
    }
}

string_enum! {
    /// Where an approval stands. `resubmitted` is no status but an entry of
    /// the history.
    pub enum ApprovalStatus {
        /// Waiting for the board.
        Pending = "pending",
        /// The board agreed; terminal.
        Approved = "approved",
        /// The board refused; terminal.
        Rejected = "rejected",
        /// Withdrawn or overtaken; terminal.
        Cancelled = "cancelled",
        /// The board wants a change first.
        RevisionRequested = "revision_requested",
    }
}

string_enum! {
    /// What the history of an approval tells.
    pub enum ApprovalHistoryKind {
        /// It was asked for.
        Created = "created",
        /// The board agreed.
        Approved = "approved",
        /// The board refused.
        Rejected = "rejected",
        /// The board wanted a change.
        RevisionRequested = "revision_requested",
        /// It was sent again after a change.
        Resubmitted = "resubmitted",
        /// The board changed what it is about.
        Edited = "edited",
        /// It was withdrawn or overtaken.
        Cancelled = "cancelled",
    }
}

impl ApprovalHistoryKind {
    /// True where the board is given something to read: what it reads is kept with the entry.
    pub const fn submits(self) -> bool {
        match self {
            Self::Created | Self::Resubmitted | Self::Edited => true,
            Self::Approved | Self::Rejected | Self::RevisionRequested | Self::Cancelled => false,
        }
    }
}

string_enum! {
    /// What a list of approvals may ask for: the statuses, and `resubmitted`
    /// for those that wait for the board once more.
    pub enum ApprovalStanding {
        /// Waiting for the board.
        Pending = "pending",
        /// The board agreed.
        Approved = "approved",
        /// The board refused.
        Rejected = "rejected",
        /// Withdrawn or overtaken.
        Cancelled = "cancelled",
        /// The board wants a change first.
        RevisionRequested = "revision_requested",
        /// Waiting for the board once more.
        Resubmitted = "resubmitted",
    }
}

impl ApprovalStanding {
    /// The status of the approvals that are asked for.
    pub const fn status(self) -> ApprovalStatus {
        match self {
            Self::Pending | Self::Resubmitted => ApprovalStatus::Pending,
            Self::Approved => ApprovalStatus::Approved,
            Self::Rejected => ApprovalStatus::Rejected,
            Self::Cancelled => ApprovalStatus::Cancelled,
            Self::RevisionRequested => ApprovalStatus::RevisionRequested,
        }
    }
}

impl ApprovalType {
    /// True where approving pushes the work of an issue.
    pub const fn pushes(self) -> bool {
        matches!(
            self,
            Self::ApprovePullRequest | Self::ApprovePushToExistingPr
        )
    }

    /// True where approving ends the issues.
    pub const fn ends_issues(self) -> bool {
        self.pushes() || matches!(self, Self::ApproveCompletion)
    }

    /// True where the approval governs how its issues move, so that only those
    /// who have a stake in an issue may file it.
    pub const fn governs_issues(self) -> bool {
        matches!(
            self,
            Self::ApproveIssuePlan
                | Self::ApprovePullRequest
                | Self::ApprovePushToExistingPr
                | Self::ApproveCompletion
        )
    }
}

impl Lifecycle for ApprovalStatus {
    const SUBJECT: &'static str = "an approval";

    fn successors(self) -> &'static [Self] {
        match self {
            Self::Pending => &[
                Self::Approved,
                Self::Rejected,
                Self::Cancelled,
                Self::RevisionRequested,
            ],
            Self::RevisionRequested => &[
                Self::Pending,
                Self::Approved,
                Self::Rejected,
                Self::Cancelled,
            ],
            Self::Approved | Self::Rejected | Self::Cancelled => &[],
        }
    }
}

impl ApprovalStatus {
    /// The statuses in which the board may still decide.
    pub const ACTIONABLE: &'static [Self] = &[Self::Pending, Self::RevisionRequested];
}

/// Who decided: the board, never an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decider(pub BoardMember);

/// A decision of the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Who decided, as the credential says.
    pub by: Decider,
    /// What the board adds to it.
    pub note: Option<String>,
    /// When it was decided.
    pub at: Timestamp,
}

/// Where an approval stands, with the facts that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Waiting for the board.
    Pending,
    /// Waiting for a change.
    RevisionRequested {
        /// What the board decided.
        decision: Decision,
    },
    /// Agreed to.
    Approved {
        /// What the board decided.
        decision: Decision,
    },
    /// Refused.
    Rejected {
        /// What the board decided.
        decision: Decision,
    },
    /// Withdrawn or overtaken.
    Cancelled {
        /// When.
        at: Timestamp,
    },
}

/// An [`ApprovalState`] as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalStateRecord {
    /// Where the approval stands.
    pub status: ApprovalStatus,
    /// Who decided; absent while nobody did.
    pub decided_by: Option<BoardMember>,
    /// What the board added.
    pub note: Option<String>,
    /// When it was decided or cancelled; absent exactly while it is pending.
    pub decided_at: Option<Timestamp>,
}

impl ApprovalState {
    /// The state that a store kept.
    ///
    /// # Errors
    /// When the facts do not fit the status.
    pub fn restore(record: ApprovalStateRecord) -> Result<Self, Corrupt> {
        let ApprovalStateRecord {
            status,
            decided_by,
            note,
            decided_at,
        } = record;
        let Some(at) = decided_at else {
            return match (status, decided_by, note) {
                (ApprovalStatus::Pending, None, None) => Ok(Self::Pending),
                (ApprovalStatus::Pending, ..) => Err(Corrupt::new(
                    "approval",
                    "a pending approval has no decision",
                )),
                _ => Err(Corrupt::new("approval", "decided_at is missing")),
            };
        };
        let decision = || {
            let by = decided_by.ok_or(Corrupt::new("approval", "decided_by is missing"))?;
            Ok(Decision {
                by: Decider(by),
                note,
                at,
            })
        };
        match status {
            ApprovalStatus::Pending => Err(Corrupt::new(
                "approval",
                "a pending approval has no decision",
            )),
            ApprovalStatus::Approved => decision().map(|decision| Self::Approved { decision }),
            ApprovalStatus::Rejected => decision().map(|decision| Self::Rejected { decision }),
            ApprovalStatus::RevisionRequested => {
                decision().map(|decision| Self::RevisionRequested { decision })
            }
            ApprovalStatus::Cancelled => Ok(Self::Cancelled { at }),
        }
    }

    /// This state as a store keeps it.
    pub fn record(&self) -> ApprovalStateRecord {
        let decision = self.decision();
        ApprovalStateRecord {
            status: self.status(),
            decided_by: decision.map(|decision| decision.by.0),
            note: decision.and_then(|decision| decision.note.clone()),
            decided_at: match self {
                Self::Cancelled { at } => Some(*at),
                _ => decision.map(|decision| decision.at),
            },
        }
    }

    /// Where the approval stands.
    pub const fn status(&self) -> ApprovalStatus {
        match self {
            Self::Pending => ApprovalStatus::Pending,
            Self::RevisionRequested { .. } => ApprovalStatus::RevisionRequested,
            Self::Approved { .. } => ApprovalStatus::Approved,
            Self::Rejected { .. } => ApprovalStatus::Rejected,
            Self::Cancelled { .. } => ApprovalStatus::Cancelled,
        }
    }

    /// What the board last decided, if it did.
    pub const fn decision(&self) -> Option<&Decision> {
        match self {
            Self::RevisionRequested { decision }
            | Self::Approved { decision }
            | Self::Rejected { decision } => Some(decision),
            Self::Pending | Self::Cancelled { .. } => None,
        }
    }

    /// The board agrees.
    ///
    /// # Errors
    /// When it is decided or cancelled already.
    pub fn approve(&self, decision: Decision) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.turn(Self::Approved { decision })
    }

    /// The board refuses.
    ///
    /// # Errors
    /// When it is decided or cancelled already.
    pub fn reject(&self, decision: Decision) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.turn(Self::Rejected { decision })
    }

    /// The board wants a change first.
    ///
    /// # Errors
    /// When it is not pending.
    pub fn request_revision(
        &self,
        decision: Decision,
    ) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.turn(Self::RevisionRequested { decision })
    }

    /// The requester sends it again after a change; it is pending once more.
    ///
    /// # Errors
    /// When no change was wanted.
    pub fn resubmit(&self) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.turn(Self::Pending)
    }

    /// It is withdrawn or overtaken.
    ///
    /// # Errors
    /// When it is decided or cancelled already.
    pub fn cancel(&self, at: Timestamp) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.turn(Self::Cancelled { at })
    }

    fn turn(&self, next: Self) -> Result<Self, IllegalTransition<ApprovalStatus>> {
        self.status().transition_to(next.status())?;
        Ok(next)
    }
}
