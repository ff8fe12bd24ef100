//! The rows of the tables, and what is to be expected in words.

use workforce_app::Context;
use workforce_app::costs::{self, AgentCost, CostForecast};
use workforce_domain::agent::AgentState;
use workforce_domain::budget::{BudgetBasis, ForecastStatus};
use workforce_domain::company::Company;
use workforce_domain::cost::TokenUse;
use workforce_domain::money::Cents;
use workforce_domain::port::{ModelCost, ProjectCost, Reads};
use workforce_domain::time::{Day, Month};

use super::{About, window};
use crate::html::meter::Meter;
use crate::html::money::{Cost, Dollars};
use crate::html::people::Who;
use crate::html::when;
use crate::links::Links;
use crate::pages::{Gathered, Told as _};

/// So many agents or projects are shown.
const ROWS: usize = 50;

/// A day of the table below the chart.
pub(super) struct DayRow {
    pub(super) word: String,
    pub(super) date: Day,
    pub(super) cost: Cost,
    pub(super) so_far: Dollars,
}

impl DayRow {
    pub(super) fn new(date: Day, cost: Cost, so_far: Cents) -> Self {
        Self {
            word: when::week_day(date.start()),
            date,
            cost,
            so_far: Dollars(so_far),
        }
    }
}

/// An agent or a project.
pub(super) struct SpenderRow {
    pub(super) who: Option<Who>,
    pub(super) name: String,
    /// Empty where there is no page of it.
    pub(super) link: String,
    /// The part of its limit that is used; `None` for a project.
    pub(super) meter: Option<Meter>,
    pub(super) cost: Cost,
    pub(super) tokens: String,
}

/// Agents by id and name.
pub(super) type Employed = Vec<(String, String)>;

/// The rows that the address asks for, and whose limit can be set.
pub(super) fn spenders(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    company: &Company,
    month: Month,
) -> Gathered<(Vec<SpenderRow>, Employed)> {
    let links = about.asked.links();
    let basis = company.budget_basis;
    let agents = costs::by_agent(reads, ctx, company.id, window(month)).told()?;
    let employed = agents.iter().filter(|row| is_employed(row));
    let choices = employed
        .map(|row| (row.agent.id.to_string(), row.agent.name.to_string()))
        .collect();
    let rows = if about.is_by_project() {
        let projects = costs::by_project(reads, ctx, company.id, window(month)).told()?;
        let rows = projects.into_iter().take(ROWS);
        rows.map(|row| of_project(&links, row, basis)).collect()
    } else {
        let shown = agents
            .into_iter()
            .filter(|row| is_employed(row) || has_cost(row));
        let rows = shown.take(ROWS);
        rows.map(|row| of_agent(&links, &row, basis)).collect()
    };
    Ok((rows, choices))
}

fn is_employed(row: &AgentCost) -> bool {
    row.agent.lifecycle.state() != AgentState::Terminated
}

fn has_cost(row: &AgentCost) -> bool {
    row.total.cost > Cents::ZERO || row.total.unknown > 0
}

fn of_agent(links: &Links, row: &AgentCost, basis: BudgetBasis) -> SpenderRow {
    let spent = row.total.counted(basis);
    SpenderRow {
        link: links.agent(&row.agent.url_key),
        name: row.agent.name.to_string(),
        meter: Some(Meter::of(spent, Cents::ZERO, row.agent.budget)),
        cost: Cost::of(&row.total, basis),
        tokens: tokens(&row.total.tokens),
        who: Some(Who::of(&row.agent, row.status)),
    }
}

fn of_project(links: &Links, row: ProjectCost, basis: BudgetBasis) -> SpenderRow {
    let (link, name) = match row.project {
        Some((id, name)) => (links.project(id), name.to_string()),
        None => (String::new(), "No project".to_owned()),
    };
    SpenderRow {
        who: None,
        name,
        link,
        meter: None,
        cost: Cost::of(&row.total, basis),
        tokens: tokens(&row.total.tokens),
    }
}

