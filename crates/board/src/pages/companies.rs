//! All companies, and the form that founds one.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::companies::{self, CompanyView, CreateCompany};
use workforce_app::{Context, Failure};
use workforce_domain::page::PageRequest;
use workforce_domain::port::Reads;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Refused, Told as _, form_answered, of, show};
use crate::answer;
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::steps::Steps;
use crate::links::Links;
use crate::look::Look;

const FOUNDING: &str = "/companies/new";

/// The fields of the form that founds a company.
const FIELDS: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("description", Kind::Text),
    ("budgetMonthlyCents", Kind::Dollars),
    ("requireBoardApprovalForNewAgents", Kind::Switch),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get("/", Access::Board, list)
        .get(FOUNDING, Access::Board, form)
        .post(FOUNDING, Access::Board, found)
}

struct Row {
    name: String,
    link: String,
    is_paused: bool,
    meter: Meter,
}

impl Row {
    fn of(view: &CompanyView) -> Self {
        let company = &view.company;
        Self {
            name: company.name.to_string(),
            link: Links::of(&company.issue_prefix).home().to_owned(),
            is_paused: !company.is_active(),
            meter: Meter::new(view.spend, company.budget, company.budget_basis),
        }
    }
}

#[derive(Template)]
#[template(path = "pages/companies.html")]
struct CompaniesPage {
    look: Look,
    rows: Vec<Row>,
}

/// The companies; where there is one, its own first page, and where there is none, the form.
async fn list(visit: Visit) -> HttpResponse {
    let looked = visit.look(|reads, ctx| {
        let page = companies::list(reads, ctx, &[], &PageRequest::first()).told()?;
        Ok::<_, Failure<Refused>>(page.items)
    });
    match looked.await {
        Err(problem) => answer::refused(&visit, &problem),
        Ok(all) => match &all[..] {
            [] => answer::lead_to(FOUNDING),
            [only] => answer::lead_to(Links::of(&only.company.issue_prefix).home()),
            all => answer::page(&CompaniesPage {
                look: Look::of(&visit),
                rows: all.iter().map(Row::of).collect(),
            }),
        },
    }
}

#[derive(Template)]
#[template(path = "pages/new_company.html")]
struct FoundingPage {
    look: Look,
    is_first: bool,
    form: Filled,
}

/// The form. Whoever may not found a company is not shown how.
fn founding(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    look: Look,
    form: &Filled,
) -> Gathered<FoundingPage> {
    ctx.require_board().map_err(Failure::Refused).told()?;
    let others = companies::list(reads, ctx, &[], &of(1)).told()?;
    Ok(FoundingPage {
        look,
        is_first: others.items.is_empty(),
        form: form.clone(),
    })
}

async fn form(visit: Visit) -> HttpResponse {
    let (look, form) = (Look::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| founding(reads, ctx, look, &form)).await
}

async fn found(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = founded(&visit, &form).await;
    let look = Look::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        founding(reads, ctx, look, filled)
    })
    .await
}

async fn founded(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: CreateCompany = form.command(FIELDS)?;
    let done = visit.act(
        form.key(),
        command,
        |tx, ctx, command: &CreateCompany| companies::create(tx, ctx, command.clone()),
        |made| Links::of(&made.company.issue_prefix).home().to_owned(),
    );
    done.await
}
