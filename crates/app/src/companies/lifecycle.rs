//! Pause, resume, archive, take out of the archive
//! (docs/access.md#company-switches). Board only. All that a switch causes is
//! in its one transaction.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::AgentState;
use workforce_domain::company::{Company, CompanyStatus};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, IssueFilter, Locked, StopScope, StoreError, Tx};
use workforce_domain::run::RunErrorCode;
use workforce_domain::time::Month;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::{CompanyError, CompanyView, lock, view};
use crate::access::Denied;
use crate::activity_log::log_change;
use crate::budgets;
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::wakes::{self, WakeRequest};

/// For at most so many open issues a resumed company wakes its agents: their
/// wakes were cancelled when it was stopped.
const RESUMED_ISSUES: usize = 100;

/// What [`pause`] and [`resume`] refuse with, the board too.
pub const SWITCH: Codes = Codes::of(&[Code::CompanyNotActive]);

/// Stops all work of a company: its wakes are cancelled, its runs asked to
/// stop, nothing of it starts, and its agents change nothing. Pausing again
/// changes nothing.
///
/// # Errors
/// [`CompanyError`]; `company_not_active` for an archived company.
pub fn pause(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    switch(tx, ctx, id, CompanyStatus::Paused, false)
}

/// Lets a paused company work again, as far as its budget does: the agents
/// that may run are woken for the work they were stopped in. A company that
/// works already stays as it is.
///
/// # Errors
/// [`CompanyError`]; `company_not_active` for an archived company.
pub fn resume(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    switch(tx, ctx, id, CompanyStatus::Active, false)
}

/// Archives a company: the same as a pause, and it no longer shows in lists.
/// Archiving again changes nothing.
pub fn archive(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    switch(tx, ctx, id, CompanyStatus::Archived, true)
}

/// Takes a company out of the archive: it may work again, and nobody is woken
/// for what lay there. One that is not archived stays as it is.
pub fn unarchive(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    let mut company = lock(tx, ctx, id)?;
    if company.status() == CompanyStatus::Archived {
        set_status(tx, ctx, &mut company, CompanyStatus::Active)?;
    }
    Ok(view(tx.reads(), ctx, company.into_inner())?)
}

fn switch(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
    to: CompanyStatus,
    from_archive: bool,
) -> Result<CompanyView, Failure<CompanyError>> {
    let mut company = lock(tx, ctx, id)?;
    let status = company.status();
    if status == CompanyStatus::Archived && !from_archive {
        return Err(Denied::CompanyNotActive { status }.into());
    }
    set_status(tx, ctx, &mut company, to)?;
    Ok(view(tx.reads(), ctx, company.into_inner())?)
}

/// Moves a locked company to `to` and saves it, with everything that follows.
pub(super) fn set_status(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &mut Locked<Company>,
    to: CompanyStatus,
) -> Result<(), StoreError> {
    let from = company.status();
    // To stay is no switch.
    let Ok(lifecycle) = company.lifecycle.transition_to(to, ctx.now) else {
        return Ok(());
    };
    company.lifecycle = lifecycle;
    company.updated_at = ctx.now;
    tx.companies_mut().save(company)?;
    let action = match to {
        CompanyStatus::Paused => Action::CompanyPaused,
        CompanyStatus::Archived => Action::CompanyArchived,
        CompanyStatus::Active if from == CompanyStatus::Archived => Action::CompanyUnarchived,
        CompanyStatus::Active => Action::CompanyResumed,
    };
    log_change(tx, ctx, action, company, json!({ "from": from }));
    ctx.signal.raise();
    if to != CompanyStatus::Active {
        return stop(tx, ctx, company);
    }
    // What was spent meanwhile may have used the budget up.
    budgets::enforce_company(tx, ctx, company, Month::of(ctx.now))?;
    tx.companies_mut().save(company)?;
    if from == CompanyStatus::Paused && company.lifecycle.paused().is_none() {
        wake_for_open_work(tx, ctx, company)?;
    }
    Ok(())
}

fn stop(tx: &mut dyn Tx, ctx: &Context<'_>, company: &Company) -> Result<(), StoreError> {
    let (scope, whole) = (company.scope(), StopScope::Company);
    let reason = RunErrorCode::CancelRequested;
    tx.runs_mut()
        .request_stop(scope, whole, None, reason, ctx.now)?;
    tx.runs_mut().cancel_pending(scope, whole, ctx.now)?;
    Ok(())
}

/// Wakes the agents that may run for what they are to do. Those that were
/// paused singly stay so, and are not woken.
fn wake_for_open_work(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &Company,
) -> Result<(), StoreError> {
    let scope = company.scope();
    let filter = IssueFilter {
        statuses: vec![IssueStatus::InProgress, IssueStatus::Todo],
        ..IssueFilter::default()
    };
    let page = PageRequest {
        limit: RESUMED_ISSUES,
        ..PageRequest::first()
    };
    for issue in tx.issues().list(scope, &filter, &page)?.items {
        let Some(assignee) = issue.assignee.agent() else {
            continue;
        };
        let agent = tx.agents().find(scope.into(), assignee)?;
        let Some(agent) = agent.filter(|agent| agent.lifecycle.state() == AgentState::Enabled)
        else {
            continue;
        };
        let (source, reason) = (WakeSource::Assignment, WakeReason::IssueAssigned);
        let request = WakeRequest::about(&agent, issue.id, source, reason);
        wakes::request(tx, ctx, request)?;
    }
    Ok(())
}
