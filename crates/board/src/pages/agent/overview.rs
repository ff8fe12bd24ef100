//! Where an agent stands, what ends its standstill, and what it did last.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::{Context, agents, runs};
use workforce_domain::port::{Reads, RunFilter};
use workforce_http::door::{Access, Pages, Visit};

use super::super::runs::{Row, rows};
use super::super::{Gathered, Told as _, form_answered, of, show};
use super::why::{End, Why};
use super::{About, Head, deeds};
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::meter::Meter;
use crate::html::people::Staff;
use crate::html::status::why_woken;
use crate::html::when::{Ago, span};
use crate::shell::{Asked, Shell};

/// So many of its runs.
const SHOWN: usize = 10;
/// So many of the wakes that wait.
const WAKES: usize = 5;

const PATH: &str = "/c/{prefix}/agents/{agent}";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, overview)
        .post(PATH, Access::Board, act)
}

#[derive(Template)]
#[template(path = "pages/agent/overview.html")]
struct OverviewPage {
    shell: Shell,
    head: Head,
    why: Why,
    /// Why it is to be woken, and since when.
    waiting: Vec<(&'static str, Ago)>,
    more_waiting: usize,
    program: &'static str,
    model: Option<String>,
    beat: String,
    at_once: i32,
    failures: i32,
    last_seen: Option<Ago>,
    capabilities: Option<Prose>,
    hired: Ago,
    meter: Meter,
    rows: Vec<Row>,
    form: Filled,
}

async fn overview(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<OverviewPage> {
    let asked: &Asked = &about.asked;
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let links = asked.links();
    let view = &detail.view;
    let agent = &view.agent;
    let state = agents::runtime_state(reads, ctx, agent.id).told()?;
    let own = RunFilter {
        agent: Some(agent.id),
        ..RunFilter::default()
    };
    let last = runs::list(reads, ctx, agent.company, &own, &of(SHOWN)).told()?;
    // None but the agent itself is named on its page.
    let staff = Staff::of(std::slice::from_ref(view));
    let wake = |wake: &workforce_domain::wake::Wake| {
        let reason = wake.reasons.first().copied();
        let why = reason.map_or("woken", why_woken);
        (why, Ago::new(wake.created_at, ctx.now))
    };
    let model = agent.adapter_config.get("model").and_then(|it| it.as_str());
    Ok(OverviewPage {
        head: Head::of(&detail, &links, ""),
        why: Why::of(&state, &company, &links, ctx.now),
        waiting: state.pending.iter().take(WAKES).map(wake).collect(),
        more_waiting: state.pending.len().saturating_sub(WAKES),
        program: crate::pages::program_word(agent.adapter_type),
        model: model.map(str::to_owned),
        beat: match agent.lifecycle.paused() {
            Some(_) => "off while it is paused".to_owned(),
            None => beat(state.timer.interval_sec),
        },
        at_once: agent.max_concurrent_runs(),
        failures: agent.consecutive_failures,
        last_seen: agent.last_heartbeat_at.map(|at| Ago::new(at, ctx.now)),
        capabilities: agent.capabilities.as_ref().map(|text| Prose::new(text)),
        hired: Ago::new(agent.created_at, ctx.now),
        meter: Meter::new(view.spend, agent.budget, company.budget_basis),
        rows: rows(reads, ctx, &links, &staff, &last.items)?,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
    })
}

fn beat(seconds: Option<i32>) -> String {
    match seconds.map(i64::from) {
        None => "none: it runs when something happens".to_owned(),
        Some(seconds @ ..60) => format!("every {seconds} s"),
        Some(seconds) => format!("every {}", span(seconds * 1_000_000)),
    }
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = deeds::done(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}
