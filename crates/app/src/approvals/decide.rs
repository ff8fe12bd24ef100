use serde::Deserialize;
use serde_json::json;
use workforce_domain::approval::{
    Approval, ApprovalHistoryKind, ApprovalState, ApprovalStatus, ApprovalType, Decider, Decision,
};
use workforce_domain::board::BoardMember;
use workforce_domain::id::ApprovalId;
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::{AgreedWork, Failure, Tx};
use workforce_domain::text::DecisionNote;
use workforce_domain::wake::WakeReason;

use super::error::{ApprovalError, not_pending};
use super::execution::Way;
use super::lookup::{lock, seen};
use super::view::ApprovalView;
use super::{execution, hire, issue_effects, links, read};
use crate::access::Denied;
use crate::approval_records::{self, history, save_transition};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What a decision without a reason is answered with.
const NO_REASON: &str = "no decisionNote was given; whoever asked is not told why";

/// Decides an approval. Who decides comes from the credential alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decide {
    /// Why, or what the board adds; whoever asked is told.
    pub decision_note: Option<DecisionNote>,
    /// Approves a plan even where the state of the source repository would
    /// forbid it. Recorded, and without effect on other decisions.
    pub force: Option<bool>,
    /// The revisions of which one must be its present one, from `If-Match`.
    #[serde(skip)]
    pub seen: Option<Vec<i32>>,
}

impl Decide {
    /// Which work may be pushed: whoever names what it has seen agrees to that alone.
    pub fn agreed_work(&self) -> AgreedWork {
        match self.seen {
            Some(_) => AgreedWork::Shown,
            None => AgreedWork::Present,
        }
    }

    /// What the board adds, unless that is blank.
    pub(super) fn into_note(self) -> Option<String> {
        let note = self.decision_note.filter(|note| !note.trim().is_empty());
        note.map(String::from)
    }
}

/// What the board says.
#[derive(Clone, Copy)]
enum BoardVerdict {
    Approve,
    /// The same, after all that it asks for outside of the store was done.
    ApproveExecuted {
        attempt: i32,
    },
    Reject,
    RequestRevision,
}

impl BoardVerdict {
    fn transition(
        self,
        state: &ApprovalState,
        decision: Decision,
    ) -> Result<ApprovalState, IllegalTransition<ApprovalStatus>> {
        match self {
            Self::Approve | Self::ApproveExecuted { .. } => state.approve(decision),
            Self::Reject => state.reject(decision),
            Self::RequestRevision => state.request_revision(decision),
        }
    }

    const fn way(self) -> Way {
        match self {
            Self::Approve => Way::Agreement,
            Self::ApproveExecuted { attempt } => Way::Executed { attempt },
            Self::Reject | Self::RequestRevision => Way::Refusal,
        }
    }

    const fn history(self) -> ApprovalHistoryKind {
        match self {
            Self::Approve | Self::ApproveExecuted { .. } => ApprovalHistoryKind::Approved,
            Self::Reject => ApprovalHistoryKind::Rejected,
            Self::RequestRevision => ApprovalHistoryKind::RevisionRequested,
        }
    }

    const fn wake(self) -> WakeReason {
        match self {
            Self::Approve | Self::ApproveExecuted { .. } => WakeReason::ApprovalApproved,
            Self::Reject => WakeReason::ApprovalRejected,
            Self::RequestRevision => WakeReason::ApprovalRevisionRequested,
        }
    }
}

/// What [`approve`], [`reject`] and [`request_revision`] refuse with.
pub const DECIDE: Codes = Codes::of(&[
    Code::ApprovalNotPending,
    Code::ExecutionInProgress,
    Code::RevisionConflict,
]);

/// Agrees to an approval. Of several decisions at the same time one succeeds.
pub fn approve(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    command: Decide,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    decide(tx, ctx, id, BoardVerdict::Approve, command)
}

/// Agrees to an approval whose execution has taken its last step.
pub(super) fn approve_executed(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    attempt: i32,
    command: Decide,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let verdict = BoardVerdict::ApproveExecuted { attempt };
    decide(tx, ctx, id, verdict, command)
}

