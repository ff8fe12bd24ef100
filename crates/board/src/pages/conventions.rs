//! What the agents of a project are told before they work, and the short form of it.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::compaction::{DEFAULT_LIMIT, LONGEST_LIMIT, SHORTEST_LIMIT};
use workforce_app::conventions::{self, UpdateConventions};
use workforce_app::{Code, Context};
use workforce_domain::conventions::CompactSource;
use workforce_domain::port::{Reads, Tx};
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::project::{self, About, Head};
use super::{Gathered, Told as _, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::when;
use crate::shell::Shell;

const WRITTEN: &[(&str, Kind)] = &[("backstory", Kind::OrNull), ("conventionsMd", Kind::OrNull)];

/// The short form, written by hand.
const SHORTENED: &[(&str, Kind)] = &[("compactContext", Kind::OrNull)];

pub(super) fn register(pages: Pages) -> Pages {
    let path = format!("{}/conventions", project::PATH);
    pages
        .get(&path, Access::Board, page)
        .post(&path, Access::Board, write)
}

/// The short form as the page shows it.
struct Short {
    text: Prose,
    characters: usize,
    origin: &'static str,
    is_stale: bool,
}

#[derive(Template)]
#[template(path = "pages/conventions.html")]
struct ConventionsPage {
    shell: Shell,
    head: Head,
    link: String,
    changed: Option<String>,
    short: Option<Short>,
    /// How long the text is that the short form stands for.
    characters: usize,
    form: Filled,
}

fn place(visit: &Visit) -> String {
    format!("{}/conventions", About::of(visit).link())
}

async fn page(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<ConventionsPage> {
    let (company, view) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = view.project.id;
    let links = about.asked.links();
    let told = conventions::get(reads, ctx, id).told()?;
    let text = &told.conventions;
    let compact = text.compact.as_ref();
    let short = compact.map(|compact| Short {
        text: Prose::new(&compact.text),
        characters: compact.text.chars().count(),
        origin: match compact.origin.source() {
            CompactSource::Manual => "written by hand",
            CompactSource::Generated => "picked from the text",
        },
        is_stale: told.compact_stale,
    });
    let by_hand = compact.map_or_else(String::new, |compact| compact.text.to_string());
    Ok(ConventionsPage {
        head: Head::new(&links, &view.project, "Conventions"),
        link: links.conventions(id),
        changed: text.updated_at.map(when::date),
        short,
        characters: text.backstory.chars().count() + text.conventions_md.chars().count(),
        form: form
            .clone()
            .showing(&[
                ("backstory", text.backstory.to_string()),
                ("conventionsMd", text.conventions_md.to_string()),
            ])
            .showing(&[("compactContext", by_hand)])
            .showing(&[("maxChars", DEFAULT_LIMIT.to_string())]),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "projects")?,
    })
}

/// What a form of the page does.
#[derive(Clone)]
enum Deed {
    Write(UpdateConventions),
    Compact(usize),
}

async fn write(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = written(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

async fn written(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = match form.text("deed") {
        "compact" => Deed::Compact(max_chars(form.text("maxChars"))?),
        "shorten" => Deed::Write(form.command(SHORTENED)?),
        _ => Deed::Write(form.command(WRITTEN)?),
    };
    let place = place(visit);
    let done = visit.act(form.key(), (About::of(visit), deed), carry_out, move |()| {
        place.clone()
    });
    done.await
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, (about, deed): &(About, Deed)) -> Gathered<()> {
    let (_, view) = about.find(tx.reads(), ctx)?;
    let id = view.project.id;
    let done = match deed {
        Deed::Write(command) => conventions::update(tx, ctx, id, command.clone()),
        Deed::Compact(max_chars) => conventions::compact(tx, ctx, id, *max_chars),
    };
    done.told().map(drop)
}

fn max_chars(text: &str) -> Result<usize, Problem> {
    let limit = text.parse().ok();
    limit
        .filter(|limit| (SHORTEST_LIMIT..=LONGEST_LIMIT).contains(limit))
        .ok_or_else(|| {
            let message =
                format!("must be a whole number from {SHORTEST_LIMIT} to {LONGEST_LIMIT}");
            door::fault(Code::InvalidField, "/maxChars", &message)
        })
}
