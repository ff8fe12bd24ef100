//! What runs use and hold of the budgets (docs/budgets.md#reservations).

use diesel::prelude::*;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::budget::{
    BudgetBasis, RUNS_LOOKED_AT, RunSpend, Spend, expected_cost, reservation,
};
use workforce_domain::company::Company;
use workforce_domain::id::{AgentId, CompanyId, ProjectId, RunId};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::{Spender, StoreError};
use workforce_domain::run::Run;
use workforce_domain::time::{Month, Timestamp};

use super::super::Connection;
use super::row::exactly_one;
use super::spends::{self, SpenderId};
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{issues, projects, run_spends};

#[derive(Queryable, Selectable)]
#[diesel(table_name = run_spends)]
struct RunSpendRow {
    project_id: Option<IdColumn<ProjectId>>,
    reserved_micros: i64,
    spent_micros: i64,
    estimated_micros: i64,
    untold_micros: i64,
    booked_through: i64,
}

impl From<RunSpendRow> for RunSpend {
    fn from(row: RunSpendRow) -> Self {
        Self {
            project: row.project_id.map(|project| project.0),
            reserved: Cents::from_micros(row.reserved_micros),
            spent: Cents::from_micros(row.spent_micros),
            estimated: Cents::from_micros(row.estimated_micros),
            untold: Cents::from_micros(row.untold_micros),
            booked_through: row.booked_through,
        }
    }
}

/// What a run has used.
pub(super) fn find(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
) -> Result<Option<RunSpend>, StoreError> {
    let row: Option<RunSpendRow> = run_spends::table
        .find(IdColumn(run))
        .filter(run_spends::company_id.eq(IdColumn(company.company())))
        .select(RunSpendRow::as_select())
        .first(conn)
        .optional()
        .map_err(failed)?;
    Ok(row.map(RunSpend::from))
}

/// Keeps what a run has used. One that has ended holds nothing.
pub(super) fn save(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
    spend: &RunSpend,
    held: Cents,
) -> Result<(), StoreError> {
    let row = run_spends::table
        .find(IdColumn(run))
        .filter(run_spends::company_id.eq(IdColumn(company.company())));
    diesel::update(row)
        .set((
            run_spends::spent_micros.eq(spend.spent.micros()),
            run_spends::estimated_micros.eq(spend.estimated.micros()),
            run_spends::untold_micros.eq(spend.untold.micros()),
            run_spends::booked_through.eq(spend.booked_through),
        ))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)?;
    let live = row.filter(run_spends::released_at.is_null());
    diesel::update(live)
        .set(run_spends::held_micros.eq(held.micros()))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Lets go of what a run holds.
pub(super) fn release(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let held = run_spends::table
        .find(IdColumn(run))
        .filter(run_spends::company_id.eq(IdColumn(company.company())))
        .filter(run_spends::released_at.is_null());
    diesel::update(held)
        .set((
            run_spends::held_micros.eq(0),
            run_spends::released_at.eq(InstantColumn(now)),
        ))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Reserves for a run that starts what it is expected to cost, as far as its budgets
/// have that. The company is locked, and with it whatever counts against them.
pub(super) fn reserve(
    conn: &mut Connection,
    run: &Run,
    agent: &Agent,
    company: &Company,
    now: Timestamp,
) -> Result<(), StoreError> {
    let basis = company.budget_basis;
    let project = match run.issue {
        Some(issue) => project_of(conn, run.company, issue)?,
        None => None,
    };
    let mut left = Left {
        conn,
        company,
        month: Month::of(now),
    };
    let of_agent = if agent.may_overspend(left.month) {
        None
    } else {
        left.of(Spender::Agent(agent.id), agent.budget, true)?
    };
    let of_company = left.of(Spender::Company, company.budget, true)?;
    let (mut in_month, mut in_all) = (None, None);
    if let Some((project, monthly, total)) = project {
        in_month = left.of(Spender::Project(project), monthly, true)?;
        in_all = left.of(Spender::Project(project), total, false)?;
    }
    let mut earlier = earlier_costs(conn, run.company, agent.id, basis)?;
    let expected = expected_cost(&mut earlier);
    let reserved = reservation(expected, [of_agent, of_company, in_month, in_all]);
    diesel::insert_into(run_spends::table)
        .values((
            run_spends::run_id.eq(IdColumn(run.id)),
            run_spends::company_id.eq(IdColumn(run.company)),
            run_spends::agent_id.eq(IdColumn(run.agent)),
            run_spends::project_id.eq(project.map(|(project, ..)| IdColumn(project))),
            run_spends::reserved_micros.eq(reserved.micros()),
            run_spends::spent_micros.eq(0),
            run_spends::estimated_micros.eq(0),
            run_spends::untold_micros.eq(0),
            run_spends::held_micros.eq(reserved.micros()),
            run_spends::booked_through.eq(0),
        ))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)
}

/// What is left of budgets.
struct Left<'a> {
    conn: &'a mut Connection,
    company: &'a Company,
    month: Month,
}

impl Left<'_> {
    /// What is left of one, in the month or in all; `None` without a limit.
    fn of(
        &mut self,
        spender: Spender,
        budget: Budget,
        in_month: bool,
    ) -> Result<Option<Cents>, StoreError> {
        let Some(limit) = budget.limit() else {
            return Ok(None);
        };
        let company = self.company.scope();
        let id = SpenderId::of(company.company(), spender);
        let month = in_month.then_some(self.month);
        let spend: Spend = spends::of(self.conn, company, spender.budget_scope(), id, month)?;
        let basis = self.company.budget_basis;
        let left = limit.saturating_sub(spend.counted(basis));
        Ok(Some(left.saturating_sub(spend.held)))
    }
}

/// The project of an issue with its limits, if it is in one.
fn project_of(
    conn: &mut Connection,
    company: CompanyId,
    issue: workforce_domain::id::IssueId,
) -> Result<Option<(ProjectId, Budget, Budget)>, StoreError> {
    let of_issue = issues::table
        .find(IdColumn(issue))
        .select(issues::project_id)
        .single_value();
    let found: Option<(IdColumn<ProjectId>, i64, i64)> = projects::table
        .filter(projects::company_id.eq(IdColumn(company)))
        .filter(projects::id.nullable().eq(of_issue))
        .select((
            projects::id,
            projects::budget_monthly_cents,
            projects::budget_total_cents,
        ))
        .first(conn)
        .optional()
        .map_err(failed)?;
    let budget = |cents| Budget::from_cents(cents).unwrap_or_default();
    Ok(found.map(|(id, monthly, total)| (id.0, budget(monthly), budget(total))))
}

/// What the last runs of an agent cost.
fn earlier_costs(
    conn: &mut Connection,
    company: CompanyId,
    agent: AgentId,
    basis: BudgetBasis,
) -> Result<Vec<Cents>, StoreError> {
    let earlier = run_spends::table
        .filter(run_spends::company_id.eq(IdColumn(company)))
        .filter(run_spends::agent_id.eq(IdColumn(agent)))
        .filter(run_spends::released_at.is_not_null())
        .order(run_spends::released_at.desc())
        .limit(i64::try_from(RUNS_LOOKED_AT).unwrap_or(i64::MAX));
    let costs: Vec<i64> = match basis {
        BudgetBasis::Actual => earlier.select(run_spends::spent_micros).load(conn),
        BudgetBasis::Estimated => earlier.select(run_spends::estimated_micros).load(conn),
    }
    .map_err(failed)?;
    Ok(costs.into_iter().map(Cents::from_micros).collect())
}
