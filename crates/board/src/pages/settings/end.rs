//! What stops a company, for a while or for good.

use actix_web::HttpResponse;
use workforce_app::{Code, Context, companies};
use workforce_domain::port::Tx;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{PATH, answered};
use crate::form::Form;
use crate::pages::{Gathered, Told as _};
use crate::shell::Asked;

pub(super) fn register(pages: Pages) -> Pages {
    pages.post(&format!("{PATH}/state"), Access::Board, switch)
}

/// What a button does to the company as a whole.
#[derive(Clone)]
enum Deed {
    Pause,
    Resume,
    Archive,
    Unarchive,
    /// For good.
    Delete,
}

async fn switch(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = switched(&visit, &form).await;
    answered(&visit, form, done, |forms, end| forms.end = end).await
}

async fn switched(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let asked = Asked::of(visit);
    let settings = asked.links().settings();
    let (deed, place) = match form.text("deed") {
        "resume" => (Deed::Resume, settings),
        "archive" => (Deed::Archive, settings),
        "unarchive" => (Deed::Unarchive, settings),
        "delete" => {
            require_name(visit, &asked, form.text("typed")).await?;
            (Deed::Delete, "/".to_owned())
        }
        _ => (Deed::Pause, settings),
    };
    let done = visit.act(form.key(), (asked, deed), carry_out, move |()| {
        place.clone()
    });
    done.await
}

/// Refuses unless the name of the company was typed.
async fn require_name(visit: &Visit, asked: &Asked, typed: &str) -> Result<(), Problem> {
    let asked = asked.clone();
    let found = visit.look(move |reads, ctx| asked.company(reads, ctx));
    if *found.await?.name == *typed {
        Ok(())
    } else {
        let message = "must be the name of the company";
        Err(door::fault(Code::InvalidField, "/typed", message))
    }
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, (asked, deed): &(Asked, Deed)) -> Gathered<()> {
    let company = asked.company(tx.reads(), ctx)?.id;
    match deed {
        Deed::Pause => companies::pause(tx, ctx, company).told().map(drop),
        Deed::Resume => companies::resume(tx, ctx, company).told().map(drop),
        Deed::Archive => companies::archive(tx, ctx, company).told().map(drop),
        Deed::Unarchive => companies::unarchive(tx, ctx, company).told().map(drop),
        Deed::Delete => companies::delete(tx, ctx, company).told(),
    }
}
