//! The forms of labels, which are a part of the settings.

use actix_web::HttpResponse;
use workforce_app::labels::{self, CreateLabel, UpdateLabel};
use workforce_app::{Code, Context};
use workforce_domain::id::LabelId;
use workforce_domain::port::Tx;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::settings::{self, answered};
use super::{Gathered, Told as _};
use crate::form::{Form, Kind};
use crate::shell::Asked;

const FIELDS: &[(&str, Kind)] = &[("name", Kind::Text), ("color", Kind::Text)];

pub(super) fn register(pages: Pages) -> Pages {
    let all = format!("{}/labels", settings::PATH);
    pages
        .post(&all, Access::Board, make)
        .post(&format!("{all}/{{label}}"), Access::Board, change)
}

fn place(asked: &Asked) -> String {
    format!("{}#labels", asked.links().settings())
}

async fn make(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = made(&visit, &form).await;
    answered(&visit, form, done, |forms, label| forms.label = label).await
}

async fn made(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: CreateLabel = form.command(FIELDS)?;
    let asked = Asked::of(visit);
    let place = place(&asked);
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx: &mut dyn Tx, ctx, (asked, command): &(Asked, CreateLabel)| {
            let company = asked.company(tx.reads(), ctx)?.id;
            labels::create(tx, ctx, company, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}

/// The label that an address names, and what becomes of it; `None` for its end.
struct Wanted {
    asked: Asked,
    label: LabelId,
    command: Option<UpdateLabel>,
}

async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = changed(&visit, &form).await;
    let label: Option<LabelId> = visit.parameter("label").parse().ok();
    answered(&visit, form, done, move |forms, form| {
        forms.changed = label.map(|label| (label, form));
    })
    .await
}

async fn changed(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let label = visit.parameter("label").parse();
    let missing = |_| Problem::new(Code::NotFound, "no such label");
    let wanted = Wanted {
        asked: Asked::of(visit),
        label: label.map_err(missing)?,
        command: match form.text("deed") {
            "delete" => None,
            _ => Some(form.command(FIELDS)?),
        },
    };
    let place = place(&wanted.asked);
    let done = visit.act(form.key(), wanted, carry_out, move |()| place.clone());
    done.await
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, wanted: &Wanted) -> Gathered<()> {
    let company = wanted.asked.company(tx.reads(), ctx)?.id;
    let label = labels::get(tx.reads(), ctx, company, wanted.label)
        .told()?
        .id;
    match &wanted.command {
        Some(command) => labels::update(tx, ctx, label, command.clone())
            .told()
            .map(drop),
        None => labels::delete(tx, ctx, label).told(),
    }
}
