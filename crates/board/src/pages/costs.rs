//! What was spent in a month: by day, by whom, for what and on which models.

mod csv;
mod limits;
mod rows;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::costs::{self, CostForecast, WindowQuery};
use workforce_app::{Context, companies};
use workforce_domain::budget::{BudgetBasis, Spend};
use workforce_domain::company::Company;
use workforce_domain::money::Cents;
use workforce_domain::port::{Reads, Spender};
use workforce_domain::time::{Day, Month, Timestamp};
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Told as _, show};
use crate::form::Filled;
use crate::html::chart::{Burn, Chart, sum};
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::money::{Cost, Dollars};
use crate::html::when;
use crate::shell::{Asked, Shell};
use rows::{DayRow, ModelRow, Outlook, SpenderRow};

const PATH: &str = "/c/{prefix}/costs";

pub(super) fn register(pages: Pages) -> Pages {
    let pages = pages.get(PATH, Access::Board, page);
    csv::register(limits::register(pages))
}

/// What the address says of the page.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Query {
    /// A month as `2026-11`; the present one when it is none.
    month: String,
    /// `agent` or `project`.
    by: String,
}

/// What a page is asked for.
#[derive(Clone)]
struct About {
    asked: Asked,
    query: Query,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            query: serde_html_form::from_str(visit.query()).unwrap_or_default(),
        }
    }

    /// The month that is asked for; none that is still to come.
    fn month(&self, now: Timestamp) -> Month {
        let present = Month::of(now);
        let asked = parse(&self.query.month);
        asked.map_or(present, |month| {
            if month.number() > present.number() {
                present
            } else {
                month
            }
        })
    }

    fn is_by_project(&self) -> bool {
        self.query.by == "project"
    }
}

/// Reads a month as `2026-11`.
fn parse(text: &str) -> Option<Month> {
    let (year, month) = text.split_once('-')?;
    let is_number =
        |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(year, 4) || !is_number(month, 2) {
        return None;
    }
    Month::from_number(format!("{year}{month}").parse().ok()?)
}

/// The window that a month is.
fn window(month: Month) -> WindowQuery {
    WindowQuery {
        from: Some(month.start()),
        to: Some(month.end()),
    }
}

/// A month that a link leads to.
struct Neighbour {
    link: String,
    word: String,
}

#[derive(Template)]
#[template(path = "pages/costs.html")]
struct CostsPage {
    shell: Shell,
    month: String,
    /// The month as the address names it.
    number: String,
    before: Neighbour,
    after: Option<Neighbour>,
    meter: Meter,
    left: Option<String>,
    /// What live runs hold; `None` for nothing, and for a month that is over.
    held: Option<Dollars>,
    /// What is to be expected; `None` for a month that is over.
    outlook: Option<Outlook>,
    mean: Dollars,
    dearest: Option<(String, String)>,
    unknown: i64,
    is_by_list: bool,
    chart: Option<Chart>,
    days: Vec<DayRow>,
    is_by_project: bool,
    spenders: Vec<SpenderRow>,
    models: Vec<ModelRow>,
    choices: Vec<(String, String)>,
    form: Filled,
}

async fn page(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<CostsPage> {
    let asked = &about.asked;
    let company = &asked.company(reads, ctx)?;
    let ctx = &ctx.within(company);
    let spend = companies::get(reads, ctx, company.id).told()?.spend;
    let month = about.month(ctx.now);
    let is_present = month == Month::of(ctx.now);
    let days = days(reads, ctx, company, month)?;
    let forecast = if is_present {
        Some(costs::forecast(reads, ctx, company.id, Spender::Company, None).told()?)
    } else {
        None
    };
    let (spenders, choices) = rows::spenders(reads, ctx, about, company, month)?;
    let models = costs::by_model(reads, ctx, company.id, window(month)).told()?;
    let basis = company.budget_basis;
    let amounts: Vec<Cents> = days.iter().map(|day| day.cost.amount).collect();
    let total = Cost {
        amount: sum(&amounts),
        unknown: models.iter().map(|row| row.total.unknown).sum(),
    };
    let limit = company.budget.limit();
    Ok(CostsPage {
        month: when::month_of_year(month.start()),
        number: month.to_string(),
        before: neighbour(asked, about, Month::of(just_before(month.start()))),
        after: (!is_present).then(|| neighbour(asked, about, month.next())),
        meter: Meter::of(total.amount, held(&spend, is_present), company.budget),
        left: limit.map(|limit| rows::left(limit, total.amount)),
        held: Some(held(&spend, is_present))
            .filter(|held| *held > Cents::ZERO)
            .map(Dollars),
        outlook: forecast.as_ref().map(Outlook::of),
        mean: mean(&amounts),
        dearest: dearest(&days),
        unknown: total.unknown,
        is_by_list: basis == BudgetBasis::Estimated,
        chart: chart(month, &amounts, limit, forecast.as_ref(), ctx.now),
        days,
        is_by_project: about.is_by_project(),
        spenders,
        models: models.iter().map(|row| ModelRow::of(row, basis)).collect(),
        choices,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, company, "costs")?,
    })
}

/// The days of a month that have begun, each with its cost and the sum so far.
fn days(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: &Company,
    month: Month,
) -> Gathered<Vec<DayRow>> {
    let window = window(month);
    let rows = costs::by_day(reads, ctx, company.id, Spender::Company, window).told()?;
    let last = just_before(month.end()).min(ctx.now);
    let numbers = Day::of(month.start()).number()..=Day::of(last).number();
    let mut so_far = Cents::ZERO;
    let days = numbers.map(|number| {
        let day = Day::from_number(number);
        let found = rows.iter().find(|(date, _)| *date == day);
        let total = found.map(|(_, total)| *total).unwrap_or_default();
        let cost = Cost::of(&total, company.budget_basis);
        so_far = so_far.checked_add(cost.amount).unwrap_or(so_far);
        DayRow::new(day, cost, so_far)
    });
    Ok(days.collect())
}

fn just_before(at: Timestamp) -> Timestamp {
    at.minus(std::time::Duration::from_micros(1))
}

fn neighbour(asked: &Asked, about: &About, month: Month) -> Neighbour {
    let by = if about.is_by_project() {
        "&by=project"
    } else {
        ""
    };
    Neighbour {
        link: format!("{}?month={month}{by}", asked.links().costs()),
        word: when::month_of_year(month.start()),
    }
}

fn held(spend: &Spend, is_present: bool) -> Cents {
    if is_present { spend.held } else { Cents::ZERO }
}

fn chart(
    month: Month,
    days: &[Cents],
    limit: Option<Cents>,
    forecast: Option<&CostForecast>,
    now: Timestamp,
) -> Option<Chart> {
    Chart::new(&Burn {
        month,
        days,
        limit,
        forecast: forecast.map(|it| &it.forecast),
        now,
    })
}

/// What a day cost in the mean.
fn mean(days: &[Cents]) -> Dollars {
    let count = i64::try_from(days.len()).unwrap_or(i64::MAX);
    let mean = sum(days).micros().checked_div(count);
    Dollars(Cents::from_micros(mean.unwrap_or_default()))
}

/// The day that cost most, if any cost anything.
fn dearest(days: &[DayRow]) -> Option<(String, String)> {
    let day = days.iter().max_by_key(|day| day.cost.amount)?;
    (day.cost.amount > Cents::ZERO).then(|| (day.cost.to_string(), day.word.clone()))
}
