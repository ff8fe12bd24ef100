//! One agent: where it stands, what it did last, and what can be done about it.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::agents::{self, AgentDetail, AgentRef};
use workforce_app::{Context, runs};
use workforce_domain::Document;
use workforce_domain::agent::AgentState;
use workforce_domain::port::{Reads, RunFilter, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::runs::{Row, rows};
use super::{Gathered, Told as _, everyone, form_answered, of, show};
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::meter::Meter;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many of its runs.
const SHOWN: usize = 20;

const PATH: &str = "/c/{prefix}/agents/{agent}";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, agent)
        .post(PATH, Access::Board, act)
}

#[derive(Template)]
#[template(path = "pages/agent.html")]
struct AgentPage {
    shell: Shell,
    link: String,
    who: Who,
    pill: Pill,
    role: String,
    adapter: &'static str,
    capabilities: Option<Prose>,
    managers: Vec<String>,
    hired: Ago,
    meter: Meter,
    is_paused: bool,
    is_employed: bool,
    rows: Vec<Row>,
    form: Filled,
}

/// The agent that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    url_key: String,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            url_key: visit.parameter("agent").to_owned(),
        }
    }

    fn agent(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<AgentDetail> {
        let company = self.asked.company(reads, ctx)?;
        let named = AgentRef::UrlKey {
            key: self.url_key.clone(),
            company: Some(company.company.id),
        };
        agents::get(reads, ctx, &named).told()
    }
}

async fn agent(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<AgentPage> {
    let asked = &about.asked;
    let company = asked.company(reads, ctx)?;
    let id = company.company.id;
    let detail = about.agent(reads, ctx)?;
    let staff = Staff::of(&everyone(reads, ctx, id, true)?);
    let own = RunFilter {
        agent: Some(detail.view.agent.id),
        ..RunFilter::default()
    };
    let last = runs::list(reads, ctx, id, &own, &of(SHOWN)).told()?;
    let links = asked.links();
    let agent = &detail.view.agent;
    let state = agent.lifecycle.state();
    Ok(AgentPage {
        link: links.agent(&agent.url_key),
        who: Who::agent(&detail.view),
        pill: Pill::of_agent(detail.view.status),
        role: agent.role.to_string(),
        adapter: agent.adapter_type.as_str(),
        capabilities: agent.capabilities.as_ref().map(|text| Prose::new(text)),
        managers: detail
            .chain_of_command
            .iter()
            .map(|link| link.name.to_string())
            .collect(),
        hired: Ago::new(agent.created_at, ctx.now),
        meter: Meter::new(
            detail.view.spend,
            agent.budget,
            company.company.budget_basis,
        ),
        is_paused: state == AgentState::Paused,
        is_employed: matches!(state, AgentState::Enabled | AgentState::Paused),
        rows: rows(reads, ctx, &links, &staff, &last.items)?,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
    })
}

/// What a button of the page does.
#[derive(Clone, Copy)]
enum Deed {
    Pause,
    Resume,
    Wake,
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = done(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = match form.text("deed") {
        "pause" => Deed::Pause,
        "resume" => Deed::Resume,
        _ => Deed::Wake,
    };
    let place = visit.path().to_owned();
    let done = visit.act(
        form.key(),
        About::of(visit),
        move |tx, ctx, about: &About| carry_out(tx, ctx, about, deed),
        move |()| place.clone(),
    );
    done.await
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, about: &About, deed: Deed) -> Gathered<()> {
    let id = about.agent(tx.reads(), ctx)?.view.agent.id;
    match deed {
        Deed::Pause => agents::pause(tx, ctx, id).told().map(drop),
        Deed::Resume => agents::resume(tx, ctx, id, false).told().map(drop),
        Deed::Wake => runs::invoke(tx, ctx, id, Document::new()).told().map(drop),
    }
}
