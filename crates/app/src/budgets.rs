//! Keeping spend within budgets: alerts once per month and threshold, pauses at
//! 100 %, resumption when the limit is raised or a month begins
//! (docs/budgets.md#thresholds).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::budget::{
    AgentPause, BudgetBasis, BudgetUsage, RaisedAlerts, Threshold, alerts_due, decide_agent,
    decide_company,
};
use workforce_domain::company::{Company, PauseReason};
use workforce_domain::id::ProjectId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::money::Budget;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{
    AssigneeFilter, BudgetStop, Failure, IssueFilter, Locked, Reads, Spender, StopScope,
    StoreError, Tx,
};
use workforce_domain::project::Project;
use workforce_domain::run::RunErrorCode;
use workforce_domain::time::Month;
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::activity_log::{ActivitySubject, log_activity, log_change};
use crate::agents;
use crate::changes::Recorded;
use crate::context::Context;
use crate::wakes::{self, WakeRequest};

/// For at most so many of its unfinished issues a resumed agent is woken.
const RESUMED_ISSUES: usize = 5;

/// For at most so many unfinished issues the agents of a resumed company are
/// woken.
const RESUMED_COMPANY_ISSUES: usize = 100;

/// What counts as spent against the budgets of a company.
pub(crate) fn basis_of(
    reads: &mut dyn Reads,
    company: CompanyScope,
) -> Result<BudgetBasis, StoreError> {
    let found = reads.companies().find(company.into(), company.company())?;
    Ok(found.map_or(BudgetBasis::Actual, |company| company.budget_basis))
}

/// How the spend of a month stands against a budget, which is that of an agent, a
/// company or a project.
pub(crate) fn usage(
    reads: &mut dyn Reads,
    company: CompanyScope,
    spender: Spender,
    budget: Budget,
    basis: BudgetBasis,
    month: Month,
) -> Result<BudgetUsage, StoreError> {
    let spend = reads.ledger().spent(company, spender, month)?;
    Ok(BudgetUsage {
        spent: spend.counted(basis),
        budget,
    })
}

/// Applies an agent's budget after its spend, its limit or the month changed.
/// The agent is changed, not saved; the caller holds the company's lock too.
pub fn enforce_agent(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &mut Locked<Agent>,
    basis: BudgetBasis,
    month: Month,
) -> Result<(), StoreError> {
    let company = agent.scope();
    let spender = Spender::Agent(agent.id);
    let usage = usage(tx.reads(), company, spender, agent.budget, basis, month)?;
    let raised = raised_alerts(tx, company, spender, month, usage)?;
    let decision = decide_agent(usage, raised, AgentPause::from(agent.lifecycle));
    for threshold in decision.alerts {
        alert(tx, ctx, company, spender, month, usage, threshold, agent)?;
    }
    if decision.pause
        && !agent.may_overspend(month)
        && let Ok(paused) = agent.lifecycle.pause(PauseReason::Budget, ctx.now)
    {
        agent.lifecycle = paused;
        agent.updated_at = ctx.now;
        record_switch(tx, ctx, agent, Action::AgentPaused);
        stop_runs(tx, ctx, company, StopScope::Agent(agent.id))?;
    }
    if decision.resume
        && let Ok(enabled) = agent.lifecycle.enable()
    {
        agent.lifecycle = enabled;
        agent.updated_at = ctx.now;
        record_switch(tx, ctx, agent, Action::AgentResumed);
        wake_for_unfinished(tx, ctx, agent)?;
    }
    Ok(())
}

