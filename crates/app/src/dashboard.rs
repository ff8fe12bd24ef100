//! A company at a glance (docs/budgets.md#sums).

use std::time::Duration;

use serde_json::Value;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::budget::BudgetUsage;
use workforce_domain::dashboard::{Badges, Cutoffs, DashboardMetrics};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::StuckReason;
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Reads, Spender};
use workforce_domain::time::{Day, Month};

use crate::access::{self, Denied};
use crate::budgets;
use crate::context::Context;
use crate::refusal::{Code, Refusal};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Why a call about the dashboard is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct DashboardError(#[from] pub Denied);

impl Refusal for DashboardError {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn details(&self) -> Option<Value> {
        self.0.details()
    }
}

/// A company at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dashboard {
    /// What is counted.
    pub figures: DashboardMetrics,
    /// The spend of the month against the company's budget, or against the sum
    /// of its agents' budgets where it has none.
    pub usage: BudgetUsage,
    /// How many issues are stuck, for each reason that there is.
    pub stuck: Vec<(StuckReason, i64)>,
}

/// A company at a glance. Anyone of the company.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Dashboard, Failure<DashboardError>> {
    let company = access::company(reads, ctx, company)?;
    let scope = company.scope();
    let month = Month::of(ctx.now);
    let figures = figures(reads, &ctx.within(&company), company.id)?;
    let budget = if company.budget == Budget::UNLIMITED {
        Budget::from_cents(figures.agents.budget_cents.min(Budget::MAX_CENTS))
            .unwrap_or(Budget::UNLIMITED)
    } else {
        company.budget
    };
    let basis = company.budget_basis;
    let usage = budgets::usage(reads, scope, Spender::Company, budget, basis, month)?;
    let stuck = reads.issues().count_stuck(scope)?;
    Ok(Dashboard {
        figures,
        usage,
        stuck,
    })
}

/// What of a company is counted. Anyone of the company.
pub fn figures(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<DashboardMetrics, Failure<DashboardError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let today = Day::of(ctx.now).start();
    let instants = Cutoffs {
        now: ctx.now,
        today,
        yesterday: today.minus(Day::LENGTH),
        hour_ago: ctx.now.minus(HOUR),
    };
    Ok(reads.companies().figures(scope, instants)?)
}

/// What waits for somebody's attention. Anyone of the company.
pub fn badges(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Badges, Failure<DashboardError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.companies().badges(scope)?)
}
