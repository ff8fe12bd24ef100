//! The form that makes a project with its first workspace.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::agents::AgentView;
use workforce_app::projects::{self, CreateProject};
use workforce_app::{Context, goals};
use workforce_domain::id::{CompanyId, ProjectId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::project::ProjectStatus;
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::new_issue::colleagues;
use super::{Gathered, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::status::Pill;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/projects/new";

const FIELDS: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("description", Kind::Text),
    ("status", Kind::Text),
    ("leadAgentId", Kind::Text),
    ("targetDate", Kind::Text),
    ("goalIds", Kind::Several),
    ("budgetMonthlyCents", Kind::Dollars),
    ("workspace/repoUrl", Kind::Text),
    ("workspace/cwd", Kind::Text),
    ("workspace/repoRef", Kind::Text),
    ("workspace/defaultBaseBranch", Kind::Text),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, blank)
        .post(PATH, Access::Board, make)
}

/// A value of a choice, and its word.
pub(super) type Choice = (String, String);

/// What the fields of a project can be.
pub(super) struct Choices {
    pub(super) statuses: Vec<Choice>,
    pub(super) leads: Vec<Choice>,
    pub(super) goals: Vec<Choice>,
}

impl Choices {
    pub(super) fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        company: CompanyId,
        agents: &[AgentView],
    ) -> Gathered<Self> {
        let goals = goals::list(reads, ctx, company, &PageRequest::first()).told()?;
        let word = |status: &ProjectStatus| {
            let word = Pill::of_project(*status).word();
            (status.as_str().to_owned(), word.to_owned())
        };
        let leads = colleagues(agents).into_iter();
        Ok(Self {
            statuses: ProjectStatus::ALL.iter().map(word).collect(),
            leads: leads
                .map(|agent| (agent.id, format!("{}, {}", agent.name, agent.role)))
                .collect(),
            goals: goals
                .items
                .iter()
                .map(|goal| (goal.id.to_string(), goal.title.to_string()))
                .collect(),
        })
    }
}

#[derive(Template)]
#[template(path = "pages/new_project.html")]
struct NewProjectPage {
    shell: Shell,
    form: Filled,
    choices: Choices,
}

async fn blank(visit: Visit) -> HttpResponse {
    let form = Filled::blank(&visit);
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
) -> Gathered<NewProjectPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let agents = everyone(reads, ctx, id, false)?;
    Ok(NewProjectPage {
        form: form.clone(),
        choices: Choices::gather(reads, ctx, id, &agents)?,
        shell: Shell::gather(reads, ctx, asked, &company, "projects")?,
    })
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
    let command: CreateProject = form.command(FIELDS)?;
    let asked = Asked::of(visit);
    let links = asked.links();
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx, ctx, (asked, command)| create(tx, ctx, asked, command.clone()),
        move |id| links.project(id),
    );
    done.await
}

fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    asked: &Asked,
    command: CreateProject,
) -> Gathered<ProjectId> {
    let company = asked.company(tx.reads(), ctx)?.id;
    let made = projects::create(tx, ctx, company, command).told()?;
    Ok(made.project.id)
}
