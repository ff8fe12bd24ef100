//! Issues in columns, one for each status. A card is moved from one to another.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::issues::{self, UpdateIssue};
use workforce_app::{Context, approvals};
use workforce_domain::issue::{IssueRef, IssueStatus};
use workforce_domain::port::{Reads, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::super::{Gathered, Refused, Told as _, everyone, form_answered};
use super::filter::Filter;
use super::{Row, Tools, row, stuck, tools};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::people::Staff;
use crate::html::status::Pill;
use crate::look::own_path;
use crate::shell::{Asked, Shell};

/// So many cards a column.
const CARDS: usize = 15;

/// From left to right.
const COLUMNS: [IssueStatus; 6] = [
    IssueStatus::Backlog,
    IssueStatus::Todo,
    IssueStatus::InProgress,
    IssueStatus::InReview,
    IssueStatus::Blocked,
    IssueStatus::Done,
];

const STATUS: &[(&str, Kind)] = &[("status", Kind::Text)];

pub(super) fn register(pages: Pages) -> Pages {
    let path = "/c/{prefix}/issues/{issue}/status";
    pages.post(path, Access::Board, move_card)
}

struct Column {
    status: &'static str,
    pill: Pill,
    cards: Vec<Row>,
    /// The address of the rest, where there is more.
    more: Option<String>,
    /// Shown where there is room for one.
    is_first: bool,
    /// The address of this column alone.
    alone: String,
}

#[derive(Template)]
#[template(path = "pages/columns.html")]
struct ColumnsPage {
    shell: Shell,
    tools: Tools,
    columns: Vec<Column>,
    back: String,
    form: Filled,
}

pub(super) async fn show(visit: &Visit, asked: Asked, filter: Filter) -> HttpResponse {
    let form = Filled::blank(visit);
    super::show(visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &filter, &form)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    filter: &Filter,
    form: &Filled,
) -> Gathered<ColumnsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let wanted = filter.wanted(ctx, &agents);
    let chosen = filter.one_status();
    let statuses = COLUMNS.iter().copied();
    let statuses: Vec<_> = match chosen {
        Some(status) => vec![status],
        None => statuses.collect(),
    };
    let found = issues::by_status(reads, ctx, id, &wanted, &statuses, CARDS).told()?;
    let stuck = stuck(reads, ctx, id)?;
    let path = asked.links().issues();
    let columns = found.into_iter().map(|(status, page)| Column {
        status: status.as_str(),
        pill: Pill::of_issue(status),
        more: page.next.map(|_| {
            filter
                .clone()
                .without_columns()
                .with(&path, "status", status.as_str())
        }),
        is_first: chosen.is_some() || status == IssueStatus::InProgress,
        alone: filter.with(&path, "status", status.as_str()),
        cards: page
            .items
            .iter()
            .map(|view| row(ctx, asked, &staff, &stuck, view))
            .collect(),
    });
    Ok(ColumnsPage {
        columns: columns.collect(),
        tools: tools(reads, ctx, asked, filter, id, &agents)?,
        back: filter.with(&path, "", ""),
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "issues")?,
    })
}

/// Gives an issue another status, and leads back to where it was moved.
async fn move_card(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = moved(&visit, &form).await;
    let asked = Asked::of(&visit);
    let query = form.text("back").split_once('?').map_or("", |(_, it)| it);
    let filter = Filter::of(query);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, &filter, filled)
    })
    .await
}

async fn moved(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: UpdateIssue = form.command(STATUS)?;
    let name = IssueRef::parse(visit.parameter("issue"));
    let place = own_path(form.text("back")).to_owned();
    let done = visit.act(
        form.key(),
        (Asked::of(visit), name, command),
        |tx, ctx, (asked, name, command)| moved_to(tx, ctx, asked, name.as_ref(), command),
        move |()| place.clone(),
    );
    done.await
}

fn moved_to(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    asked: &Asked,
    name: Option<&IssueRef>,
    command: &UpdateIssue,
) -> Gathered<()> {
    let company = asked.company(tx.reads(), ctx)?.id;
    let missing = || Refused::missing("issue");
    let name = name.ok_or_else(missing)?;
    if issues::get(tx.reads(), ctx, name)
        .told()?
        .view
        .issue
        .company
        != company
    {
        return Err(missing());
    }
    approvals::update_issue(tx, ctx, name, command.clone())
        .told()
        .map(drop)
}
