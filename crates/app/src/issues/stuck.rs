//! Issues that nothing moves by itself (docs/issues.md#stuck-issues).

use std::convert::Infallible;

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::issue::{Issue, IssueStatus, StuckIssue, StuckReason};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, Locked, Reads, StoreError, StuckCursor, Tx};
use workforce_domain::run::{Run, RunKind};
use workforce_domain::wake::{WakeReason, WakeSource};

use super::{IssueError, assignment};
use crate::access;
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::wakes::{self, WakeOutcome, WakeRequest};

/// Issues of a company that are stuck, those first that are so for the longest time. Anyone of the
/// company.
pub fn list_stuck(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<StuckCursor>,
) -> Result<Page<StuckIssue, StuckCursor>, Failure<IssueError>> {
    let company = access::company_scope(reads, ctx, company)?;
    Ok(reads.issues().list_stuck(company, page)?)
}

/// Notes whether an issue is stuck, and why, as it is now.
///
/// # Errors
/// When the store fails.
pub fn note_stuck(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: IssueId,
) -> Result<(), Failure<Infallible>> {
    if let Some(issue) = tx.issues_mut().lock(company.into(), &issue.into())? {
        let reason = tx.issues().why_stuck(company, issue.id, ctx.now)?;
        note(tx, ctx, &issue, reason)?;
    }
    Ok(())
}

fn note(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    reason: Option<StuckReason>,
) -> Result<(), StoreError> {
    let is_new = tx.issues_mut().note_stuck(issue, reason, ctx.now)?;
    if let Some(reason) = reason.filter(|_| is_new) {
        let details = json!({ "reason": reason });
        log_activity(tx, &ctx.as_system(), Action::IssueStuck, issue, details);
    }
    Ok(())
}

/// Heeds that a run on an issue has ended well. Where it left the issue undone, and nothing else
/// will move that, its agent is woken once more; after a second time, its manager.
pub(crate) fn follow_up(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    run: &Run,
    issue: &Locked<Issue>,
) -> Result<(), StoreError> {
    let is_left = matches!(issue.status(), IssueStatus::Todo | IssueStatus::InProgress);
    if run.kind != RunKind::Execution || !is_left || issue.assignee.agent() != Some(run.agent) {
        return Ok(());
    }
    let company = issue.scope();
    let reason = tx.issues().why_stuck(company, issue.id, ctx.now)?;
    if reason != Some(StuckReason::LeftUndone) {
        return Ok(());
    }
    let Some(agent) = tx.agents().find(company.into(), run.agent)? else {
        return Ok(());
    };
    let answered = tx.runs().wake_of(company, run.id)?;
    let is_second =
        answered.is_some_and(|wake| wake.reasons.contains(&WakeReason::IssueLeftUndone));
    let (source, left) = (WakeSource::Automation, WakeReason::IssueLeftUndone);
    if !is_second {
        let request = assignment::wake_about(issue, &agent, source, left);
        if wakes::request(tx, ctx, request)? != WakeOutcome::Dropped {
            return Ok(());
        }
    }
    note(tx, ctx, issue, reason)?;
    let manager = match agent.reports_to {
        Some(manager) => tx.agents().find(company.into(), manager)?,
        None => None,
    };
    if let Some(manager) = manager {
        let mut request = WakeRequest {
            kind: RunKind::Consult,
            ..assignment::wake_about(issue, &manager, source, left)
        };
        request
            .payload
            .insert("assigneeAgentId".to_owned(), json!(agent.id));
        wakes::request(tx, ctx, request)?;
    }
    Ok(())
}
