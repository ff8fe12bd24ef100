//! The agents of a company, as a table or by who reports to whom.

use std::collections::HashMap;

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::agents::AgentView;
use workforce_app::{Context, issues, runs};
use workforce_domain::agent::AgentStatus;
use workforce_domain::budget::BudgetBasis;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{Reads, RunFilter};
use workforce_domain::run::RunStatus;
use workforce_http::door::{Access, Pages, Visit};

use super::org::{Node, tree};
use super::{Gathered, Told as _, everyone, of, program_word, show};
use crate::cursor::parameter;
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many live runs are looked at; a company has fewer.
const LIVE: usize = 200;

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
    /// Those without a manager, with whoever is below them; `None` for the table.
    chart: Option<Vec<Node>>,
    summary: String,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let is_chart = parameter(&visit, "view").as_deref() == Some("org");
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, is_chart)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    is_chart: bool,
) -> Gathered<AgentsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let basis = company.budget_basis;
    let agents = everyone(reads, ctx, company.id, false)?;
    let chart = match is_chart {
        true => {
            let at_work = at_work(reads, ctx, company.id)?;
            Some(tree(&agents, &at_work, basis, &asked.links()))
        }
        false => None,
    };
    Ok(AgentsPage {
        rows: match is_chart {
            true => Vec::new(),
            false => rows(&agents, ctx, asked, basis),
        },
        chart,
        summary: summary(&agents),
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
    })
}

fn rows(agents: &[AgentView], ctx: &Context<'_>, asked: &Asked, basis: BudgetBasis) -> Vec<Row> {
    let staff = Staff::of(agents);
    let row = |view: &AgentView| Row {
        who: Who::agent(view),
        link: asked.links().agent(&view.agent.url_key),
        pill: Pill::of_employee(view),
        adapter: program_word(view.agent.adapter_type),
        manager: view.agent.reports_to.map(|manager| staff.agent(manager)),
        last_run: view.agent.last_heartbeat_at.map(|at| Ago::new(at, ctx.now)),
        meter: Meter::new(view.spend, view.agent.budget, basis),
    };
    agents.iter().map(row).collect()
}

/// The issue that each agent works on now, by its key.
fn at_work(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Gathered<HashMap<AgentId, String>> {
    let live = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let runs = runs::list(reads, ctx, company, &live, &of(LIVE))
        .told()?
        .items;
    let about: Vec<_> = runs.iter().filter_map(|run| run.issue).collect();
    let titles = issues::titles(reads, ctx, company, &about).told()?;
    let keys = runs.iter().filter_map(|run| {
        let (key, _title) = titles.get(&run.issue?)?;
        Some((run.agent, key.clone()))
    });
    Ok(keys.collect())
}

/// How many agents stand where.
fn summary(agents: &[AgentView]) -> String {
    let words = [
        (AgentStatus::Running, "running"),
        (AgentStatus::Error, "failing"),
        (AgentStatus::Paused, "paused"),
        (AgentStatus::PendingApproval, "waiting for you"),
    ];
    let count = |status| agents.iter().filter(|view| view.status == status).count();
    let mut parts: Vec<String> = words
        .iter()
        .map(|(status, word)| (count(*status), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let idle = count(AgentStatus::Idle) + count(AgentStatus::Active);
    if idle > 0 {
        parts.push(format!("{idle} idle"));
    }
    parts.join(", ")
}
