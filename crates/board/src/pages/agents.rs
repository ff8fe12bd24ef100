//! The agents of a company as a table.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_domain::port::Reads;
use workforce_domain::string_enum::StringEnum;
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, everyone, show};
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::people::Who;
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/agents", Access::Board, list)
}

struct Row {
    who: Who,
    link: String,
    pill: Pill,
    adapter: &'static str,
    manager: Option<Who>,
    last_run: Option<Ago>,
    meter: Meter,
}

#[derive(Template)]
#[template(path = "pages/agents.html")]
struct AgentsPage {
    shell: Shell,
    rows: Vec<Row>,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked)).await
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>, asked: &Asked) -> Gathered<AgentsPage> {
    let company = asked.company(reads, ctx)?;
    let basis = company.company.budget_basis;
    let id = company.company.id;
    let agents = everyone(reads, ctx, id, false)?;
    let staff = crate::html::people::Staff::of(&agents);
    let rows = agents.iter().map(|view| Row {
        who: Who::agent(view),
        link: asked.links().agent(&view.agent.url_key),
        pill: Pill::of_agent(view.status),
        adapter: view.agent.adapter_type.as_str(),
        manager: view.agent.reports_to.map(|manager| staff.agent(manager)),
        last_run: view.agent.last_heartbeat_at.map(|at| Ago::new(at, ctx.now)),
        meter: Meter::new(view.spend, view.agent.budget, basis),
    });
    Ok(AgentsPage {
        rows: rows.collect(),
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
    })
}
