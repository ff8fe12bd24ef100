//! What a run has used of its budgets (docs/budgets.md#reservations).

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::budget::{BudgetBasis, RunSpend};
use workforce_domain::company::Company;
use workforce_domain::cost::CostEvent;
use workforce_domain::id::{ProjectId, RunId};
use workforce_domain::money::Cents;
use workforce_domain::port::{Spender, StopScope, StoreError, Tx};
use workforce_domain::run::RunErrorCode;
use workforce_domain::time::Month;

use crate::context::Context;

/// Counts a reported cost on its run, which is stopped when it goes beyond what it
/// reserved and what its budgets have left.
pub(super) fn count(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    event: &CostEvent,
) -> Result<(), StoreError> {
    let Some(run) = event.run else {
        return Ok(());
    };
    let Some(mut spend) = tx.ledger().run_spend(event.scope(), run)? else {
        return Ok(());
    };
    add(&mut spend, event);
    keep(tx, ctx, event.scope(), run, &spend)
}

/// Adds an event to what its run has used.
pub(super) fn add(spend: &mut RunSpend, event: &CostEvent) {
    // No sum is larger than that of the company, which was checked.
    let plus = |sum: Cents, more| sum.checked_add(more).unwrap_or(sum);
    spend.spent = plus(spend.spent, event.cost);
    spend.estimated = plus(spend.estimated, event.estimated.unwrap_or_default());
}

/// Keeps what a run has used and holds now, and stops it when it has gone beyond its
/// budgets. The caller holds the lock of the company.
pub(super) fn keep(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    run: RunId,
    spend: &RunSpend,
) -> Result<(), StoreError> {
    let Some(company) = tx.companies().find(scope.into(), scope.company())? else {
        return Ok(());
    };
    let basis = company.budget_basis;
    tx.ledger_mut()
        .save_run_spend(scope, run, spend, spend.held(basis))?;
    if spend.is_beyond(basis) && has_nothing_left(tx, ctx, &company, run, spend.project)? {
        let (stop, reason) = (StopScope::Run(run), RunErrorCode::BudgetExhausted);
        tx.runs_mut()
            .request_stop(scope, stop, None, reason, ctx.now)?;
        ctx.signal.raise();
    }
    Ok(())
}

/// Whether one of the budgets of a live run is used up by what is spent and held.
fn has_nothing_left(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &Company,
    run: RunId,
    project: Option<ProjectId>,
) -> Result<bool, StoreError> {
    let (scope, month) = (company.scope(), Month::of(ctx.now));
    let basis = company.budget_basis;
    let Some(run) = tx.runs().find(scope.into(), run)? else {
        return Ok(false);
    };
    if !run.status.is_live() {
        return Ok(false);
    }
    let spend = tx.ledger().spent(scope, Spender::Company, month)?;
    if spend.exhausts(company.budget, basis) {
        return Ok(true);
    }
    if let Some(agent) = tx.agents().find(scope.into(), run.agent)?
        && is_beyond_agent(tx, scope, &agent, basis, month)?
    {
        return Ok(true);
    }
    match project {
        Some(project) => is_beyond_project(tx, scope, project, basis, month),
        None => Ok(false),
    }
}

fn is_beyond_agent(
    tx: &mut dyn Tx,
    scope: CompanyScope,
    agent: &Agent,
    basis: BudgetBasis,
    month: Month,
) -> Result<bool, StoreError> {
    let spend = tx.ledger().spent(scope, Spender::Agent(agent.id), month)?;
    Ok(spend.exhausts(agent.budget, basis) && !agent.may_overspend(month))
}

fn is_beyond_project(
    tx: &mut dyn Tx,
    scope: CompanyScope,
    project: ProjectId,
    basis: BudgetBasis,
    month: Month,
) -> Result<bool, StoreError> {
    let Some(project) = tx.projects().find(scope.into(), project)? else {
        return Ok(false);
    };
    let spender = Spender::Project(project.id);
    let in_month = tx.ledger().spent(scope, spender, month)?;
    let in_all = tx.ledger().spent_ever(scope, spender)?;
    Ok(in_month.exhausts(project.budget, basis) || in_all.exhausts(project.total_budget, basis))
}
