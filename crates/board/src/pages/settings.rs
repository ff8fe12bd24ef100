//! The settings of a company: its fields, its labels, and its end.

mod end;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::companies::{self, UpdateCompany};
use workforce_app::{Context, labels};
use workforce_domain::company::{Company, CompanyStatus};
use workforce_domain::id::LabelId;
use workforce_domain::label::IssueLabel;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Told as _, form_answered, of, show};
use crate::cursor;
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::money;
use crate::html::when;
use crate::shell::{Asked, Shell};

pub(super) const PATH: &str = "/c/{prefix}/settings";

/// So many labels.
const LABELS: usize = 50;

const FIELDS: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("description", Kind::OrNull),
    ("budgetMonthlyCents", Kind::Limit),
    ("budgetBasis", Kind::Text),
    ("requireBoardApprovalForNewAgents", Kind::Switch),
    ("reviewRequired", Kind::Switch),
    ("attachmentMaxBytes", Kind::Mebibytes),
    ("locale", Kind::OrNull),
    ("brandColor", Kind::OrNull),
];

pub(super) fn register(pages: Pages) -> Pages {
    let pages = pages
        .get(PATH, Access::Board, page)
        .post(PATH, Access::Board, save);
    end::register(pages)
}

/// What the address says of the page.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Query {
    /// The label after which the list goes on.
    after: String,
}

impl Query {
    pub(super) fn of(visit: &Visit) -> Self {
        serde_html_form::from_str(visit.query()).unwrap_or_default()
    }
}

struct Label {
    id: String,
    link: String,
    name: String,
    color: String,
    form: Filled,
}

#[derive(Template)]
#[template(path = "pages/settings.html")]
pub(super) struct SettingsPage {
    shell: Shell,
    link: String,
    /// Where the buttons lead that pause, archive or delete it.
    state: String,
    prefix: String,
    since: String,
    meter: Meter,
    is_active: bool,
    is_archived: bool,
    why_stopped: &'static str,
    labels: Vec<Label>,
    next: Option<String>,
    company: Filled,
    label: Filled,
    end: Filled,
}

/// The forms of the page.
#[derive(Clone, Default)]
pub(super) struct Forms {
    company: Filled,
    /// The form that makes a label.
    pub(super) label: Filled,
    /// The form of the label that was to be changed.
    pub(super) changed: Option<(LabelId, Filled)>,
    end: Filled,
    /// Under which the form of another label is taken once.
    key: String,
}

impl Forms {
    pub(super) fn blank(visit: &Visit) -> Self {
        Self {
            company: Filled::blank(visit),
            label: Filled::blank(visit),
            changed: None,
            end: Filled::blank(visit),
            key: visit.new_key(),
        }
    }
}

async fn page(visit: Visit) -> HttpResponse {
    let (asked, query) = (Asked::of(&visit), Query::of(&visit));
    let forms = Forms::blank(&visit);
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &query, &forms)
    })
    .await
}

pub(super) fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    query: &Query,
    forms: &Forms,
) -> Gathered<SettingsPage> {
    let company = &asked.company(reads, ctx)?;
    let ctx = &ctx.within(company);
    let view = companies::get(reads, ctx, company.id).told()?;
    let wanted = PageRequest {
        after: cursor::place(&query.after),
        ..of(LABELS)
    };
    let found = labels::list(reads, ctx, company.id, &wanted).told()?;
    let link = asked.links().settings();
    Ok(SettingsPage {
        prefix: company.issue_prefix.clone(),
        since: when::date(company.created_at),
        meter: Meter::new(view.spend, company.budget, company.budget_basis),
        is_active: company.is_active(),
        is_archived: company.status() == CompanyStatus::Archived,
        why_stopped: why_stopped(company),
        labels: found
            .items
            .iter()
            .map(|it| label(&link, forms, it))
            .collect(),
        next: found
            .next
            .map(|next| format!("{link}?after={}#labels", cursor::mark(&next))),
        company: forms.company.clone().showing(&present(company)),
        label: forms
            .label
            .clone()
            .showing(&[("color", "#5d676d".to_owned())]),
        end: forms.end.clone(),
        state: format!("{link}/state"),
        link,
        shell: Shell::gather(reads, ctx, asked, company, "settings")?,
    })
}

fn label(settings: &str, forms: &Forms, label: &IssueLabel) -> Label {
    let changed = forms.changed.as_ref().filter(|(of, _)| *of == label.id);
    let form = changed.map_or_else(|| Filled::with_key(&forms.key), |(_, form)| form.clone());
    let (name, color) = (label.name.to_string(), label.color.to_string());
    Label {
        id: label.id.to_string(),
        link: format!("{settings}/labels/{}", label.id),
        form: form.showing(&[("name", name.clone()), ("color", color.clone())]),
        name,
        color,
    }
}

/// Why nothing of the company starts.
fn why_stopped(company: &Company) -> &'static str {
    match company.status() {
        CompanyStatus::Active => "",
        CompanyStatus::Paused => "The company is paused: nothing of it starts.",
        CompanyStatus::Archived => {
            "The company is archived: it shows in no list, and nothing of \
                                    it starts."
        }
    }
}

/// What the fields of the form are now.
fn present(company: &Company) -> Vec<(&'static str, String)> {
    let tick = |is_on| {
        if is_on {
            "on".to_owned()
        } else {
            String::new()
        }
    };
    let text = |text: Option<String>| text.unwrap_or_default();
    let limit = company.attachment_limit.map(|it| it.bytes() >> 20);
    vec![
        ("name", company.name.to_string()),
        (
            "description",
            text(company.description.as_ref().map(ToString::to_string)),
        ),
        ("budgetMonthlyCents", money::typed(company.budget.cents())),
        ("budgetBasis", company.budget_basis.as_str().to_owned()),
        (
            "requireBoardApprovalForNewAgents",
            tick(company.require_board_approval_for_new_agents),
        ),
        ("reviewRequired", tick(company.review_required)),
        ("attachmentMaxBytes", text(limit.map(|it| it.to_string()))),
        (
            "locale",
            text(company.locale.as_ref().map(ToString::to_string)),
        ),
        (
            "brandColor",
            text(company.brand_color.as_ref().map(ToString::to_string)),
        ),
    ]
}

async fn save(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = saved(&visit, &form).await;
    answered(&visit, form, done, |forms, company| forms.company = company).await
}

async fn saved(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: UpdateCompany = form.command(FIELDS)?;
    let asked = Asked::of(visit);
    let place = asked.links().settings();
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx: &mut dyn Tx, ctx, (asked, command): &(Asked, UpdateCompany)| {
            let company = asked.company(tx.reads(), ctx)?.id;
            companies::update(tx, ctx, company, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}

/// Leads to where a form led to, or shows the page again with the form that was refused.
pub(super) async fn answered(
    visit: &Visit,
    form: Form,
    done: Result<String, Problem>,
    put: impl Fn(&mut Forms, Filled) + Send + 'static,
) -> HttpResponse {
    let (asked, query, blank) = (Asked::of(visit), Query::of(visit), Forms::blank(visit));
    form_answered(visit, form, done, move |reads, ctx, filled| {
        let mut forms = blank.clone();
        put(&mut forms, filled.clone());
        gather(reads, ctx, &asked, &query, &forms)
    })
    .await
}
