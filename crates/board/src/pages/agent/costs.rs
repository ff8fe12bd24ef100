//! What an agent spends, and how long its limit lasts.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::costs::{self, CostForecast};
use workforce_domain::budget::{BudgetBasis, ForecastStatus};
use workforce_domain::money::Cents;
use workforce_domain::port::{Reads, Spender};
use workforce_http::door::{Access, Pages, Visit};

use super::super::{Gathered, Told as _, show};
use super::{About, Head};
use crate::form::Filled;
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::money::Dollars;
use crate::html::when::Exactly;
use crate::shell::Shell;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/agents/{agent}/costs", Access::Board, look)
}

/// What was spent on a day.
struct Spent {
    day: String,
    amount: Dollars,
    /// Of the dearest day.
    percent: i64,
}

#[derive(Template)]
#[template(path = "pages/agent/costs.html")]
struct AgentCostsPage {
    shell: Shell,
    head: Head,
    meter: Meter,
    held: Option<Dollars>,
    basis: &'static str,
    verdict: String,
    rate: Option<Dollars>,
    month_end: Option<Dollars>,
    /// Between which instants the limit is used up.
    band: Option<(String, String)>,
    days: Vec<Spent>,
    form: Filled,
}

async fn look(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<AgentCostsPage> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let (view, basis) = (&detail.view, company.budget_basis);
    let agent = &view.agent;
    let spender = Spender::Agent(agent.id);
    let told = costs::forecast(reads, ctx, agent.company, spender, None).told()?;
    let forecast = &told.forecast;
    let early_and_late = forecast.runs_out_early.zip(forecast.runs_out_late);
    Ok(AgentCostsPage {
        head: Head::of(&detail, &about.asked.links(), "costs"),
        meter: Meter::new(view.spend, agent.budget, basis),
        held: Some(view.spend.held)
            .filter(|held| *held > Cents::ZERO)
            .map(Dollars),
        basis: match basis {
            BudgetBasis::Actual => "What counts is what providers bill.",
            BudgetBasis::Estimated => "What counts is what its tokens cost by list.",
        },
        verdict: verdict(&told),
        rate: forecast.rate.map(Dollars),
        month_end: forecast.month_end.map(Dollars),
        band: early_and_late
            .map(|(early, late)| (Exactly(early).to_string(), Exactly(late).to_string())),
        days: days(&told),
        form: form.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}

/// How long the limit lasts, as a headline.
fn verdict(told: &CostForecast) -> String {
    match (told.forecast.status, told.forecast.runs_out_at) {
        (ForecastStatus::TooEarly, _) => "It is too early for a forecast".to_owned(),
        (ForecastStatus::NoLimit, _) => "It has no limit".to_owned(),
        (ForecastStatus::NotThisMonth, _) => "Its limit lasts until the month ends".to_owned(),
        (ForecastStatus::UsedUp, _) => "Its limit is used up".to_owned(),
        (ForecastStatus::RunsOut, Some(at)) => format!("Its limit is used up {}", Exactly(at)),
        (ForecastStatus::RunsOut, None) => "Its limit is used up this month".to_owned(),
    }
}

fn days(told: &CostForecast) -> Vec<Spent> {
    let dearest = told.days.iter().map(|day| day.spend.micros()).max();
    let dearest = i128::from(dearest.unwrap_or(0).max(1));
    let spent = told.days.iter().rev().map(|day| {
        let percent = i128::from(day.spend.micros()) * 100 / dearest;
        Spent {
            day: day.date.to_string(),
            amount: Dollars(day.spend),
            percent: i64::try_from(percent).unwrap_or(100),
        }
    });
    spent.collect()
}
