//! The issues of a company, as a list or in columns; which of them stands in the address.

mod columns;
mod filter;

use std::collections::HashMap;

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::agents::AgentView;
use workforce_app::issues::{self, IssueView};
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::issue::{Assignee, IssueStatus, Priority, StuckReason};
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Reads;
use workforce_domain::search::SearchQuery;
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};

use self::filter::{Filter, InForce, Select};
use super::{Gathered, Refused, Told as _, everyone, of, show};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, of_priority, why_stuck};
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
    columns::register(pages.get("/c/{prefix}/issues", Access::Board, list))
}

/// What the issues of a group have in common.
enum Head {
    Status(Pill),
    Person(Option<Who>),
}

struct Group {
    head: Head,
    rows: Vec<Row>,
}

struct Row {
    key: String,
    title: String,
    link: String,
    pill: Pill,
    /// Why nothing moves it.
    stuck: Option<&'static str>,
    /// The statuses that it may be given.
    may: String,
    is_live: bool,
    priority: &'static str,
    is_critical: bool,
    assignee: Option<Who>,
    changed: Ago,
}

#[derive(Template)]
#[template(path = "pages/issues.html")]
struct IssuesPage {
    shell: Shell,
    tools: Tools,
    groups: Vec<Group>,
    is_by_assignee: bool,
    by_status: String,
    by_assignee: String,
    older: Option<String>,
}

/// What stands above the issues, however they are shown.
struct Tools {
    path: String,
    q: String,
    kept: Vec<(&'static str, String)>,
    is_columns: bool,
    list: String,
    columns: String,
    in_force: Vec<InForce>,
    /// The form of the filter, where it is open, and the address that opens or closes it.
    selects: Option<Vec<Select>>,
    switched: String,
    is_narrowed: bool,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let filter = Filter::of(visit.query());
    if filter.is_columns() {
        return columns::show(&visit, asked, filter).await;
    }
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
    let ctx = &ctx.within(&company);
    let shell = Shell::gather(reads, ctx, asked, &company, "issues")?;
    let id = company.id;
    let agents = everyone(reads, ctx, id, true)?;
    let wanted = filter.wanted(ctx, &agents);
    let path = asked.links().issues();
    let query = filter.q.trim();
    let (found, older) = if query.is_empty() {
        let from = PageRequest {
            after: filter.after(),
            ..of(ROWS)
        };
        let page = issues::list(reads, ctx, id, &wanted, &from).told()?;
        (page.items, filter.older(&path, page.next.as_ref()))
    } else {
        let Ok(query) = SearchQuery::parse(query) else {
            return Err(Refused::missing("issue with so many words"));
        };
        let page = issues::search(reads, ctx, id, &query, &wanted, &of(ROWS)).told()?;
        (page.items, None)
    };
    let stuck = stuck(reads, ctx, id)?;
    let staff = Staff::of(&agents);
    let rows: Vec<(IssueStatus, Row)> = found
        .iter()
        .map(|view| (view.issue.status(), row(ctx, asked, &staff, &stuck, view)))
        .collect();
    let is_by_assignee = filter.group == "assignee";
    Ok(IssuesPage {
        groups: if is_by_assignee {
            by_assignee(rows)
        } else {
            by_status(rows)
        },
        is_by_assignee,
        by_status: filter.with(&path, "group", ""),
        by_assignee: filter.with(&path, "group", "assignee"),
        tools: tools(reads, ctx, asked, filter, id, &agents)?,
        older,
        shell,
    })
}

/// Why issues are stuck, as far as they are.
type StuckOnes = HashMap<IssueId, StuckReason>;

fn stuck(reads: &mut dyn Reads, ctx: &Context<'_>, company: CompanyId) -> Gathered<StuckOnes> {
    let found = issues::list_stuck(reads, ctx, company, &PageRequest::first()).told()?;
    let each = found.items.into_iter();
    Ok(each.map(|stuck| (stuck.issue, stuck.reason)).collect())
}

fn tools(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    filter: &Filter,
    company: CompanyId,
    agents: &[AgentView],
) -> Gathered<Tools> {
    let path = asked.links().issues();
    let selects = if filter.needs_names() {
        filter.selects(reads, ctx, company, agents)?
    } else {
        Vec::new()
    };
    let in_force = filter.in_force(&path, agents, &selects);
    let is_open = !filter.choose.is_empty();
    let kept = filter.kept();
    Ok(Tools {
        q: filter.q.clone(),
        kept: kept.map(|(name, it)| (name, it.to_owned())).collect(),
        is_columns: filter.is_columns(),
        list: filter.with(&path, "view", ""),
        columns: filter.with(&path, "view", "columns"),
        is_narrowed: !in_force.is_empty(),
        in_force,
        selects: is_open.then_some(selects),
        switched: filter.with(&path, "choose", if is_open { "" } else { "1" }),
        path,
    })
}

fn by_status(rows: Vec<(IssueStatus, Row)>) -> Vec<Group> {
    let mut rest = rows;
    let groups = GROUPS.iter().filter_map(|status| {
        let (rows, others) = core::mem::take(&mut rest)
            .into_iter()
            .partition(|(its, _)| its == status);
        rest = others;
        let rows: Vec<(IssueStatus, Row)> = rows;
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        (!rows.is_empty()).then(|| Group {
            head: Head::Status(Pill::of_issue(*status)),
            rows,
        })
    });
    groups.collect()
}

/// Groups in the order in which their first issue comes.
fn by_assignee(rows: Vec<(IssueStatus, Row)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (_, row) in rows {
        let name = row.assignee.as_ref().map(|who| who.name.clone());
        let same = |group: &&mut Group| match &group.head {
            Head::Person(who) => who.as_ref().map(|who| &who.name) == name.as_ref(),
            Head::Status(_) => false,
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group {
                head: Head::Person(row.assignee.clone()),
                rows: vec![row],
            }),
        }
    }
    groups
}

fn row(
    ctx: &Context<'_>,
    asked: &Asked,
    staff: &Staff,
    stuck: &StuckOnes,
    view: &IssueView,
) -> Row {
    let issue = &view.issue;
    let may = issue.status().successors().iter();
    Row {
        link: asked.links().issue(&issue.identifier),
        pill: Pill::of_issue(issue.status()),
        stuck: stuck.get(&issue.id).copied().map(why_stuck),
        may: may
            .map(|status| status.as_str())
            .collect::<Vec<_>>()
            .join(" "),
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
