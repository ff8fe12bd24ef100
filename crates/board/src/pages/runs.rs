//! The runs of a company.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::{Context, issues, runs};
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueRef;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, RunFilter};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::string_enum::StringEnum as _;
use workforce_domain::time::Timestamp;
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Refused, Told as _, everyone, of, show};
use crate::cursor;
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, why_woken};
use crate::html::when::{self, Ago};
use crate::links::Links;
use crate::shell::{Asked, Shell};

/// So many rows.
const SHOWN: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/runs", Access::Board, list)
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
pub(super) fn took(run: &Run, now: Timestamp) -> String {
    let Some(started) = run.started_at else {
        return String::new();
    };
    let end = run.finished_at.unwrap_or(now);
    match end.micros() - started.micros() {
        micros @ ..60_000_000 => format!("{} s", micros / 1_000_000),
        micros => when::span(micros),
    }
}

/// Which runs are wanted, as the address says it.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    agent: String,
    status: String,
    issue: String,
    after: String,
}

/// A value of the filter, with its word.
struct Choice {
    value: String,
    word: String,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "pages/runs.html")]
struct RunsPage {
    shell: Shell,
    rows: Vec<Row>,
    agents: Vec<Choice>,
    statuses: Vec<Choice>,
    issue: String,
    is_filtered: bool,
    older: Option<String>,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let wanted: Wanted = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &wanted)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    wanted: &Wanted,
) -> Gathered<RunsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let agents = everyone(reads, ctx, id, true)?;
    let chosen = agents
        .iter()
        .find(|view| view.agent.url_key == wanted.agent);
    let status = RunStatus::parse(&wanted.status);
    let filter = RunFilter {
        agent: chosen.map(|view| view.agent.id),
        issue: match wanted.issue.trim() {
            "" => None,
            key => Some(issue(reads, ctx, key)?),
        },
        statuses: status.into_iter().collect(),
    };
    let request = PageRequest {
        after: cursor::place(&wanted.after),
        ..of(SHOWN)
    };
    let page = runs::list(reads, ctx, id, &filter, &request).told()?;
    let links = asked.links();
    Ok(RunsPage {
        rows: rows(reads, ctx, &links, &Staff::of(&agents), &page.items)?,
        agents: agents
            .iter()
            .map(|view| Choice {
                value: view.agent.url_key.clone(),
                word: view.agent.name.to_string(),
                is_chosen: view.agent.url_key == wanted.agent,
            })
            .collect(),
        statuses: RunStatus::ALL
            .iter()
            .map(|status| Choice {
                value: status.to_string(),
                word: Pill::of_run(*status).word().to_owned(),
                is_chosen: status.as_str() == wanted.status,
            })
            .collect(),
        issue: wanted.issue.clone(),
        is_filtered: filter != RunFilter::default(),
        older: page.next.map(|next| {
            let query = [
                ("agent", wanted.agent.as_str()),
                ("status", &wanted.status),
                ("issue", &wanted.issue),
                ("after", &cursor::mark(&next)),
            ];
            let kept = query.iter().filter(|(_, value)| !value.is_empty());
            let query = serde_html_form::to_string(kept.collect::<Vec<_>>());
            format!("{}?{}", links.runs(), query.unwrap_or_default())
        }),
        shell: Shell::gather(reads, ctx, asked, &company, "runs")?,
    })
}

/// The issue of this name.
fn issue(reads: &mut dyn Reads, ctx: &Context<'_>, key: &str) -> Gathered<IssueId> {
    let missing = || Refused::missing("issue");
    let name = IssueRef::parse(key).ok_or_else(missing)?;
    issues::id_of(reads, ctx, &name)?.ok_or_else(missing)
}
