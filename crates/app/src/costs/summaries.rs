//! What was spent in a window of time, in all and by whom.

use std::time::Duration;

use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentStatus};
use workforce_domain::budget::BudgetUsage;
use workforce_domain::cost::{CostTotal, Window};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{Failure, ModelCost, ProjectCost, Reads, Spender};
use workforce_domain::time::{Day, Month, Timestamp};

use super::CostError;
use super::forecast::limits;
use crate::access;
use crate::agents;
use crate::context::Context;

/// The window of a breakdown; the current month unless the caller names
/// another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowQuery {
    /// First instant within.
    pub from: Option<Timestamp>,
    /// First instant after.
    pub to: Option<Timestamp>,
}

impl WindowQuery {
    pub(super) fn window(self, now: Timestamp) -> Window {
        let month = Month::of(now);
        match (self.from, self.to) {
            (Some(start), Some(end)) => Window { start, end },
            (Some(start), None) => Window {
                start,
                end: month.end().max(start),
            },
            // The month that ends, or is cut short, there.
            (None, Some(end)) => Window {
                start: Month::of(end.minus(Duration::from_micros(1))).start(),
                end,
            },
            (None, None) => Window {
                start: month.start(),
                end: month.end(),
            },
        }
    }
}

/// A company's spend in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostSummary {
    /// The company.
    pub company: CompanyId,
    /// The sums.
    pub total: CostTotal,
    /// The company's spend against its budget.
    pub usage: BudgetUsage,
    /// The window.
    pub window: Window,
}

/// Total spend, budget and utilisation; for the current month unless another
/// window is named.
pub fn summary(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: WindowQuery,
) -> Result<CostSummary, Failure<CostError>> {
    let company = access::company(reads, ctx, company)?;
    let window = query.window(ctx.now);
    let total = reads.ledger().total(company.scope(), window)?;
    let usage = BudgetUsage {
        spent: total.counted(company.budget_basis),
        budget: company.budget,
    };
    Ok(CostSummary {
        company: company.id,
        total,
        usage,
        window,
    })
}

/// What one agent cost.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCost {
    /// The agent.
    pub agent: Agent,
    /// Its status.
    pub status: AgentStatus,
    /// The sums.
    pub total: CostTotal,
    /// Its spend against its budget.
    pub usage: BudgetUsage,
}

/// What each agent cost, the dearest first, those without any cost too.
pub fn by_agent(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: WindowQuery,
) -> Result<Vec<AgentCost>, Failure<CostError>> {
    let company = access::company(reads, ctx, company)?;
    let (scope, basis) = (company.scope(), company.budget_basis);
    let totals: std::collections::HashMap<AgentId, CostTotal> = reads
        .ledger()
        .by_agent(scope, query.window(ctx.now))?
        .into_iter()
        .collect();
    let agents = agents::everyone(reads, scope, true)?;
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let running = reads.agents().running(scope, &ids)?;
    let mut rows: Vec<AgentCost> = agents
        .into_iter()
        .map(|agent| {
            let total = totals.get(&agent.id).copied().unwrap_or_default();
            AgentCost {
                status: agent.status(running.contains(&agent.id)),
                usage: BudgetUsage {
                    spent: total.counted(basis),
                    budget: agent.budget,
                },
                total,
                agent,
            }
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total.cost));
    Ok(rows)
}

/// What each project cost, the dearest first; the rows add up to the total.
pub fn by_project(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: WindowQuery,
) -> Result<Vec<ProjectCost>, Failure<CostError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let mut rows = reads.ledger().by_project(scope, query.window(ctx.now))?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.total.cost));
    Ok(rows)
}

/// What each model cost, the dearest first; the rows add up to the total.
pub fn by_model(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: WindowQuery,
) -> Result<Vec<ModelCost>, Failure<CostError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let mut rows = reads.ledger().by_model(scope, query.window(ctx.now))?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.total.cost));
    Ok(rows)
}

/// What each day in UTC cost the company, an agent or a project, in order; days without a cost are
/// missing.
pub fn by_day(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    spender: Spender,
    query: WindowQuery,
) -> Result<Vec<(Day, CostTotal)>, Failure<CostError>> {
    let company = access::company(reads, ctx, company)?;
    limits(reads, &company, spender)?;
    let window = query.window(ctx.now);
    Ok(reads.ledger().by_day(company.scope(), spender, window)?)
}