/// A model.
pub(super) struct ModelRow {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) tokens: String,
    pub(super) cost: Cost,
    pub(super) is_flat: bool,
}

impl ModelRow {
    pub(super) fn of(row: &ModelCost, basis: BudgetBasis) -> Self {
        let total = &row.total;
        let cost = Cost::of(total, basis);
        Self {
            provider: row.provider.to_string(),
            model: row.model.to_string(),
            tokens: tokens(&total.tokens),
            is_flat: total.subscription_runs > 0 && cost.amount == Cents::ZERO && cost.unknown == 0,
            cost,
        }
    }
}

/// How many tokens there are of all kinds: `41.2 M`.
fn tokens(tokens: &TokenUse) -> String {
    let kinds = [
        tokens.input,
        tokens.output,
        tokens.cached_input,
        tokens.cache_write,
    ];
    let count = kinds.into_iter().fold(0_i64, i64::saturating_add);
    let (unit, word) = match count {
        0 => return "none told".to_owned(),
        1_000_000_000.. => (1_000_000_000, " G"),
        1_000_000.. => (1_000_000, " M"),
        1_000.. => (1_000, " k"),
        _ => return count.to_string(),
    };
    format!("{}.{}{word}", count / unit, count % unit * 10 / unit)
}

/// What is left of a limit, or how far it is exceeded.
pub(super) fn left(limit: Cents, spent: Cents) -> String {
    if spent > limit {
        format!("{} over", Dollars(spent.saturating_sub(limit)))
    } else {
        format!("{} left", Dollars(limit.saturating_sub(spent)))
    }
}

/// What is to be expected of the present month.
pub(super) struct Outlook {
    pub(super) rate: Option<Dollars>,
    pub(super) rate_note: String,
    pub(super) used_up: String,
    pub(super) used_up_note: String,
    /// Its colour.
    pub(super) class: &'static str,
    pub(super) month_end: Option<Dollars>,
    pub(super) limit: Option<Dollars>,
    pub(super) end_note: String,
}

impl Outlook {
    pub(super) fn of(told: &CostForecast) -> Self {
        let forecast = &told.forecast;
        let limit = told.limit.limit();
        let rate_note = match (forecast.rate, forecast.spread) {
            (Some(_), Some(spread)) => {
                let days = told.days.len();
                format!(
                    "from the last {days} full days, give or take {}",
                    Dollars(spread)
                )
            }
            _ => "told from the third full day with costs on".to_owned(),
        };
        let day = |at| when::week_day(at);
        let note = match (forecast.runs_out_early, forecast.runs_out_late) {
            (Some(early), Some(late)) => format!("between {} and {}", day(early), day(late)),
            (Some(early), None) => format!("{} at the earliest", day(early)),
            _ => String::new(),
        };
        let (used_up, used_up_note, class) = match forecast.status {
            ForecastStatus::TooEarly => ("Too early to tell".to_owned(), String::new(), ""),
            ForecastStatus::NoLimit => ("No limit".to_owned(), String::new(), ""),
            ForecastStatus::NotThisMonth => ("Not this month".to_owned(), note, ""),
            ForecastStatus::RunsOut => {
                let at = forecast.runs_out_at.map_or_else(String::new, day);
                (at, note, "")
            }
            ForecastStatus::UsedUp => {
                let note = "Runs stop until the limit is raised or the month ends".to_owned();
                ("Now".to_owned(), note, "c-bad")
            }
        };
        let end_note = match (forecast.month_end, limit) {
            (Some(end), Some(limit)) => left(limit, end),
            _ => String::new(),
        };
        Self {
            rate: forecast.rate.map(Dollars),
            rate_note,
            used_up,
            used_up_note,
            class,
            month_end: forecast.month_end.map(Dollars),
            limit: limit.map(Dollars),
            end_note,
        }
    }
}
