//! What an approval does to the issues it is linked to
//! (docs/approvals.md#effects). The issues are locked.

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::id::{CommentId, IssueId};
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{EmployedAgent, Failure, Locked, Shared, StoreError, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::text::CommentBody;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::error::ApprovalError;
use crate::activity_log::{document, log_change};
use crate::context::Context;
use crate::issues;
use crate::wakes::{self, WakeRequest};

/// A wake quotes at most so many bytes of a note; the rest is with the
/// approval.
const QUOTED: usize = 4 * 1024;

/// Moves the issues of an approval that waits for the board: to blocked for a
/// plan, to in review for a pull request or a completion. `filed` says that the
/// approval is new; then only a plan moves anything.
pub(super) fn block_issues(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issues: &mut [Locked<Issue>],
    filed: bool,
) -> Result<(), StoreError> {
    use IssueStatus::{Blocked, InProgress, InReview, Todo};
    let (from, to): (&[IssueStatus], _) = match approval.kind {
        ApprovalType::ApproveIssuePlan => (&[Todo, InProgress], Blocked),
        kind if kind.governs_issues() && !filed => (&[Todo, InProgress, Blocked], InReview),
        _ => return Ok(()),
    };
    for issue in issues {
        if from.contains(&issue.status()) {
            transition(tx, ctx, approval, issue, to)?;
        }
        if let Some(assignee) = issue.assignee.agent() {
            wakes::turn_work_into_advice(tx, ctx, issue.scope(), assignee, issue.id)?;
        }
    }
    Ok(())
}

/// The board agreed to an approval.
pub(super) struct Approved<'a> {
    pub(super) approval: &'a Approval,
    /// The agent that asked, if it may still be given work.
    pub(super) requester: Option<&'a EmployedAgent>,
}

impl Approved<'_> {
    /// Does to the issues what the approval asks for. `parts` lie below them and are
    /// not linked to the approval.
    pub(super) fn apply(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issues: &mut Vec<Locked<Issue>>,
        parts: Vec<Locked<Issue>>,
    ) -> Result<(), Failure<ApprovalError>> {
        match self.approval.kind {
            ApprovalType::ApproveIssuePlan => Ok(self.go_on(tx, ctx, issues)?),
            ApprovalType::ApproveCompletion
            | ApprovalType::ApprovePullRequest
            | ApprovalType::ApprovePushToExistingPr => self.complete(tx, ctx, issues, parts),
            _ => Ok(()),
        }
    }

    /// The work on the issues of a plan goes on.
    fn go_on(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issues: &mut [Locked<Issue>],
    ) -> Result<(), StoreError> {
        for issue in issues.iter_mut().filter(|it| !it.status().is_terminal()) {
            issue.progress = issue.progress.next_epoch();
            if issue.status() == IssueStatus::Blocked {
                return_to_work(tx, ctx, self.approval, issue, self.requester)?;
            } else {
                issue.updated_at = ctx.now;
                tx.issues_mut().save(issue)?;
                log_issue_change(tx, ctx, self.approval, issue, json!({}));
            }
        }
        Ok(())
    }

    /// Ends the issues, and what is open still of their parts.
    fn complete(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issues: &mut Vec<Locked<Issue>>,
        parts: Vec<Locked<Issue>>,
    ) -> Result<(), Failure<ApprovalError>> {
        let linked: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
        issues.extend(parts.into_iter().filter(|part| !linked.contains(&part.id)));
        // Whoever has ended comes last, and is left out.
        issues.sort_by_key(|issue| issue.status().is_terminal());
        let open = issues.partition_point(|issue| !issue.status().is_terminal());
        let details = |issue: &Issue| {
            let mut details = json!({ "approvalId": self.approval.id });
            if !linked.contains(&issue.id) {
                details["completedBy"] = json!("cascade");
            }
            details
        };
        issues::complete(tx, ctx, &mut issues[..open], details)
            .map_err(|failure| failure.map(ApprovalError::from))?;
        issues.retain(|issue| linked.contains(&issue.id));
        Ok(())
    }
}

/// The board did not agree, or the approval was withdrawn: the issues that
/// waited for it are put back to work.
pub(super) fn unblock_issues(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issues: &mut [Locked<Issue>],
    requester: Option<&EmployedAgent>,
) -> Result<(), StoreError> {
    if !approval.kind.governs_issues() {
        return Ok(());
    }
    for issue in issues {
        let waits = match issue.status() {
            IssueStatus::Blocked => true,
            // An issue that the board sent back must not stay in review.
            IssueStatus::InReview => approval.kind != ApprovalType::ApproveIssuePlan,
            _ => false,
        };
        if waits {
            return_to_work(tx, ctx, approval, issue, requester)?;
        }
    }
    Ok(())
}

/// Puts an issue back to work: to in progress for the requester, if the issue is
/// for it, else to todo.
fn return_to_work(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issue: &mut Locked<Issue>,
    requester: Option<&EmployedAgent>,
) -> Result<(), StoreError> {
    let to = match requester {
        Some(requester) if is_for(requester, approval, issue) => {
            issue.assignee = Assignment::to_agent(requester);
            IssueStatus::InProgress
        }
        _ => IssueStatus::Todo,
    };
    transition(tx, ctx, approval, issue, to)?;
    match to {
        // The requester is woken with the decision, and nobody else.
        IssueStatus::Todo => issues::wake_for_work(tx, ctx, issue),
        _ => Ok(()),
    }
}

