//! Where the agents of a project work: folders and repositories.

mod adopt;

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::projects::{self, CreateWorkspace, UpdateWorkspace};
use workforce_domain::change::Replace;
use workforce_domain::id::WorkspaceId;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::project::Workspace;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::project::{self, About, Head};
use super::{Gathered, Refused, Told as _, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::shell::Shell;
use adopt::Adoption;

/// The fields of a new workspace.
const ADDED: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("repoUrl", Kind::Text),
    ("cwd", Kind::Text),
    ("repoRef", Kind::Text),
    ("defaultBaseBranch", Kind::Text),
    ("isPrimary", Kind::Ticked),
];

/// The fields of the form that changes one.
const CHANGED: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("repoUrl", Kind::OrNull),
    ("cwd", Kind::OrNull),
    ("repoRef", Kind::OrNull),
    ("defaultBaseBranch", Kind::OrNull),
];

pub(super) fn register(pages: Pages) -> Pages {
    let all = format!("{}/workspaces", project::PATH);
    let one = format!("{all}/{{workspace}}");
    let pages = pages
        .get(&all, Access::Board, page)
        .post(&all, Access::Board, add)
        .post(&one, Access::Board, change);
    adopt::register(pages, &one)
}

struct Row {
    id: String,
    name: String,
    link: String,
    is_primary: bool,
    repo_url: String,
    cwd: String,
    base: String,
    form: Filled,
    adoption: Option<Adoption>,
}

#[derive(Template)]
#[template(path = "pages/workspaces.html")]
struct WorkspacesPage {
    shell: Shell,
    head: Head,
    link: String,
    rows: Vec<Row>,
    form: Filled,
}

/// What the page shows beside what is stored.
#[derive(Clone, Default)]
struct Shown {
    /// The form that adds one.
    added: Filled,
    /// The form of the workspace that was to be changed.
    changed: Option<(WorkspaceId, Filled)>,
    /// What a workspace would take over.
    adoption: Option<(WorkspaceId, Vec<adopt::Change>)>,
    /// Under which any other form is taken once.
    key: String,
}

impl Shown {
    fn blank(visit: &Visit) -> Self {
        Self {
            added: Filled::blank(visit),
            key: visit.new_key(),
            ..Self::default()
        }
    }
}

/// The workspace that an address names.
fn named(visit: &Visit) -> Option<WorkspaceId> {
    visit.parameter("workspace").parse().ok()
}

fn place(visit: &Visit) -> String {
    format!("{}/workspaces", About::of(visit).link())
}

async fn page(visit: Visit) -> HttpResponse {
    let (about, shown) = (About::of(&visit), Shown::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &shown)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    shown: &Shown,
) -> Gathered<WorkspacesPage> {
    let (company, view) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let links = about.asked.links();
    let link = links.workspaces(view.project.id);
    let rows = view.workspaces.iter();
    Ok(WorkspacesPage {
        head: Head::new(&links, &view.project, "Workspaces"),
        rows: rows.map(|it| row(&link, shown, it)).collect(),
        link,
        form: shown.added.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "projects")?,
    })
}

fn row(link: &str, shown: &Shown, workspace: &Workspace) -> Row {
    let id = workspace.id;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let repo_url = text(workspace.source.repo_url().map(|it| it.as_str()));
    let cwd = text(workspace.source.cwd().map(|it| it.as_str()));
    let base = text(workspace.default_base_branch.as_ref().map(|it| it.as_str()));
    let changed = shown.changed.as_ref().filter(|(of, _)| *of == id);
    let form = changed.map_or_else(|| Filled::with_key(&shown.key), |(_, form)| form.clone());
    let adoption = shown.adoption.as_ref().filter(|(of, _)| *of == id);
    Row {
        form: form.showing(&[
            ("name", workspace.name.to_string()),
            ("repoUrl", repo_url.clone()),
            ("cwd", cwd.clone()),
            (
                "repoRef",
                text(workspace.repo_ref.as_ref().map(|it| it.as_str())),
            ),
            ("defaultBaseBranch", base.clone()),
        ]),
        id: id.to_string(),
        name: workspace.name.to_string(),
        link: format!("{link}/{id}"),
        is_primary: workspace.is_primary,
        adoption: adoption.map(|(_, changes)| Adoption::of(changes)),
        repo_url,
        cwd,
        base,
    }
}

async fn add(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = added(&visit, &form).await;
    let (about, blank) = (About::of(&visit), Shown::blank(&visit));
    form_answered(&visit, form, done, move |reads, ctx, added| {
        let shown = Shown {
            added: added.clone(),
            ..blank.clone()
        };
        gather(reads, ctx, &about, &shown)
    })
    .await
}

async fn added(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: CreateWorkspace = form.command(ADDED)?;
    let place = place(visit);
    let done = visit.act(
        form.key(),
        (About::of(visit), command),
        |tx: &mut dyn Tx, ctx, (about, command): &(About, CreateWorkspace)| {
            let (_, view) = about.find(tx.reads(), ctx)?;
            projects::create_workspace(tx, ctx, view.project.id, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}

/// What is done to a workspace.
#[derive(Clone)]
enum Deed {
    Change(Box<UpdateWorkspace>),
    Remove,
}

async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = changed(&visit, &form).await;
    answered(&visit, form, done).await
}

/// Leads to the page, or shows it with what is wrong with the form of a workspace.
async fn answered(visit: &Visit, form: Form, done: Result<String, Problem>) -> HttpResponse {
    let (about, blank, id) = (About::of(visit), Shown::blank(visit), named(visit));
    form_answered(visit, form, done, move |reads, ctx, changed| {
        let shown = Shown {
            changed: id.map(|id| (id, changed.clone())),
            ..blank.clone()
        };
        gather(reads, ctx, &about, &shown)
    })
    .await
}

async fn changed(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = match form.text("deed") {
        "remove" => Deed::Remove,
        "primary" => Deed::Change(Box::new(UpdateWorkspace {
            is_primary: Replace::Set(true),
            ..UpdateWorkspace::default()
        })),
        _ => Deed::Change(form.command(CHANGED)?),
    };
    let place = place(visit);
    let done = visit.act(
        form.key(),
        (About::of(visit), named(visit), deed),
        carry_out,
        move |()| place.clone(),
    );
    done.await
}

fn carry_out(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    (about, id, deed): &(About, Option<WorkspaceId>, Deed),
) -> Gathered<()> {
    let (_, view) = about.find(tx.reads(), ctx)?;
    let id = id.ok_or_else(|| Refused::missing("workspace"))?;
    match deed {
        Deed::Remove => projects::delete_workspace(tx, ctx, view.project.id, id).told(),
        Deed::Change(command) => {
            let command = UpdateWorkspace::clone(command);
            projects::update_workspace(tx, ctx, view.project.id, id, command)
                .told()
                .map(drop)
        }
    }
}
