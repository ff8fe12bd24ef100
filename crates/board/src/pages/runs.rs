//! The runs of a company, and one of them.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::{Context, issues, runs};
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::port::{Reads, RunFilter};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Refused, Told as _, everyone, form_answered, of, show};
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, why_woken};
use crate::html::when::{self, Ago};
use crate::links::Links;
use crate::shell::{Asked, Shell};

/// So many rows.
const SHOWN: usize = 50;

const ONE: &str = "/c/{prefix}/runs/{run}";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get("/c/{prefix}/runs", Access::Board, list)
        .get(ONE, Access::Board, run)
        .post(ONE, Access::Board, cancel)
}

/// A run in a list.
pub(crate) struct Row {
    pub(crate) pill: Pill,
    pub(crate) who: Who,
    pub(crate) why: &'static str,
    /// What it is about: the key, the title and the address.
    pub(crate) issue: Option<(String, String, String)>,
    pub(crate) error: Option<String>,
    pub(crate) took: String,
    pub(crate) at: Ago,
    pub(crate) link: String,
}

/// Runs as rows, with what their issues are called.
pub(crate) fn rows(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    links: &Links,
    staff: &Staff,
    runs: &[Run],
) -> Gathered<Vec<Row>> {
    let Some(first) = runs.first() else {
        return Ok(Vec::new());
    };
    let about: Vec<_> = runs.iter().filter_map(|run| run.issue).collect();
    let titles = issues::titles(reads, ctx, first.company, &about).told()?;
    let rows = runs.iter().map(|run| Row {
        pill: Pill::of_run(run.status),
        who: staff.agent(run.agent),
        why: why_woken(run.reason),
        issue: run
            .issue
            .and_then(|id| titles.get(&id))
            .map(|(key, title)| (key.clone(), title.clone(), links.issue(key))),
        error: run
            .error_code
            .map(|code| code.to_string().replace('_', " ")),
        took: took(run, ctx.now),
        at: Ago::new(run.created_at, ctx.now),
        link: links.run(run.id),
    });
    Ok(rows.collect())
}

/// How long a run takes or took; nothing of one that did not start.
fn took(run: &Run, now: Timestamp) -> String {
    let Some(started) = run.started_at else {
        return String::new();
    };
    let end = run.finished_at.unwrap_or(now);
    match end.micros() - started.micros() {
        micros @ ..60_000_000 => format!("{} s", micros / 1_000_000),
        micros => when::span(micros),
    }
}

#[derive(Template)]
#[template(path = "pages/runs.html")]
struct RunsPage {
    shell: Shell,
    rows: Vec<Row>,
    is_cut: bool,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather_list(reads, ctx, &asked)).await
}

fn gather_list(reads: &mut dyn Reads, ctx: &Context<'_>, asked: &Asked) -> Gathered<RunsPage> {
    let company = asked.company(reads, ctx)?;
    let id = company.company.id;
    let staff = Staff::of(&everyone(reads, ctx, id, true)?);
    let page = runs::list(reads, ctx, id, &RunFilter::default(), &of(SHOWN)).told()?;
    Ok(RunsPage {
        rows: rows(reads, ctx, &asked.links(), &staff, &page.items)?,
        is_cut: page.next.is_some(),
        shell: Shell::gather(reads, ctx, asked, &company, "runs")?,
    })
}

#[derive(Template)]
#[template(path = "pages/run.html")]
struct RunPage {
    shell: Shell,
    link: String,
    verdict: String,
    row: Row,
    error: Option<String>,
    said: Option<String>,
    exit_code: Option<i32>,
    prompt_bytes: Option<i32>,
    log_bytes: i64,
    log: String,
    is_live: bool,
    form: Filled,
}

/// The run that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    id: Option<RunId>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            id: visit.parameter("run").parse().ok(),
        }
    }

    /// The run, if it is one of the company in the address.
    fn run(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<Run> {
        let company = self.asked.company(reads, ctx)?;
        let id = self.id.ok_or_else(|| Refused::missing("run"))?;
        let run = runs::get_with_log(reads, ctx, id).told()?;
        if run.company == company.company.id {
            Ok(run)
        } else {
            Err(Refused::missing("run"))
        }
    }
}

async fn run(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<RunPage> {
    let asked = &about.asked;
    let company = asked.company(reads, ctx)?;
    let run = about.run(reads, ctx)?;
    let staff = Staff::of(&everyone(reads, ctx, company.company.id, true)?);
    let links = asked.links();
    let all = rows(reads, ctx, &links, &staff, std::slice::from_ref(&run))?;
    let row = all
        .into_iter()
        .next()
        .ok_or_else(|| Refused::missing("run"))?;
    Ok(RunPage {
        link: links.run(run.id),
        verdict: verdict(&run, &row),
        row,
        error: run.error.clone(),
        said: run.result_text.clone(),
        exit_code: run.exit_code,
        prompt_bytes: run.prompt_bytes,
        log_bytes: run.log_bytes,
        log: run.log_tail.clone().unwrap_or_default(),
        is_live: !run.status.is_terminal(),
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "runs")?,
    })
}

/// What became of a run, as a headline.
fn verdict(run: &Run, row: &Row) -> String {
    let (name, took) = (&row.who.name, &row.took);
    match run.status {
        RunStatus::Queued => format!("{name} is to start"),
        RunStatus::Running => format!("{name} works since {took}"),
        RunStatus::Succeeded => format!("{name} succeeded after {took}"),
        RunStatus::Failed => format!("{name} failed after {took}"),
        RunStatus::TimedOut => format!("{name} ran out of time after {took}"),
        RunStatus::Cancelled => format!("{name} was stopped"),
    }
}

async fn cancel(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = cancelled(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

async fn cancelled(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let place = visit.path().to_owned();
    let done = visit.act(
        form.key(),
        About::of(visit),
        |tx, ctx, about: &About| {
            let run = about.run(tx.reads(), ctx)?;
            runs::cancel(tx, ctx, run.id).told().map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}
