//! When a mention is answered with advice instead of work.
//!
//! A mentioned agent answers soon. If it cannot work on the issue now, since a
//! plan over it is undecided or somebody else holds it, it gives advice meanwhile
//! (docs/heartbeats.md#advice). Work that waited in the same wake is queued again
//! when the advice begins.

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalStatus, ApprovalType};
use workforce_domain::id::{AgentId, IssueId};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Locked, Reads, RunFilter, StoreError, Tx};
use workforce_domain::run::{RunKind, RunStatus};
use workforce_domain::wake::{Wake, WakeReason};

use super::WakeRequest;
use crate::context::Context;

/// What the run of a request may do, together with the wake that is pending
/// already.
pub(super) fn kind(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    request: &WakeRequest<'_>,
    pending: Option<&Locked<Wake>>,
) -> Result<RunKind, StoreError> {
    // A run that may do more answers a reason that needs less, not the other
    // way round.
    let kind = match pending {
        // Nobody works on an issue that has ended: such a wake would be cancelled,
        // and with it what is asked for now.
        Some(wake)
            if request.kind != RunKind::Execution
                && !(wake.kind == RunKind::Execution && has_ended(tx.reads(), request)?) =>
        {
            wake.kind
        }
        _ => request.kind,
    };
    let called = |reason: &WakeReason| *reason == WakeReason::IssueCommentMentioned;
    let is_called =
        called(&request.reason) || pending.is_some_and(|wake| wake.reasons.iter().any(called));
    let Some(issue) = request.issue.filter(|_| is_called) else {
        return Ok(kind);
    };
    if kind != RunKind::Execution {
        return Ok(kind);
    }
    let (company, agent) = (request.agent.scope(), request.agent.id);
    // A holder lets go before long, and queued work waits for that. A plan may
    // take days.
    let prevented = awaits_plan(tx.reads(), company, issue, agent)?
        || pending.is_none() && is_held(tx.reads(), ctx, company, issue, agent)?;
    Ok(if prevented { RunKind::Consult } else { kind })
}

/// True when the issue of a request has ended.
fn has_ended(reads: &mut dyn Reads, request: &WakeRequest<'_>) -> Result<bool, StoreError> {
    let Some(issue) = request.issue else {
        return Ok(false);
    };
    let scope = request.agent.scope().into();
    let found = reads.issues().find(scope, &issue.into())?;
    Ok(found.is_some_and(|issue| issue.status().is_terminal()))
}

/// True when an undecided plan keeps the agent from the work on an issue.
/// Whoever is to revise a plan may work on its issue, but on nothing below it.
fn awaits_plan(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: IssueId,
    agent: AgentId,
) -> Result<bool, StoreError> {
    if reads
        .approvals()
        .undecided_blocking(company, issue)?
        .is_none()
    {
        return Ok(false);
    }
    let is_in_the_way = |approval: &Approval| {
        let revises = approval.status() == ApprovalStatus::RevisionRequested
            && approval.requested_by.agent() == Some(agent);
        approval.kind == ApprovalType::ApproveIssuePlan && !revises
    };
    let own = reads.approvals().undecided_linked_to(company, issue)?;
    if own.iter().any(is_in_the_way) {
        return Ok(true);
    }
    let found = reads.issues().find(company.into(), &issue.into())?;
    match found.and_then(|issue| issue.parent) {
        Some(parent) => Ok(reads
            .approvals()
            .undecided_blocking(company, parent)?
            .is_some()),
        None => Ok(false),
    }
}

/// True when somebody else holds an issue, or still works on it.
fn is_held(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: IssueId,
    agent: AgentId,
) -> Result<bool, StoreError> {
    let lease = reads.issues().lease(company, issue)?;
    if lease.is_some_and(|lease| lease.is_live(ctx.now) && lease.holder.agent() != agent) {
        return Ok(true);
    }
    let filter = RunFilter {
        issue: Some(issue),
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let running = reads.runs().list(company, &filter, &PageRequest::first())?;
    let works = |kind, other| kind == RunKind::Execution && other != agent;
    Ok(running.items.iter().any(|run| works(run.kind, run.agent)))
}

/// Turns a pending wake to work into one to give advice, if it has a mention and
/// a new plan now keeps the agent from the issue.
pub(crate) fn turn_work_into_advice(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    agent: AgentId,
    issue: IssueId,
) -> Result<(), StoreError> {
    let pending = tx
        .runs_mut()
        .lock_pending_wake(company, agent, Some(issue))?;
    let called = pending.filter(|wake| {
        wake.kind == RunKind::Execution && wake.reasons.contains(&WakeReason::IssueCommentMentioned)
    });
    let Some(mut wake) = called else {
        return Ok(());
    };
    if awaits_plan(tx.reads(), company, issue, agent)? {
        super::change_kind(tx, ctx, &mut wake, RunKind::Consult)?;
        wake.updated_at = ctx.now;
        tx.runs_mut().save_wake(&wake)?;
    }
    Ok(())
}

/// Queues again the work that waited in a wake that is answered with advice.
pub(crate) fn requeue_waiting_work(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Agent,
    answered: &Wake,
) -> Result<(), StoreError> {
    let (RunKind::Consult, Some(issue), Some(reason)) =
        (answered.kind, answered.issue, answered.work)
    else {
        return Ok(());
    };
    let found = tx.issues().find(agent.scope().into(), &issue.into())?;
    let is_its_own =
        found.is_some_and(|it| it.assignee.agent() == Some(agent.id) && !it.status().is_terminal());
    if is_its_own {
        let request = WakeRequest::about(agent, issue, answered.source, reason);
        super::request(tx, ctx, request)?;
    }
    Ok(())
}