/// Applies a company's budget after its spend, its limit or the month changed.
/// The company is changed, not saved. Its status stays as the board set it
/// (docs/budgets.md#stops).
pub fn enforce_company(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &mut Locked<Company>,
    month: Month,
) -> Result<(), StoreError> {
    let scope = company.scope();
    let (budget, basis) = (company.budget, company.budget_basis);
    let usage = usage(tx.reads(), scope, Spender::Company, budget, basis, month)?;
    let raised = raised_alerts(tx, scope, Spender::Company, month, usage)?;
    let decision = decide_company(usage, raised, company.lifecycle.pause_reason());
    for threshold in decision.alerts {
        alert(
            tx,
            ctx,
            scope,
            Spender::Company,
            month,
            usage,
            threshold,
            company,
        )?;
    }
    if decision.pause {
        company.lifecycle = company.lifecycle.stop_for_budget(ctx.now);
        company.updated_at = ctx.now;
        record_switch(tx, ctx, company, Action::CompanyPaused);
        stop_runs(tx, ctx, scope, StopScope::Company)?;
    }
    if decision.resume {
        company.lifecycle = company.lifecycle.lift_budget_stop();
        company.updated_at = ctx.now;
        record_switch(tx, ctx, company, Action::CompanyResumed);
        wake_company(tx, ctx, company)?;
    }
    Ok(())
}

/// Applies the budgets of a project after its spend, its limits or the month changed:
/// it alerts, and stops the live runs on its issues when one is used up. Nothing is
/// switched off by that: what may start is decided by the claim.
pub fn enforce_project(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &Company,
    project: ProjectId,
    month: Month,
) -> Result<(), StoreError> {
    let scope = company.scope();
    let Some(project) = tx.projects().find(scope.into(), project)? else {
        return Ok(());
    };
    let spender = Spender::Project(project.id);
    let usage = project_usage(tx.reads(), company, &project, month)?;
    let raised = raised_alerts(tx, scope, spender, month, usage)?;
    for threshold in alerts_due(usage, raised) {
        alert(tx, ctx, scope, spender, month, usage, threshold, &project)?;
    }
    if usage.exhausted() {
        stop_runs(tx, ctx, scope, StopScope::Project(project.id))?;
    }
    Ok(())
}

/// How the spend on a project stands against that of its budgets of which more is
/// used.
pub(crate) fn project_usage(
    reads: &mut dyn Reads,
    company: &Company,
    project: &Project,
    month: Month,
) -> Result<BudgetUsage, StoreError> {
    let (scope, basis) = (company.scope(), company.budget_basis);
    let spender = Spender::Project(project.id);
    let in_month = usage(reads, scope, spender, project.budget, basis, month)?;
    let in_all = BudgetUsage {
        spent: reads.ledger().spent_ever(scope, spender)?.counted(basis),
        budget: project.total_budget,
    };
    let used = BudgetUsage::utilization_percent_hundredths;
    Ok(if used(in_all) > used(in_month) {
        in_all
    } else {
        in_month
    })
}

/// Applies the budgets of all agents and projects of a company after what counts
/// against them became something else.
pub(crate) fn enforce_everyone(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: &Company,
    month: Month,
) -> Result<(), StoreError> {
    let scope = company.scope();
    for agent in agents::everyone(tx.reads(), scope, false)? {
        if agent.budget.limit().is_none() {
            continue;
        }
        if let Some(mut agent) = tx.agents_mut().lock(scope.into(), agent.id)? {
            enforce_agent(tx, ctx, &mut agent, company.budget_basis, month)?;
            tx.agents_mut().save(&agent)?;
        }
    }
    for project in tx.projects().with_budgets(scope)? {
        enforce_project(tx, ctx, company, project, month)?;
    }
    ctx.signal.raise();
    Ok(())
}

/// Lifts one budget stop if the budget of `month` is not used up. The engine
/// calls this when a month begins.
pub fn lift(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    stop: BudgetStop,
    month: Month,
) -> Result<(), Failure<std::convert::Infallible>> {
    let scope = stop.company;
    let Some(mut company) = tx.companies_mut().lock(scope.into(), scope.company())? else {
        return Ok(());
    };
    let Some(agent) = stop.agent else {
        enforce_company(tx, ctx, &mut company, month)?;
        return Ok(tx.companies_mut().save(&company)?);
    };
    if let Some(mut agent) = tx.agents_mut().lock(scope.into(), agent)? {
        enforce_agent(tx, ctx, &mut agent, company.budget_basis, month)?;
        tx.agents_mut().save(&agent)?;
    }
    Ok(())
}

