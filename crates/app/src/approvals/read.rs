use std::collections::HashMap;

use serde_json::Value;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{
    Approval, ApprovalEvent, ApprovalHistoryEntry, ApprovalStatus, ApprovalType,
    ExecutionStepRecord, ExecutionView,
};
use workforce_domain::id::{ApprovalId, CompanyId, IssueId};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{
    ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor, Failure, Reads, StoreError,
};
use workforce_domain::{Document, JsonMap};

use super::error::ApprovalError;
use super::view::ApprovalView;
use crate::access::{self, Denied};
use crate::approval_records::linked_issues;
use crate::context::Context;
use crate::issues::{self, IssueView};
use crate::masking::masked;
use crate::tickets::planned;

/// Approvals of a company, newest first. Anyone of the company.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    filter: &ApprovalFilter,
    page: &PageRequest<ApprovalCursor>,
) -> Result<Page<ApprovalView, ApprovalCursor>, Failure<ApprovalError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let Page { items, next } = reads.approvals().list(scope, filter, page)?;
    let items = views(reads, ctx, scope, items)?;
    Ok(Page { items, next })
}

/// Approvals that are linked to an issue, newest first. Anyone of the company.
pub fn of_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    page: &PageRequest<ApprovalId>,
) -> Result<Page<ApprovalView, ApprovalId>, Failure<ApprovalError>> {
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    let scope = issue.scope();
    let Page { items, next } = reads.approvals().of_issue(scope, issue.id, page)?;
    let items = views(reads, ctx, scope, items)?;
    Ok(Page { items, next })
}

/// One approval.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let approval = find(reads, ctx, id)?;
    Ok(view(reads, ctx, approval)?)
}

/// The approval, if it is a plan with worktrees that the board has not decided.
pub fn undecided_plan(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Option<Approval>, Failure<ApprovalError>> {
    let approval = find(reads, ctx, id)?;
    let is_undecided = ApprovalStatus::ACTIONABLE.contains(&approval.status());
    let asks = is_undecided && !planned(&approval).is_empty();
    Ok(asks.then_some(approval))
}

/// The history of an approval with every payload that was submitted, oldest
/// first. The same parts of each payload are hidden from a reader as of the last.
pub fn history(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
    page: &PageRequest<ApprovalHistoryCursor>,
) -> Result<Page<ApprovalHistoryEntry, ApprovalHistoryCursor>, Failure<ApprovalError>> {
    let approval = find(reads, ctx, id)?;
    let history = reads.approvals().history_of(approval.scope(), id, page)?;
    let hides = hides_configuration(ctx, &approval);
    Ok(history.map(|entry| ApprovalHistoryEntry {
        payload: entry.payload.map(|payload| shown_payload(payload, hides)),
        ..entry
    }))
}

pub(super) fn find(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Approval, Failure<ApprovalError>> {
    reads
        .approvals()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("approval").into())
}

/// The issues that an approval is linked to, its primary one first.
pub fn issues(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Vec<IssueView>, Failure<ApprovalError>> {
    let approval = find(reads, ctx, id)?;
    let scope = approval.scope();
    let ids = linked_issues::of(reads, &approval)?;
    let mut found: HashMap<IssueId, _> = reads
        .issues()
        .find_all(scope, &ids)?
        .into_iter()
        .map(|issue| (issue.id, issue))
        .collect();
    let ordered = ids.iter().filter_map(|id| found.remove(id)).collect();
    Ok(issues::with_leases(reads, ctx, scope, ordered)?)
}

/// One approval as its answer shows it.
pub(super) fn view(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    approval: Approval,
) -> Result<ApprovalView, StoreError> {
    let linked_issues = linked_issues::of(reads, &approval)?;
    let events = reads
        .approvals()
        .history(approval.scope(), &[approval.id])?;
    let execution = executions(reads, approval.scope(), &[approval.id])?.remove(&approval.id);
    Ok(shown(ctx, approval, linked_issues, events, execution))
}

/// How far the executions of approvals have come, with their steps.
fn executions(
    reads: &mut dyn Reads,
    company: CompanyScope,
    ids: &[ApprovalId],
) -> Result<HashMap<ApprovalId, ExecutionView>, StoreError> {
    let executions = reads.approvals().executions(company, ids)?;
    if executions.is_empty() {
        return Ok(HashMap::new());
    }
    let mut steps: HashMap<ApprovalId, Vec<ExecutionStepRecord>> = HashMap::new();
    for step in reads.approvals().execution_steps(company, ids)? {
        steps.entry(step.approval).or_default().push(step);
    }
    Ok(executions
        .into_iter()
        .map(|execution| {
            let id = execution.approval;
            let steps = steps.remove(&id).unwrap_or_default();
            (id, ExecutionView::new(execution, steps))
        })
        .collect())
}

fn shown(
    ctx: &Context<'_>,
    mut approval: Approval,
    linked_issues: Vec<IssueId>,
    events: Vec<ApprovalEvent>,
    execution: Option<ExecutionView>,
) -> ApprovalView {
    let hides = hides_configuration(ctx, &approval);
    approval.payload = shown_payload(approval.payload, hides);
    ApprovalView {
        approval,
        linked_issues,
        events,
        execution,
        warnings: Vec::new(),
    }
}

/// A payload as a caller sees it.
fn shown_payload(payload: Document, hides_configuration: bool) -> Document {
    // Masked again: a name may count as secret only since it was stored.
    let mut payload = masked(payload);
    if hides_configuration {
        for name in ["adapterConfig", "runtimeConfig"] {
            if let Some(configuration) = payload.get_mut(name) {
                *configuration = Value::Object(JsonMap::new());
            }
        }
    }
    payload
}

/// Hides the configurations of a proposed agent from all but the board, whoever
/// proposed it and its manager (docs/approvals.md#visibility).
fn hides_configuration(ctx: &Context<'_>, approval: &Approval) -> bool {
    let Some(caller) = ctx.agent().map(|caller| caller.agent) else {
        return false;
    };
    let manager = approval.payload.get("reportsTo").and_then(Value::as_str);
    approval.kind == ApprovalType::HireAgent
        && approval.requested_by.agent() != Some(caller)
        && manager != Some(caller.to_string().as_str())
}

fn views(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    approvals: Vec<Approval>,
) -> Result<Vec<ApprovalView>, StoreError> {
    if approvals.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ApprovalId> = approvals.iter().map(|approval| approval.id).collect();
    let mut linked: HashMap<ApprovalId, Vec<IssueId>> = HashMap::new();
    for (approval, issue) in reads.approvals().links(scope, &ids)? {
        linked.entry(approval).or_default().push(issue);
    }
    let mut events: HashMap<ApprovalId, Vec<ApprovalEvent>> = HashMap::new();
    for event in reads.approvals().history(scope, &ids)? {
        events.entry(event.approval).or_default().push(event);
    }
    let mut executions = executions(reads, scope, &ids)?;
    Ok(approvals
        .into_iter()
        .map(|approval| {
            let issues = linked.remove(&approval.id).unwrap_or_default();
            let issues = linked_issues::primary_first(&approval, issues);
            let events = events.remove(&approval.id).unwrap_or_default();
            let execution = executions.remove(&approval.id);
            shown(ctx, approval, issues, events, execution)
        })
        .collect())
}
