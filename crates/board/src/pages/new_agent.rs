//! The form that hires an agent.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::agents::{self, CreateAgent};
use workforce_app::{Context, secrets};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, Tx};
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::agent_form::{AgentForm, Findings, adapter_body, body, by_field, is_inline_value};
use super::{Gathered, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/agents/new";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, blank)
        .post(PATH, Access::Board, act)
}

#[derive(Template)]
#[template(path = "pages/new_agent.html")]
struct NewAgentPage {
    shell: Shell,
    form: Filled,
    agent: AgentForm,
    /// Whether agents have to ask the board before they hire.
    is_approved: bool,
}

async fn blank(visit: Visit) -> HttpResponse {
    let form = Filled::blank(&visit);
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &form, None)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    form: &Filled,
    findings: Option<Findings>,
) -> Gathered<NewAgentPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let known = secrets::list(reads, ctx, id, &PageRequest::first()).told()?;
    let colleagues = everyone(reads, ctx, id, false)?;
    Ok(NewAgentPage {
        shell: Shell::gather(reads, ctx, asked, &company, "agents")?,
        agent: AgentForm::new(form, &colleagues, None, &known.items, None, findings),
        form: form.clone(),
        is_approved: company.require_board_approval_for_new_agents,
    })
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    match form.text("deed") {
        "check" => match checked(&visit, &form).await {
            Ok(findings) => shown(&visit, form, Some(findings)).await,
            Err(problem) => answered(&visit, form, Err(problem)).await,
        },
        // The fields of another program.
        "adapter" => shown(&visit, form, None).await,
        _ => {
            let done = hired(&visit, &form).await;
            answered(&visit, form, done).await
        }
    }
}

/// The form again with what was typed, but for values of variables.
async fn shown(visit: &Visit, form: Form, findings: Option<Findings>) -> HttpResponse {
    let asked = Asked::of(visit);
    let filled = Filled::of(form.without(is_inline_value), visit);
    show(visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &filled, findings.clone())
    })
    .await
}

async fn answered(visit: &Visit, form: Form, done: Result<String, Problem>) -> HttpResponse {
    let asked = Asked::of(visit);
    let form = form.without(is_inline_value);
    form_answered(visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, filled, None)
    })
    .await
}

async fn checked(visit: &Visit, form: &Form) -> Result<Findings, Problem> {
    let draft = door::change_of_adapter(&adapter_body(form, None)?)?;
    let asked = Asked::of(visit);
    let checked = visit.check_adapter(move |reads, ctx| {
        let company = asked.company(reads, ctx)?;
        agents::draft_to_check(reads, ctx, company.id, &draft).told()
    });
    Ok(by_field(&checked.await?))
}

async fn hired(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command = door::new_agent(&body(form, None, None)?)?;
    let asked = Asked::of(visit);
    let place = asked.links().agents();
    let done = visit.act_sealed(
        form.key(),
        (asked, command),
        |tx, ctx, (asked, command)| create(tx, ctx, asked, command.clone()),
        move |()| place.clone(),
    );
    done.await
}

fn create(tx: &mut dyn Tx, ctx: &Context<'_>, asked: &Asked, command: CreateAgent) -> Gathered<()> {
    let company = asked.company(tx.reads(), ctx)?;
    agents::create(tx, ctx, company.id, command)
        .told()
        .map(drop)
}
