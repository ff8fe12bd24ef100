//! Who did what, in which run, and what it was before.

mod told;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::{Context, activity, issues};
use workforce_domain::activity::{Activity, Entity};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, Reads};
use workforce_domain::string_enum::StringEnum as _;
use workforce_domain::time::Day;
use workforce_http::door::{Access, Pages, Visit};

use super::new_issue::{Colleague, colleagues_with_former};
use super::{Gathered, Told as _, everyone, of, show};
use crate::cursor;
use crate::html::filters;
use crate::html::when;
use crate::shell::{Asked, Shell};
use told::{Known, Row};

/// So many rows.
const ROWS: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/activity", Access::Board, page)
}

/// What the address says of the list.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Query {
    /// The agent that did it.
    actor: String,
    /// The kind of thing that it was done to.
    kind: String,
    /// The thing that it was done to: its id, or the key of an issue.
    object: String,
    /// The row after which it goes on.
    after: String,
}

impl Query {
    /// The address of the same list, without where it goes on.
    fn link(&self, activity: &str) -> String {
        let fields = [
            ("actor", &self.actor),
            ("kind", &self.kind),
            ("object", &self.object),
        ];
        let asked: Vec<_> = fields
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let query = serde_html_form::to_string(asked).unwrap_or_default();
        format!("{activity}?{query}")
    }
}

/// The activity of one day.
struct Date {
    word: String,
    rows: Vec<Row>,
}

#[derive(Template)]
#[template(path = "pages/activity.html")]
struct ActivityPage {
    shell: Shell,
    query: Query,
    actors: Vec<Colleague>,
    kinds: Vec<(&'static str, String)>,
    is_filtered: bool,
    days: Vec<Date>,
    next: Option<String>,
}

async fn page(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let query: Query = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &query)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    query: &Query,
) -> Gathered<ActivityPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let wanted = PageRequest {
        after: cursor::place(&query.after),
        ..of(ROWS)
    };
    let filter = filter(reads, ctx, query)?;
    let page = activity::list(reads, ctx, id, &filter, &wanted).told()?;
    let agents = everyone(reads, ctx, id, true)?;
    let known = Known::gather(reads, ctx, asked, id, &agents, &page.items)?;
    let link = query.link(&asked.links().activity());
    let kinds = Entity::ALL.iter();
    Ok(ActivityPage {
        actors: colleagues_with_former(&agents),
        kinds: kinds
            .map(|kind| (kind.as_str(), told::kind(*kind).to_owned()))
            .collect(),
        is_filtered: [&query.actor, &query.kind, &query.object]
            .iter()
            .any(|it| !it.is_empty()),
        days: by_day(&page.items, &known),
        next: page
            .next
            .map(|next| format!("{link}&after={}", cursor::mark(&next))),
        query: query.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "activity")?,
    })
}

/// What is asked for. What is no agent and no kind narrows nothing down.
fn filter(reads: &mut dyn Reads, ctx: &Context<'_>, query: &Query) -> Gathered<ActivityFilter> {
    let object = query.object.trim();
    let named = IssueRef::parse(&object.to_ascii_uppercase());
    let issue = match named {
        Some(IssueRef::Identifier(_)) => {
            let named = named.as_ref();
            let found = named.map(|issue| issues::id_of(reads, ctx, issue));
            found.transpose()?.flatten()
        }
        _ => None,
    };
    Ok(ActivityFilter {
        agent: query.actor.parse().ok(),
        entity: Entity::parse(&query.kind),
        entity_id: match issue {
            Some(issue) => Some(issue.to_string()),
            None => Some(object.to_owned()).filter(|object| !object.is_empty()),
        },
    })
}

/// The rows under the days on which they happened, in UTC.
fn by_day(all: &[Activity], known: &Known) -> Vec<Date> {
    let mut days: Vec<(Day, Date)> = Vec::new();
    for activity in all {
        let day = Day::of(activity.created_at);
        let row = known.row(activity);
        match days.last_mut() {
            Some((last, date)) if *last == day => date.rows.push(row),
            _ => {
                let word = when::day(activity.created_at);
                let rows = vec![row];
                days.push((day, Date { word, rows }));
            }
        }
    }
    days.into_iter().map(|(_, date)| date).collect()
}
