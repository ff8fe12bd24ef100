//! The form that sets the limit of the company or of an agent.

use actix_web::HttpResponse;
use workforce_app::agents::{self, AgentRef, UpdateAgent};
use workforce_app::companies::{self, UpdateCompany};
use workforce_app::{Code, Context};
use workforce_domain::change::Replace;
use workforce_domain::id::AgentId;
use workforce_domain::money::Budget;
use workforce_domain::port::Tx;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{About, PATH, gather};
use crate::form::{Form, Kind};
use crate::pages::{Gathered, Refused, Told as _, form_answered};
use crate::shell::Asked;

/// The field with the limit. A company and an agent call it the same.
const LIMIT: &str = "budgetMonthlyCents";

pub(super) fn register(pages: Pages) -> Pages {
    pages.post(PATH, Access::Board, set)
}

async fn set(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let about = About::of(&visit);
    let done = done(&visit, &form).await;
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

/// Whose limit becomes what.
#[derive(Clone)]
struct Wanted {
    asked: Asked,
    /// `None` for the company.
    agent: Option<AgentId>,
    limit: Budget,
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: UpdateCompany = form.command(&[(LIMIT, Kind::Dollars)])?;
    let fault = |field: &str, message| {
        let pointer = format!("/{field}");
        door::fault(Code::InvalidField, &pointer, message)
    };
    let Replace::Set(limit) = command.budget_monthly_cents else {
        return Err(fault(LIMIT, "is required; 0 is no limit"));
    };
    let agent = match form.text("whose") {
        "" => None,
        id => match id.parse() {
            Ok(id) => Some(id),
            Err(_) => return Err(fault("whose", "must be the company or an agent")),
        },
    };
    let asked = Asked::of(visit);
    let place = asked.links().costs();
    let wanted = Wanted {
        asked,
        agent,
        limit,
    };
    let done = visit.act(form.key(), wanted, carry_out, move |()| place.clone());
    done.await
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, wanted: &Wanted) -> Gathered<()> {
    let company = wanted.asked.company(tx.reads(), ctx)?.id;
    let Some(agent) = wanted.agent else {
        let command = UpdateCompany {
            budget_monthly_cents: Replace::Set(wanted.limit),
            ..UpdateCompany::default()
        };
        return companies::update(tx, ctx, company, command)
            .told()
            .map(drop);
    };
    let found = agents::get(tx.reads(), ctx, &AgentRef::Id(agent)).told()?;
    if found.view.agent.company != company {
        return Err(Refused::missing("agent"));
    }
    let command = UpdateAgent {
        budget: Some(wanted.limit),
        ..UpdateAgent::default()
    };
    agents::update(tx, ctx, agent, command).told().map(drop)
}
