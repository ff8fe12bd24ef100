//! The issues of a company as a list, by status; the filter stands in the address.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::Context;
use workforce_app::issues::{self, IssueView};
use workforce_domain::issue::{Assignee, IssueStatus, Priority};
use workforce_domain::port::{IssueFilter, Reads};
use workforce_domain::search::SearchQuery;
use workforce_domain::string_enum::StringEnum;
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Refused, Told as _, everyone, of, show};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, of_priority, word};
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many rows a page.
const ROWS: usize = 50;

/// The order of the groups.
const GROUPS: [IssueStatus; 7] = [
    IssueStatus::InProgress,
    IssueStatus::InReview,
    IssueStatus::Blocked,
    IssueStatus::Todo,
    IssueStatus::Backlog,
    IssueStatus::Done,
    IssueStatus::Cancelled,
];

/// What is open.
const OPEN: [IssueStatus; 5] = [
    IssueStatus::InProgress,
    IssueStatus::InReview,
    IssueStatus::Blocked,
    IssueStatus::Todo,
    IssueStatus::Backlog,
];

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/issues", Access::Board, list)
}

/// What the address says of the list.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Filter {
    /// Words to search for.
    q: String,
    /// One status; `open` or `all` for several.
    status: String,
}

struct Group {
    pill: Pill,
    rows: Vec<Row>,
}

struct Row {
    key: String,
    title: String,
    link: String,
    is_live: bool,
    priority: &'static str,
    is_critical: bool,
    assignee: Option<Who>,
    changed: Ago,
}

/// A choice of the filter.
struct Choice {
    value: &'static str,
    word: &'static str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "pages/issues.html")]
struct IssuesPage {
    shell: Shell,
    q: String,
    choices: Vec<Choice>,
    groups: Vec<Group>,
    is_cut: bool,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let filter: Filter = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &filter)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    filter: &Filter,
) -> Gathered<IssuesPage> {
    let company = asked.company(reads, ctx)?;
    let shell = Shell::gather(reads, ctx, asked, &company, "issues")?;
    let id = company.company.id;
    let wanted = IssueFilter {
        statuses: statuses(&filter.status),
        ..IssueFilter::default()
    };
    let query = filter.q.trim();
    let (found, is_cut) = if query.is_empty() {
        let page = issues::list(reads, ctx, id, &wanted, &of(ROWS)).told()?;
        (page.items, page.next.is_some())
    } else {
        let Ok(query) = SearchQuery::parse(query) else {
            return Err(Refused::missing("issue with so many words"));
        };
        let page = issues::search(reads, ctx, id, &query, &wanted, &of(ROWS)).told()?;
        (page.items, page.next.is_some())
    };
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let groups = GROUPS.iter().filter_map(|status| {
        let of_status = found.iter().filter(|view| view.issue.status() == *status);
        let rows: Vec<Row> = of_status
            .map(|view| row(ctx, asked, &staff, view))
            .collect();
        (!rows.is_empty()).then(|| Group {
            pill: Pill::of_issue(*status),
            rows,
        })
    });
    Ok(IssuesPage {
        groups: groups.collect(),
        choices: choices(&filter.status),
        q: query.to_owned(),
        is_cut,
        shell,
    })
}

fn statuses(wanted: &str) -> Vec<IssueStatus> {
    match (wanted, IssueStatus::parse(wanted)) {
        (_, Some(status)) => vec![status],
        ("all", None) => Vec::new(),
        _ => OPEN.to_vec(),
    }
}

fn choices(chosen: &str) -> Vec<Choice> {
    let is_one = chosen == "all" || IssueStatus::parse(chosen).is_some();
    let several = [("open", "Open", !is_one), ("all", "All", chosen == "all")];
    let several = several.map(|(value, word, is_chosen)| Choice {
        value,
        word,
        is_chosen,
    });
    let single = GROUPS.iter().map(|status| Choice {
        value: status.as_str(),
        word: word(*status),
        is_chosen: status.as_str() == chosen,
    });
    several.into_iter().chain(single).collect()
}

fn row(ctx: &Context<'_>, asked: &Asked, staff: &Staff, view: &IssueView) -> Row {
    let issue = &view.issue;
    Row {
        link: asked.links().issue(&issue.identifier),
        key: issue.identifier.clone(),
        title: issue.title.to_string(),
        is_live: view.lease.is_some(),
        priority: of_priority(issue.priority),
        is_critical: issue.priority == Priority::Critical,
        assignee: who(staff, *issue.assignee),
        changed: Ago::new(issue.updated_at, ctx.now),
    }
}

/// Whoever is to do an issue.
pub(super) fn who(staff: &Staff, assignee: Assignee) -> Option<Who> {
    match assignee {
        Assignee::Nobody => None,
        Assignee::Agent(agent) => Some(staff.agent(agent)),
        Assignee::Board(_) => Some(Who::board()),
    }
}
