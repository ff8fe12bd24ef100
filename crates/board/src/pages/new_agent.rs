//! The form that hires an agent.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::agents::{self, CreateAgent};
use workforce_domain::agent::AdapterType;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::new_issue::{Colleague, colleagues};
use super::{Gathered, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/agents/new";

const FIELDS: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("role", Kind::Text),
    ("title", Kind::Text),
    ("capabilities", Kind::Text),
    ("reportsTo", Kind::Text),
    ("adapterType", Kind::Text),
    ("adapterConfig/command", Kind::Text),
    ("adapterConfig/shell", Kind::Ticked),
    ("adapterConfig/cwd", Kind::Text),
    ("adapterConfig/model", Kind::Text),
    ("budgetMonthlyCents", Kind::Dollars),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, blank)
        .post(PATH, Access::Board, hire)
}

/// A program that an agent can be.
struct Program {
    value: &'static str,
    word: &'static str,
}

/// The programs, those first that most people have.
const PROGRAMS: [(AdapterType, &str); 8] = [
    (AdapterType::ClaudeLocal, "Claude Code"),
    (AdapterType::CodexLocal, "Codex"),
    (AdapterType::GeminiLocal, "Gemini"),
    (AdapterType::OpencodeLocal, "OpenCode"),
    (AdapterType::Cursor, "Cursor"),
    (AdapterType::PiLocal, "Pi"),
    (AdapterType::Process, "Any command"),
    (AdapterType::Http, "A service over HTTP"),
];

#[derive(Template)]
#[template(path = "pages/new_agent.html")]
struct NewAgentPage {
    shell: Shell,
    form: Filled,
    programs: Vec<Program>,
    colleagues: Vec<Colleague>,
}

async fn blank(visit: Visit) -> HttpResponse {
    let form = Filled::blank(&visit);
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
) -> Gathered<NewAgentPage> {
    let company = asked.company(reads, ctx)?;
    let programs = PROGRAMS.iter().map(|(adapter, word)| Program {
        value: adapter.as_str(),
        word,
    });
    Ok(NewAgentPage {
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
        form: form.clone(),
        programs: programs.collect(),
        colleagues: colleagues(&everyone(reads, ctx, company.company.id, false)?),
    })
}

async fn hire(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = hired(&visit, &form).await;
    let asked = Asked::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, filled)
    })
    .await
}

async fn hired(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command = door::new_agent(&form.body(FIELDS)?)?;
    let asked = Asked::of(visit);
    let place = asked.links().agents();
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx, ctx, (asked, command)| create(tx, ctx, asked, command.clone()),
        move |()| place.clone(),
    );
    done.await
}

fn create(tx: &mut dyn Tx, ctx: &Context<'_>, asked: &Asked, command: CreateAgent) -> Gathered<()> {
    let company = asked.company(tx.reads(), ctx)?;
    agents::create(tx, ctx, company.company.id, command)
        .told()
        .map(drop)
}
