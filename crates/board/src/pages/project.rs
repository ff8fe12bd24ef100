//! One project: what it delivers, for which goals, who leads it, and what it costs.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::projects::{self, ProjectRef, ProjectView, UpdateProject};
use workforce_app::{Context, costs, issues};
use workforce_domain::budget::LimitPeriod;
use workforce_domain::company::Company;
use workforce_domain::id::ProjectId;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::{Reads, Spender, Tx};
use workforce_domain::project::Project;
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::new_project::Choices;
use super::{Gathered, Refused, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::meter::Meter;
use crate::html::money;
use crate::html::people::{Staff, Who};
use crate::html::progress::Progress;
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::links::Links;
use crate::shell::{Asked, Shell};

pub(super) const PATH: &str = "/c/{prefix}/projects/{project}";

/// The fields of the form that changes a project.
const CHANGED: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("description", Kind::OrNull),
    ("status", Kind::Text),
    ("leadAgentId", Kind::OrNull),
    ("targetDate", Kind::OrNull),
    ("goalIds", Kind::Several),
    ("budgetMonthlyCents", Kind::Limit),
    ("budgetTotalCents", Kind::Limit),
    ("governance", Kind::Text),
    ("reviewRequired", Kind::Switch),
    ("remoteRequired", Kind::Switch),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, page)
        .post(PATH, Access::Board, change)
        .post(&format!("{PATH}/delete"), Access::Board, delete)
}

/// What stands above every page of a project.
pub(super) struct Head {
    pub(super) name: String,
    pub(super) pill: Pill,
    /// The tabs: word, address, and whether it is the present one.
    pub(super) tabs: [(&'static str, String, bool); 4],
}

impl Head {
    pub(super) fn new(links: &Links, project: &Project, present: &str) -> Self {
        let id = project.id;
        let tabs = [
            ("Overview", links.project(id)),
            ("Issues", links.issues_of_project(id)),
            ("Workspaces", links.workspaces(id)),
            ("Conventions", links.conventions(id)),
        ];
        Self {
            name: project.name.to_string(),
            pill: Pill::of_project(project.status),
            tabs: tabs.map(|(word, link)| (word, link, word == present)),
        }
    }
}

#[derive(Template)]
#[template(path = "pages/project.html")]
struct ProjectPage {
    shell: Shell,
    head: Head,
    link: String,
    issues: String,
    description: Option<Prose>,
    goals: Vec<(String, String)>,
    lead: Option<Who>,
    target: Option<String>,
    workspace: Option<String>,
    month: Meter,
    /// What is spent in all of the limit on that.
    total: Option<Meter>,
    progress: Progress,
    made: Ago,
    changed: Ago,
    form: Filled,
    choices: Choices,
}

/// The project that a page is about.
#[derive(Clone)]
pub(super) struct About {
    pub(super) asked: Asked,
    project: Option<ProjectId>,
}

impl About {
    pub(super) fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            project: visit.parameter("project").parse().ok(),
        }
    }

    /// The company in the address, and the project if it is one of that.
    pub(super) fn find(
        &self,
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
    ) -> Gathered<(Company, ProjectView)> {
        let company = self.asked.company(reads, ctx)?;
        let id = self.project.ok_or_else(|| Refused::missing("project"))?;
        let view = projects::get(reads, ctx, &ProjectRef::Id(id)).told()?;
        if view.project.company == company.id {
            Ok((company, view))
        } else {
            Err(Refused::missing("project"))
        }
    }

    /// The address of its page.
    pub(super) fn link(&self) -> String {
        let id = self.project.map(|id| self.asked.links().project(id));
        id.unwrap_or_default()
    }
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
) -> Gathered<ProjectPage> {
    let asked = &about.asked;
    let (company, view) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let (id, project) = (company.id, &view.project);
    let links = asked.links();
    let spender = Spender::Project(project.id);
    let forecast = costs::forecast(reads, ctx, id, spender, None).told()?;
    let of_total = forecast.limit_period == Some(LimitPeriod::Total);
    let tallies = issues::count_by_project(reads, ctx, id).told()?;
    let tally = tallies.into_iter().find(|(of, _)| *of == project.id);
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let primary = view.workspaces.first();
    Ok(ProjectPage {
        head: Head::new(&links, project, "Overview"),
        link: about.link(),
        issues: links.issues_of_project(project.id),
        description: project.description.as_ref().map(|text| Prose::new(text)),
        goals: view
            .goals
            .iter()
            .map(|goal| (goal.title.to_string(), links.goal(goal.id)))
            .collect(),
        lead: project.lead_agent.map(|lead| staff.agent(lead)),
        target: project.target_date.map(|date| date.to_string()),
        workspace: primary.map(|workspace| workspace.name.to_string()),
        month: Meter::of(forecast.month_spend, Cents::ZERO, project.budget),
        total: of_total.then(|| Meter::of(forecast.spent, Cents::ZERO, project.total_budget)),
        progress: Progress::of(tally.map(|(_, tally)| tally).unwrap_or_default()),
        made: Ago::new(project.created_at, ctx.now),
        changed: Ago::new(project.updated_at, ctx.now),
        form: form.clone().showing(&present(&view)),
        choices: Choices::gather(reads, ctx, id, &agents)?,
        shell: Shell::gather(reads, ctx, asked, &company, "projects")?,
    })
}

/// What the fields of the form are now.
fn present(view: &ProjectView) -> Vec<(&'static str, String)> {
    let project = &view.project;
    let tick = |is_on| {
        if is_on {
            "on".to_owned()
        } else {
            String::new()
        }
    };
    let text = |text: Option<String>| text.unwrap_or_default();
    let limit = |budget: Budget| money::typed(budget.cents());
    let mut fields = vec![
        ("name", project.name.to_string()),
        (
            "description",
            text(project.description.as_ref().map(ToString::to_string)),
        ),
        ("status", project.status.as_str().to_owned()),
        (
            "leadAgentId",
            text(project.lead_agent.map(|id| id.to_string())),
        ),
        (
            "targetDate",
            text(project.target_date.map(|date| date.to_string())),
        ),
        ("budgetMonthlyCents", limit(project.budget)),
        ("budgetTotalCents", limit(project.total_budget)),
        ("governance", project.governance.as_str().to_owned()),
        ("reviewRequired", tick(project.review_required)),
        ("remoteRequired", tick(project.remote_required)),
    ];
    let goals = view.goals.iter();
    fields.extend(goals.map(|goal| ("goalIds", goal.id.to_string())));
    fields
}

async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = changed(&visit, &form).await;
    answered(&visit, form, done).await
}

async fn changed(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: UpdateProject = form.command(CHANGED)?;
    let about = About::of(visit);
    let place = about.link();
    let done = visit.act(
        form.key(),
        (about, command),
        |tx: &mut dyn Tx, ctx, (about, command): &(About, UpdateProject)| {
            let (_, view) = about.find(tx.reads(), ctx)?;
            projects::update(tx, ctx, view.project.id, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}

async fn delete(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let about = About::of(&visit);
    let place = about.asked.links().projects();
    let done = visit.act(
        form.key(),
        about,
        |tx: &mut dyn Tx, ctx, about: &About| {
            let (_, view) = about.find(tx.reads(), ctx)?;
            projects::delete(tx, ctx, view.project.id).told()
        },
        move |()| place.clone(),
    );
    let done = done.await;
    answered(&visit, form, done).await
}

async fn answered(visit: &Visit, form: Form, done: Result<String, Problem>) -> HttpResponse {
    let about = About::of(visit);
    form_answered(visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}