/// The alerts raised already; below the first threshold they do not matter.
fn raised_alerts(
    tx: &mut dyn Tx,
    company: CompanyScope,
    spender: Spender,
    month: Month,
    usage: BudgetUsage,
) -> Result<RaisedAlerts, StoreError> {
    if usage.reached().is_none() {
        return Ok(RaisedAlerts::default());
    }
    let alerts = tx.ledger().alerts(company, spender, month)?;
    Ok(RaisedAlerts {
        soft: alerts.contains(&Threshold::Soft),
        hard: alerts.contains(&Threshold::Hard),
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "a private function that only writes its arguments"
)]
fn alert(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    spender: Spender,
    month: Month,
    usage: BudgetUsage,
    threshold: Threshold,
    subject: &impl ActivitySubject,
) -> Result<(), StoreError> {
    if !tx
        .ledger_mut()
        .raise_alert(company, spender, month, threshold, ctx.now)?
    {
        return Ok(());
    }
    let action = match threshold {
        Threshold::Soft => Action::BudgetSoftAlert,
        Threshold::Hard => Action::BudgetHardStop,
    };
    let details = json!({
        "month": month.to_string(),
        "spentMonthlyCents": usage.spent.to_string(),
        "budgetMonthlyCents": usage.budget.cents(),
        "utilizationPercent": usage.utilization().to_string(),
    });
    log_activity(tx, &ctx.as_system(), action, subject, details);
    Ok(())
}

fn stop_runs(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    stop: StopScope,
) -> Result<(), StoreError> {
    let reason = RunErrorCode::BudgetExhausted;
    tx.runs_mut()
        .request_stop(company, stop, None, reason, ctx.now)?;
    ctx.signal.raise();
    Ok(())
}

/// Wakes a resumed agent about the issues that it was stopped in.
pub(crate) fn wake_for_unfinished(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Agent,
) -> Result<(), StoreError> {
    ctx.signal.raise();
    let assignee = Some(AssigneeFilter::Agent(agent.id));
    for issue in unfinished(tx, agent.scope(), assignee, RESUMED_ISSUES)? {
        wake_about(tx, ctx, agent, &issue)?;
    }
    Ok(())
}

/// Wakes the agents of a resumed company about the issues that they were stopped
/// in.
fn wake_company(tx: &mut dyn Tx, ctx: &Context<'_>, company: &Company) -> Result<(), StoreError> {
    ctx.signal.raise();
    let scope = company.scope();
    for issue in unfinished(tx, scope, None, RESUMED_COMPANY_ISSUES)? {
        let Some(assignee) = issue.assignee.agent() else {
            continue;
        };
        if let Some(agent) = tx.agents().find(scope.into(), assignee)? {
            wake_about(tx, ctx, &agent, &issue)?;
        }
    }
    Ok(())
}

/// What was begun comes first. What is still to do may have been in a run that was stopped before
/// it checked anything out.
fn unfinished(
    tx: &mut dyn Tx,
    company: CompanyScope,
    assignee: Option<AssigneeFilter>,
    limit: usize,
) -> Result<Vec<Issue>, StoreError> {
    let mut issues = Vec::new();
    for status in [IssueStatus::InProgress, IssueStatus::Todo] {
        let filter = IssueFilter {
            statuses: vec![status],
            assignee,
            ..IssueFilter::default()
        };
        let page = PageRequest {
            limit: limit - issues.len(),
            ..PageRequest::first()
        };
        if page.limit > 0 {
            issues.extend(tx.issues().list(company, &filter, &page)?.items);
        }
    }
    Ok(issues)
}

fn wake_about(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Agent,
    issue: &Issue,
) -> Result<(), StoreError> {
    let reason = WakeReason::BudgetResumed;
    let request = WakeRequest::about(agent, issue.id, WakeSource::Automation, reason);
    wakes::request(tx, ctx, request)?;
    Ok(())
}

fn record_switch<T: ActivitySubject + Recorded + CompanyOwned + Clone>(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    stopped: &mut Locked<T>,
    action: Action,
) {
    let details = json!({ "reason": PauseReason::Budget });
    log_change(tx, &ctx.as_system(), action, stopped, details);
}