/// Refuses what an approval asks for. What waited for it goes back to whoever
/// asked, with the reason.
pub fn reject(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    command: Decide,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    decide(tx, ctx, id, BoardVerdict::Reject, command)
}

/// Asks for a change of what an approval is about. The requester then sends it
/// again.
pub fn request_revision(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    command: Decide,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    decide(tx, ctx, id, BoardVerdict::RequestRevision, command)
}

/// Who of the board decides.
pub(super) fn require_board(ctx: &Context<'_>) -> Result<BoardMember, Failure<ApprovalError>> {
    let nobody = || Denied::BoardRequired.into();
    ctx.actor().board().ok_or_else(nobody)
}

/// Refuses a decision on what the caller has not seen.
pub(super) fn require_seen(
    approval: &Approval,
    seen: Option<&[i32]>,
) -> Result<(), Failure<ApprovalError>> {
    let current = approval.revision;
    if seen.is_none_or(|seen| seen.contains(&current)) {
        return Ok(());
    }
    Err(Failure::Refused(ApprovalError::RevisionConflict {
        current,
    }))
}

fn decide(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    verdict: BoardVerdict,
    command: Decide,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    let by = require_board(ctx)?;
    // In the order of locks: agents, issues, the approval.
    let requester = issue_effects::lock_requester(tx, &found)?;
    let draft = hire::lock_draft_of(tx, &found)?;
    let mut parts = match verdict.way() {
        Way::Executed { .. } => links::lock_parts(tx, &found)?,
        Way::Agreement | Way::Refusal => Vec::new(),
    };
    let mut issues = links::lock_of(tx, &found)?;
    let mut approval = lock(tx, &found)?;
    let from = approval.status();
    let forced = command.force == Some(true);
    let seen = command.seen.clone();
    let note = command.into_note();
    let decision = Decision {
        by: Decider(by),
        note: note.clone(),
        at: ctx.now,
    };
    let decided = verdict
        .transition(&approval.state, decision)
        .map_err(|refused| not_pending(id, refused))?;
    require_seen(&approval, seen.as_deref())?;
    execution::require_way(tx, ctx, &mut approval, verdict.way())?;
    approval.state = decided;
    approval.updated_at = ctx.now;
    save_transition(tx, &mut approval, from)?;
    let mut details = json!({});
    if forced {
        let key = match approval.kind {
            ApprovalType::ApproveIssuePlan => "override",
            _ => "force",
        };
        details[key] = json!(true);
    }
    let kind = verdict.history();
    history::append(tx, ctx, &mut approval, kind, note.as_deref(), details)?;
    let comment = match verdict {
        BoardVerdict::Approve | BoardVerdict::ApproveExecuted { .. } => {
            hire::activate(tx, ctx, draft)?;
            execution::give_worktrees(tx, ctx, &approval, &mut issues, &mut parts)?;
            let effects = issue_effects::Approved {
                approval: &approval,
                requester: requester.as_ref(),
            };
            effects.apply(tx, ctx, &mut issues, parts)?;
            match execution::announcement(&approval) {
                Some(text) => issue_effects::comment_with(tx, ctx, &approval, &issues, &text)?,
                None => None,
            }
        }
        BoardVerdict::Reject => {
            hire::discard(tx, ctx, draft)?;
            approval_records::release_worktrees(tx, ctx, &approval)?;
            issue_effects::unblock_issues(tx, ctx, &approval, &mut issues, requester.as_ref())?;
            let said = "rejected";
            issue_effects::comment(tx, ctx, &approval, &issues, said, note.as_deref())?
        }
        BoardVerdict::RequestRevision => {
            issue_effects::unblock_issues(tx, ctx, &approval, &mut issues, requester.as_ref())?;
            let said = "asks for a change of";
            issue_effects::comment(tx, ctx, &approval, &issues, said, note.as_deref())?
        }
    };
    issue_effects::wake_requester(tx, ctx, &approval, &issues, verdict.wake(), comment)?;
    let mut view = read::view(tx.reads(), ctx, approval.into_inner())?;
    if note.is_none()
        && matches!(
            verdict,
            BoardVerdict::Reject | BoardVerdict::RequestRevision
        )
    {
        view.warnings.push(NO_REASON);
    }
    Ok(view)
}
