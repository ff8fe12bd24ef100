//! All that waits for a person. It empties by acting.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::Context;
use workforce_app::agents::{self, AgentRef, UpdateAgent};
use workforce_app::attention::{self, Need, NeedKind};
use workforce_domain::id::AgentId;
use workforce_domain::money::Budget;
use workforce_domain::port::Reads;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::approvals::names_of_needs;
use super::{Gathered, Refused, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::need::Row;
use crate::html::people::Staff;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/inbox";

const LIMIT: &[(&str, Kind)] = &[("budgetMonthlyCents", Kind::Dollars)];

/// A higher limit of an agent.
#[derive(Deserialize)]
struct NewLimit {
    #[serde(rename = "budgetMonthlyCents")]
    budget: Budget,
}

/// What stands under which head, and where on the page.
const GROUPS: [(&str, &str, &[NeedKind]); 4] = [
    ("budget", "Stopped by a budget", &[NeedKind::BudgetStop]),
    ("decisions", "Decisions", &[NeedKind::Decision]),
    (
        "yours",
        "Reviews and issues of yours",
        &[NeedKind::Review, NeedKind::Assigned],
    ),
    (
        "stuck",
        "Failing and stuck",
        &[NeedKind::Failing, NeedKind::Stuck],
    ),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, inbox)
        .post(PATH, Access::Board, raise)
}

struct Group {
    anchor: &'static str,
    head: &'static str,
    rows: Vec<Row>,
}

#[derive(Template)]
#[template(path = "pages/inbox.html")]
struct InboxPage {
    shell: Shell,
    groups: Vec<Group>,
    form: Filled,
}

async fn inbox(visit: Visit) -> HttpResponse {
    let (asked, form) = (Asked::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
) -> Gathered<InboxPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let needs = attention::list(reads, ctx, id).told()?;
    let staff = Staff::of(&everyone(reads, ctx, id, true)?);
    let names = names_of_needs(reads, ctx, id, &needs)?;
    let links = asked.links();
    let rows = |kinds: &[NeedKind]| -> Vec<Row> {
        let of_group = needs.iter().filter(|need| kinds.contains(&need.kind()));
        let row = |need: &Need| Row::new(ctx, &links, &staff, &names, need);
        of_group.map(row).collect()
    };
    let groups = GROUPS.iter().map(|(anchor, head, kinds)| Group {
        anchor,
        head,
        rows: rows(kinds),
    });
    Ok(InboxPage {
        groups: groups.filter(|group| !group.rows.is_empty()).collect(),
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "inbox")?,
    })
}

/// Raises the limit of an agent that its budget stopped.
async fn raise(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = raised(&visit, &form).await;
    let asked = Asked::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, filled)
    })
    .await
}

async fn raised(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: NewLimit = form.command(LIMIT)?;
    let agent: Option<AgentId> = form.text("agent").parse().ok();
    let place = visit.path().to_owned();
    let done = visit.act(
        form.key(),
        (Asked::of(visit), agent, command),
        |tx, ctx, (asked, agent, command)| {
            let company = asked.company(tx.reads(), ctx)?.id;
            let missing = || Refused::missing("agent");
            let id = agent.ok_or_else(missing)?;
            let named = AgentRef::Id(id);
            let found = agents::get(tx.reads(), ctx, &named).told()?;
            if found.view.agent.company != company {
                return Err(missing());
            }
            let change = UpdateAgent {
                budget: Some(command.budget),
                ..UpdateAgent::default()
            };
            agents::update(tx, ctx, id, change).told().map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}
