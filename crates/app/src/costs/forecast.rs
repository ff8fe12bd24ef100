//! When a budget runs out, and what another limit would have done.

use serde::Serialize;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::budget::{
    BudgetBasis, BudgetScope, DaySpend, Forecast, LimitPeriod, Replay, forecast as expected,
    full_days,
};
use workforce_domain::company::Company;
use workforce_domain::cost::Window;
use workforce_domain::id::{AgentId, CompanyId, ProjectId};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::{Failure, Reads, Spender, StoreError};
use workforce_domain::time::{Day, Month, Timestamp};

use super::{CostError, WindowQuery};
use crate::access::{self, Denied};
use crate::context::Context;

/// What is to be expected of a budget, and what that is told from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CostForecast {
    /// The company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Whose budget it is about.
    pub scope: BudgetScope,
    /// The agent, where it is about one.
    #[serde(rename = "agentId")]
    pub agent: Option<AgentId>,
    /// The project, where it is about one.
    #[serde(rename = "projectId")]
    pub project: Option<ProjectId>,
    /// What counts as spent: all amounts of this answer are by it.
    pub basis: BudgetBasis,
    /// The limit that is forecast: the one asked about, or the one that is set and has
    /// the least left.
    #[serde(rename = "limitCents")]
    pub limit: Budget,
    /// What that limit bounds; `null` without a limit.
    pub limit_period: Option<LimitPeriod>,
    /// What is spent of that limit: this month, or in all where the limit is on that.
    #[serde(rename = "spentCents")]
    pub spent: Cents,
    /// What is left of that limit; `null` without one.
    #[serde(rename = "leftCents")]
    pub left: Option<Cents>,
    /// What was spent this month.
    #[serde(rename = "monthSpendCents")]
    pub month_spend: Cents,
    /// What is to be expected.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// The full days that tell the rate, oldest first, the last one yesterday.
    #[cfg_attr(feature = "openapi", schema(max_items = 14))]
    pub days: Vec<DaySpend>,
    /// What the limit asked about would have done this month; `null` when none is asked
    /// about.
    pub what_if: Option<Replay>,
}

/// The limits that are set on a spender.
pub(super) struct Limits {
    monthly: Budget,
    /// None but on projects.
    total: Budget,
}

/// When the budget of the company, an agent or a project runs out at the rate of the
/// last days, and what is spent by the end of the month. With `what_if` that is the
/// monthly limit, in the place of those that are set, and the month is replayed under
/// it.
pub fn forecast(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    spender: Spender,
    what_if: Option<Budget>,
) -> Result<CostForecast, Failure<CostError>> {
    let company = access::company(reads, ctx, company)?;
    let (scope, basis) = (company.scope(), company.budget_basis);
    let mut limits = limits(reads, &company, spender)?;
    if let Some(monthly) = what_if {
        let total = Budget::UNLIMITED;
        limits = Limits { monthly, total };
    }
    let month = Month::of(ctx.now);
    let month_spend = reads.ledger().spent(scope, spender, month)?.counted(basis);
    let total_spend = match limits.total.limit() {
        Some(_) => reads.ledger().spent_ever(scope, spender)?.counted(basis),
        None => Cents::ZERO,
    };
    let binding = [
        (LimitPeriod::Total, limits.total, total_spend),
        (LimitPeriod::Month, limits.monthly, month_spend),
    ]
    .into_iter()
    .filter_map(|(period, budget, spent)| {
        let left = budget.limit()?.saturating_sub(spent);
        Some((period, budget, spent, left))
    })
    // Of equals the first: a total does not begin anew with the month.
    .min_by_key(|(.., left)| *left);
    let left = binding.map(|(.., left)| left);
    let days = days(reads, scope, spender, basis, ctx.now)?;
    let spends: Vec<Cents> = days.iter().map(|day| day.spend).collect();
    let replay = match what_if.map(Budget::limit) {
        Some(Some(limit)) => {
            let window = WindowQuery::default().window(ctx.now);
            let ledger = reads.ledger();
            Some(ledger.replay(scope, spender, window, basis, limit)?)
        }
        // Without a limit nothing would have stopped.
        Some(None) => Some(Replay::default()),
        None => None,
    };
    Ok(CostForecast {
        company: company.id,
        scope: spender.budget_scope(),
        agent: match spender {
            Spender::Agent(agent) => Some(agent),
            Spender::Company | Spender::Project(_) => None,
        },
        project: match spender {
            Spender::Project(project) => Some(project),
            Spender::Company | Spender::Agent(_) => None,
        },
        basis,
        limit: binding.map_or(Budget::UNLIMITED, |(_, budget, ..)| budget),
        limit_period: binding.map(|(period, ..)| period),
        spent: binding.map_or(month_spend, |(_, _, spent, _)| spent),
        left,
        month_spend,
        forecast: expected(&spends, left, month_spend, ctx.now),
        days,
        what_if: replay,
    })
}

/// The limits of a spender, which must be one of the company.
pub(super) fn limits(
    reads: &mut dyn Reads,
    company: &Company,
    spender: Spender,
) -> Result<Limits, Failure<CostError>> {
    let scope = company.scope().into();
    let (monthly, total) = match spender {
        Spender::Company => (company.budget, Budget::UNLIMITED),
        Spender::Agent(id) => {
            let agent = reads.agents().find(scope, id)?;
            let agent = agent.ok_or(Denied::NotFound("agent"))?;
            (agent.budget, Budget::UNLIMITED)
        }
        Spender::Project(id) => {
            let project = reads.projects().find(scope, id)?;
            let project = project.ok_or(Denied::NotFound("project"))?;
            (project.budget, project.total_budget)
        }
    };
    Ok(Limits { monthly, total })
}

/// What was spent on each of the days that tell the rate.
fn days(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    spender: Spender,
    basis: BudgetBasis,
    now: Timestamp,
) -> Result<Vec<DaySpend>, StoreError> {
    let Some(first) = reads.ledger().first_cost(scope, spender)? else {
        return Ok(Vec::new());
    };
    let days = full_days(first, now);
    let Some(oldest) = days.first() else {
        return Ok(Vec::new());
    };
    let window = Window {
        start: oldest.start(),
        end: Day::of(now).start(),
    };
    let sums = reads.ledger().by_day(scope, spender, window)?;
    let spend_on = |day| {
        let found = sums.iter().find(|(of, _)| *of == day);
        found.map_or(Cents::ZERO, |(_, total)| total.counted(basis))
    };
    Ok(days
        .into_iter()
        .map(|date| DaySpend {
            date,
            spend: spend_on(date),
        })
        .collect())
}
