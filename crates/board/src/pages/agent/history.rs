//! What was changed of an agent, and the way back.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::agents::{self, RevisionView};
use workforce_domain::id::RevisionId;
use workforce_domain::instructions::BundlePointer;
use workforce_domain::port::{Reads, RevisionCursor};
use workforce_domain::revision::{AgentConfig, RevisionSource};
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::super::{Gathered, Refused, Told as _, everyone, form_answered, of, show};
use super::revision::{Difference, differences};
use super::{About, Head};
use crate::cursor;
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::when::Ago;
use crate::shell::Shell;

/// So many revisions.
const SHOWN: usize = 20;
/// So many lines of each.
const LINES: usize = 30;

const PATH: &str = "/c/{prefix}/agents/{agent}/history";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, list)
        .post(PATH, Access::Board, roll_back)
}

/// A revision in the list.
struct Row {
    id: String,
    number: i32,
    what: &'static str,
    who: Option<Who>,
    at: Ago,
    changes: Vec<Difference>,
    more: usize,
    /// What a rollback to it would change; `None` for what is in force.
    back: Option<Vec<Difference>>,
}

#[derive(Template)]
#[template(path = "pages/agent/history.html")]
struct HistoryPage {
    shell: Shell,
    head: Head,
    /// The number of what is in force.
    revision: i32,
    rows: Vec<Row>,
    older: Option<String>,
    form: Filled,
}

async fn list(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    let after = cursor::after::<RevisionCursor>(&visit);
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &about, after, &form)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    after: Option<RevisionCursor>,
    form: &Filled,
) -> Gathered<HistoryPage> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let agent = &detail.view.agent;
    let staff = Staff::of(&everyone(reads, ctx, agent.company, true)?);
    let mut page = of(SHOWN);
    page.after = after;
    let found = agents::revisions(reads, ctx, agent.id, &page).told()?;
    // Where its instructions are is told by the newest revision; without it nothing of them
    // is compared.
    let newest = found
        .items
        .iter()
        .find(|it| it.revision.n == detail.revision);
    let pointer = newest.map(|it| it.after.instructions.clone());
    let present = AgentConfig::of(agent, pointer.clone().unwrap_or_default());
    let row = |view: &RevisionView| row(view, &present, pointer.as_ref(), &staff, &detail, ctx);
    let head = Head::of(&detail, &about.asked.links(), "history");
    Ok(HistoryPage {
        rows: found.items.iter().map(row).collect(),
        older: cursor::older(&head.page("history"), found.next.as_ref()),
        head,
        revision: detail.revision,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}

fn row(
    view: &RevisionView,
    present: &AgentConfig,
    pointer: Option<&BundlePointer>,
    staff: &Staff,
    detail: &agents::AgentDetail,
    ctx: &Context<'_>,
) -> Row {
    let revision = &view.revision;
    let mut changes = differences(view.before.as_ref(), &view.after, staff);
    let more = changes.len().saturating_sub(LINES);
    changes.truncate(LINES);
    let mut target = view.after.clone();
    if pointer.is_none() {
        target.instructions.clone_from(&present.instructions);
    }
    let is_in_force = revision.n == detail.revision;
    Row {
        id: revision.id.to_string(),
        number: revision.n,
        what: what(revision.source),
        who: staff.author(revision.created_by),
        at: Ago::new(revision.created_at, ctx.now),
        changes,
        more,
        back: (!is_in_force).then(|| {
            let mut back = differences(Some(present), &target, staff);
            back.truncate(LINES);
            back
        }),
    }
}

const fn what(source: RevisionSource) -> &'static str {
    match source {
        RevisionSource::Create => "was hired",
        RevisionSource::Patch => "was changed",
        RevisionSource::Rollback => "was rolled back",
        RevisionSource::InstructionsPathPatch | RevisionSource::InstructionsBundlePatch => {
            "has its instructions elsewhere"
        }
        RevisionSource::InstructionsBundleFilePut => "has a changed file of instructions",
        RevisionSource::InstructionsBundleFileDelete => "lost a file of instructions",
    }
}

async fn roll_back(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = rolled_back(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, None, filled)
    })
    .await
}

async fn rolled_back(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let target: Option<RevisionId> = form.text("revisionId").parse().ok();
    // Nothing is undone but what was shown.
    let seen: Vec<i32> = form.text("revision").parse().ok().into_iter().collect();
    let place = visit.path().to_owned();
    let done = visit.act_sealed(
        form.key(),
        (About::of(visit), target, seen),
        |tx, ctx, (about, target, seen)| {
            let id = about.id(tx.reads(), ctx)?;
            let target = target.ok_or_else(|| Refused::missing("config revision"))?;
            agents::rollback(tx, ctx, id, target, Some(seen))
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}
