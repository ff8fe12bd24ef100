//! The form that makes an issue.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::agents::AgentView;
use workforce_app::issues::{self, CreateIssue};
use workforce_app::{Context, projects};
use workforce_domain::agent::AgentStatus;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::project::Project;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Told as _, everyone, form_answered, of, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::people::Who;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/issues/new";

/// So many projects are offered.
const OFFERED: usize = 200;

const FIELDS: &[(&str, Kind)] = &[
    ("title", Kind::Text),
    ("description", Kind::Text),
    ("status", Kind::Text),
    ("priority", Kind::Text),
    ("assigneeAgentId", Kind::Text),
    ("parentId", Kind::Text),
    ("projectId", Kind::Text),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, blank)
        .post(PATH, Access::Board, make)
}

/// An agent that may be chosen.
pub(super) struct Colleague {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) role: String,
}

/// What the address says of the issue.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wanted {
    parent: String,
}

#[derive(Template)]
#[template(path = "pages/new_issue.html")]
struct NewIssuePage {
    shell: Shell,
    form: Filled,
    colleagues: Vec<Colleague>,
    projects: Vec<(String, String)>,
}

async fn blank(visit: Visit) -> HttpResponse {
    let wanted: Wanted = serde_html_form::from_str(visit.query()).unwrap_or_default();
    let form = Filled::of(Form::default().with("parentId", &wanted.parent), &visit);
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
) -> Gathered<NewIssuePage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let projects = projects::list_bare(reads, ctx, id, &of(OFFERED))
        .told()?
        .items;
    let project = |it: Project| (it.id.to_string(), it.name.to_string());
    Ok(NewIssuePage {
        shell: Shell::gather(reads, ctx, asked, &company, "issues")?,
        form: form.clone(),
        colleagues: colleagues(&everyone(reads, ctx, id, false)?),
        projects: projects.into_iter().map(project).collect(),
    })
}

/// Those of the agents that can be given something to do.
pub(super) fn colleagues(agents: &[AgentView]) -> Vec<Colleague> {
    let may = agents
        .iter()
        .filter(|view| view.status != AgentStatus::Terminated);
    may.map(Colleague::of).collect()
}

/// The same with those that are gone.
pub(super) fn colleagues_with_former(agents: &[AgentView]) -> Vec<Colleague> {
    agents.iter().map(Colleague::of).collect()
}

impl Colleague {
    fn of(view: &AgentView) -> Self {
        let who = Who::agent(view);
        Self {
            id: view.agent.id.to_string(),
            name: who.name,
            role: who.role,
        }
    }
}

async fn make(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = made(&visit, &form).await;
    let asked = Asked::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, filled)
    })
    .await
}

async fn made(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: CreateIssue = form.command(FIELDS)?;
    let asked = Asked::of(visit);
    let links = asked.links();
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx, ctx, (asked, command)| create(tx, ctx, asked, command.clone()),
        move |identifier| links.issue(&identifier),
    );
    done.await
}

fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    asked: &Asked,
    command: CreateIssue,
) -> Gathered<String> {
    let company = asked.company(tx.reads(), ctx)?;
    let made = issues::create(tx, ctx, company.id, command).told()?;
    Ok(made.view.issue.identifier)
}