/// True when an issue is for the requester to go on with.
fn is_for(requester: &EmployedAgent, approval: &Approval, issue: &Issue) -> bool {
    if issue.is_under_review() && issue.implementer == Some(requester.id) {
        return true;
    }
    match *issue.assignee {
        Assignee::Agent(assignee) => assignee == requester.id,
        Assignee::Nobody => approval.primary_issue == Some(issue.id),
        Assignee::Board(_) => false,
    }
}

/// Locks the agent that asked, if it may still be given work. Comes before the
/// locks on the issues that it may get back.
pub(super) fn lock_requester(
    tx: &mut dyn Tx,
    approval: &Approval,
) -> Result<Option<EmployedAgent>, StoreError> {
    match approval.requested_by.agent() {
        Some(requester) if approval.kind.governs_issues() => {
            let agent = tx.agents_mut().share(approval.scope(), requester)?;
            Ok(agent.and_then(Shared::employed))
        }
        _ => Ok(None),
    }
}

/// Moves an issue as the board moves it.
fn transition(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issue: &mut Locked<Issue>,
    to: IssueStatus,
) -> Result<(), StoreError> {
    let Ok(moved) = issue.progress.transition_to(Mover::Board, to, ctx.now) else {
        return Ok(());
    };
    issue.progress = moved.progress;
    issue.settle_review();
    issue.updated_at = ctx.now;
    tx.issues_mut().save(issue)?;
    let details = json!({ "from": moved.from, "to": to });
    log_issue_change(tx, ctx, approval, issue, details);
    Ok(())
}

/// Writes down what the approval changed of an issue.
fn log_issue_change(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issue: &mut Locked<Issue>,
    mut details: Value,
) {
    details["approvalId"] = json!(approval.id);
    log_change(tx, ctx, Action::IssueUpdated, issue, details);
}

/// Writes the board's answer as a comment on every linked issue. Returns the one
/// on the issue that the requester is told of.
pub(super) fn comment(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issues: &[Locked<Issue>],
    said: &str,
    note: Option<&str>,
) -> Result<Option<CommentId>, StoreError> {
    let text = match note {
        Some(note) => format!("The board {said} `{}`.\n\n{note}", approval.kind),
        None => format!("The board {said} `{}`.", approval.kind),
    };
    comment_with(tx, ctx, approval, issues, &text)
}

/// The same with a text of its own.
pub(super) fn comment_with(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issues: &[Locked<Issue>],
    text: &str,
) -> Result<Option<CommentId>, StoreError> {
    let Ok(body) = CommentBody::parse(text) else {
        return Ok(None);
    };
    let (about, mut on_it) = (subject(approval, issues).map(|issue| issue.id), None);
    for issue in issues {
        let comment = issues::remark(tx, ctx, issue, body.clone())?;
        if about == Some(issue.id) {
            on_it = Some(comment);
        }
    }
    Ok(on_it)
}

/// The issue that the requester is told of: the primary one, else the oldest.
fn subject<'a>(approval: &Approval, issues: &'a [Locked<Issue>]) -> Option<&'a Locked<Issue>> {
    let primary = issues
        .iter()
        .find(|issue| Some(issue.id) == approval.primary_issue);
    primary.or_else(|| issues.iter().min_by_key(|issue| issue.id))
}

/// Wakes the agent that asked, with the decision.
pub(super) fn wake_requester(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    issues: &[Locked<Issue>],
    reason: WakeReason,
    comment: Option<CommentId>,
) -> Result<(), StoreError> {
    let Some(requester) = approval.requested_by.agent() else {
        return Ok(());
    };
    let Some(agent) = tx.agents().find(approval.scope().into(), requester)? else {
        return Ok(());
    };
    let about = subject(approval, issues);
    let kind = match about {
        // On its own open issue it works; on another it only gives advice.
        Some(issue)
            if issue.assignee.agent() == Some(requester) && !issue.status().is_terminal() =>
        {
            RunKind::Execution
        }
        Some(_) => RunKind::Consult,
        None => RunKind::General,
    };
    let linked: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
    let note = approval
        .state
        .decision()
        .and_then(|decision| decision.note.as_deref());
    let request = WakeRequest {
        agent: &agent,
        issue: about.map(|issue| issue.id),
        kind,
        source: WakeSource::Automation,
        reason,
        comments: comment.into_iter().collect(),
        payload: document(facts(approval, &linked, note)),
        not_before: None,
    };
    wakes::request(tx, ctx, request)?;
    Ok(())
}

fn facts(approval: &Approval, linked: &[IssueId], note: Option<&str>) -> Value {
    let quoted = note.map(|note| &note[..note.floor_char_boundary(QUOTED)]);
    json!({
        "approvalId": approval.id,
        "approvalType": approval.kind,
        "approvalStatus": approval.status(),
        "decisionNote": quoted,
        "issueIds": linked,
    })
}
