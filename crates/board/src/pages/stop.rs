//! Stops all work of a company, and tells what is still alive until nothing is.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::{Context, companies, runs};
use workforce_domain::company::CompanyStatus;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, RunFilter, Tx};
use workforce_domain::run::RunStatus;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::runs::{Row, rows};
use super::{Gathered, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::people::Staff;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/stop";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, look)
        .post(PATH, Access::Board, act)
}

#[derive(Template)]
#[template(path = "pages/stop.html")]
struct StopPage {
    shell: Shell,
    link: String,
    status: CompanyStatus,
    /// Runs whose processes are alive.
    rows: Vec<Row>,
    form: Filled,
}

async fn look(visit: Visit) -> HttpResponse {
    let (asked, form) = (Asked::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
) -> Gathered<StopPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let alive = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let alive = runs::list(reads, ctx, id, &alive, &PageRequest::first()).told()?;
    let staff = Staff::of(&everyone(reads, ctx, id, true)?);
    let links = asked.links();
    Ok(StopPage {
        link: links.stop(),
        status: company.status(),
        rows: rows(reads, ctx, &links, &staff, &alive.items)?,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "stop")?,
    })
}

/// Stops the company, or lets it work again, as the button says.
async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = done(&visit, &form).await;
    let asked = Asked::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, filled)
    })
    .await
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let resumes = form.text("deed") == "resume";
    let place = match resumes {
        true => Asked::of(visit).links().home().to_owned(),
        false => visit.path().to_owned(),
    };
    let done = visit.act(
        form.key(),
        Asked::of(visit),
        move |tx: &mut dyn Tx, ctx: &Context<'_>, asked: &Asked| {
            let id = asked.company(tx.reads(), ctx)?.id;
            let deed = if resumes {
                companies::resume
            } else {
                companies::pause
            };
            deed(tx, ctx, id).told().map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}
