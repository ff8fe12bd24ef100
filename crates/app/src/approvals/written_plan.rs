//! A plan that an agent writes into its issue (docs/approvals.md#written-plans).

use serde_json::json;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::{Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};

use super::error::ApprovalError;
use super::resubmit::{resubmit, rewrite};
use super::submit::{SubmitApproval, submit};
use crate::activity_log::document;
use crate::context::Context;
use crate::issues::{self, Rewrite, UpdateIssue, UpdatedIssue};
use crate::refusal::{Code, Codes};

/// What stands around a plan in the description of an issue.
const MARKS: (&str, &str) = ("<plan>", "</plan>");

/// What [`update_issue`] refuses with.
pub const UPDATE_ISSUE: Codes = Codes::with(&[Code::WorkspaceUnavailable], &[issues::UPDATE]);

/// Changes an issue as [`issues::update`] does. Where an agent asks for the review of an
/// issue without an approved plan, and its description holds one, the board is asked for
/// that plan in the place of a review.
///
/// # Errors
/// [`ApprovalError`]; then nothing was written.
pub fn update_issue(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: UpdateIssue,
) -> Result<UpdatedIssue, Failure<ApprovalError>> {
    let change = |tx: &mut dyn Tx, command| {
        issues::update(tx, ctx, issue, command).map_err(|failure| failure.map(ApprovalError::from))
    };
    let Some(written) = written(tx.reads(), ctx, issue, &command)? else {
        return change(tx, command);
    };
    let remark = UpdateIssue {
        comment: command.comment.clone(),
        ..UpdateIssue::default()
    };
    let rest = UpdateIssue {
        status: Replace::Keep,
        comment: None,
        ..command
    };
    change(tx, rest)?;
    let approval = written.file(tx, ctx)?;
    Ok(UpdatedIssue {
        rewritten: Some(Rewrite::for_plan(approval)),
        ..change(tx, remark)?
    })
}

/// A plan that is to be filed.
struct WrittenPlan {
    issue: Issue,
    text: String,
}

/// The plan that a change asks for, if it does.
fn written(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: &UpdateIssue,
) -> Result<Option<WrittenPlan>, StoreError> {
    if ctx.agent().is_none() || command.status != Replace::Set(IssueStatus::InReview) {
        return Ok(None);
    }
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Ok(None);
    };
    let description = match &command.description {
        Change::Keep => issue.description.as_deref(),
        Change::Clear => None,
        Change::Set(description) => Some(&**description),
    };
    let Some(text) = description.and_then(plan_in) else {
        return Ok(None);
    };
    let text = text.to_owned();
    let is_done = matches!(issue.status(), IssueStatus::InReview) || issue.status().is_terminal();
    let governance = reads.issues().governance(issue.scope(), issue.id)?;
    Ok((!is_done && !governance.has_approved_plan).then_some(WrittenPlan { issue, text }))
}

/// What stands between the first marks of a plan.
fn plan_in(description: &str) -> Option<&str> {
    let (_, rest) = description.split_once(MARKS.0)?;
    let (plan, _) = rest.split_once(MARKS.1)?;
    Some(plan.trim()).filter(|plan| !plan.is_empty())
}

impl WrittenPlan {
    /// Asks the board, or asks it again where it wanted a change. A plan of the same agent that it
    /// has not decided is replaced.
    fn file(
        self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
    ) -> Result<ApprovalId, Failure<ApprovalError>> {
        let (company, kind) = (self.issue.scope(), ApprovalType::ApproveIssuePlan);
        let mut payload = document(json!({
            "issueId": self.issue.id,
            "title": self.issue.title,
            "plan": self.text,
        }));
        if has_workspace(tx.reads(), company, &self.issue)? {
            payload.insert("workspace".to_owned(), json!({}));
        }
        let known = tx
            .approvals()
            .undecided_primary_for(company, kind, self.issue.id)?;
        if let Some(known) = known {
            let id = known.id;
            if known.status() == ApprovalStatus::RevisionRequested {
                resubmit(tx, ctx, id, Some(payload), None)?;
            } else if known.requested_by == ctx.actor().author() {
                rewrite(tx, ctx, id, payload)?;
            }
            return Ok(id);
        }
        let command = SubmitApproval {
            kind,
            requested_by_agent_id: None,
            payload: Some(payload),
            issue_ids: None,
            work: Vec::new(),
        };
        let filed = submit(tx, ctx, company.company(), command)?;
        Ok(filed.view.approval.id)
    }
}

fn has_workspace(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: &Issue,
) -> Result<bool, StoreError> {
    let Some(project) = issue.project else {
        return Ok(false);
    };
    Ok(!reads.projects().workspaces(company, &[project])?.is_empty())
}
