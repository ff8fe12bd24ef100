//! The projects of a company.

use std::collections::HashMap;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::costs::WindowQuery;
use workforce_app::projects::{self, ProjectView};
use workforce_app::{Context, costs, issues};
use workforce_domain::budget::BudgetBasis;
use workforce_domain::cost::CostTotal;
use workforce_domain::dashboard::IssueTally;
use workforce_domain::id::ProjectId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Reads;
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Told as _, everyone, of, show};
use crate::cursor;
use crate::html::filters;
use crate::html::money::Cost;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::shell::{Asked, Shell};

/// So many rows.
const ROWS: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/projects", Access::Board, list)
}

/// What the address says of the list.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Query {
    /// The row after which it goes on.
    after: String,
}

struct Row {
    name: String,
    link: String,
    pill: Pill,
    lead: Option<Who>,
    issues: String,
    open: i64,
    cost: Cost,
    target: Option<String>,
}

#[derive(Template)]
#[template(path = "pages/projects.html")]
struct ProjectsPage {
    shell: Shell,
    rows: Vec<Row>,
    is_first: bool,
    next: Option<String>,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let query: Query = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &query)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    query: &Query,
) -> Gathered<ProjectsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let wanted = PageRequest {
        after: cursor::place(&query.after),
        ..of(ROWS)
    };
    let page = projects::list(reads, ctx, id, &wanted).told()?;
    let costs = costs::by_project(reads, ctx, id, WindowQuery::default()).told()?;
    let tallies = issues::count_by_project(reads, ctx, id).told()?;
    let staff = Staff::of(&everyone(reads, ctx, id, true)?);
    let costs = costs.into_iter().filter_map(|row| {
        let (project, _) = row.project?;
        Some((project, row.total))
    });
    let figures = Figures {
        basis: company.budget_basis,
        costs: costs.collect(),
        tallies: tallies.into_iter().collect(),
    };
    let rows = page.items.iter();
    Ok(ProjectsPage {
        rows: rows.map(|view| figures.row(asked, &staff, view)).collect(),
        is_first: query.after.is_empty(),
        next: page.next.map(|next| {
            let projects = asked.links().projects();
            format!("{projects}?after={}", cursor::mark(&next))
        }),
        shell: Shell::gather(reads, ctx, asked, &company, "projects")?,
    })
}

/// What is counted of all projects.
struct Figures {
    basis: BudgetBasis,
    costs: HashMap<ProjectId, CostTotal>,
    tallies: HashMap<ProjectId, IssueTally>,
}

impl Figures {
    fn row(&self, asked: &Asked, staff: &Staff, view: &ProjectView) -> Row {
        let project = &view.project;
        let cost = self.costs.get(&project.id).copied().unwrap_or_default();
        let tally = self.tallies.get(&project.id).copied().unwrap_or_default();
        let links = asked.links();
        Row {
            name: project.name.to_string(),
            link: links.project(project.id),
            pill: Pill::of_project(project.status),
            lead: project.lead_agent.map(|lead| staff.agent(lead)),
            issues: links.issues_of_project(project.id),
            open: tally.open,
            cost: Cost::of(&cost, self.basis),
            target: project.target_date.map(|date| date.to_string()),
        }
    }
}
