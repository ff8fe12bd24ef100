//! All runs of an agent.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::{Context, runs};
use workforce_domain::port::{Reads, RunCursor, RunFilter};
use workforce_http::door::{Access, Pages, Visit};

use super::super::runs::{Row, rows};
use super::super::{Gathered, Told as _, of, show};
use super::{About, Head};
use crate::cursor;
use crate::form::Filled;
use crate::html::filters;
use crate::html::people::Staff;
use crate::shell::Shell;

/// So many rows.
const SHOWN: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/agents/{agent}/runs", Access::Board, list)
}

#[derive(Template)]
#[template(path = "pages/agent/runs.html")]
struct AgentRunsPage {
    shell: Shell,
    head: Head,
    rows: Vec<Row>,
    older: Option<String>,
    form: Filled,
}

async fn list(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    let after = cursor::after::<RunCursor>(&visit);
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &about, after, &form)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    after: Option<RunCursor>,
    form: &Filled,
) -> Gathered<AgentRunsPage> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let links = about.asked.links();
    let own = RunFilter {
        agent: Some(detail.view.agent.id),
        ..RunFilter::default()
    };
    let mut page = of(SHOWN);
    page.after = after;
    let found = runs::list(reads, ctx, company.id, &own, &page).told()?;
    let staff = Staff::of(std::slice::from_ref(&detail.view));
    let head = Head::of(&detail, &links, "runs");
    Ok(AgentRunsPage {
        older: cursor::older(&head.page("runs"), found.next.as_ref()),
        head,
        rows: rows(reads, ctx, &links, &staff, &found.items)?,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}
