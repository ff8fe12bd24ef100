//! The secrets of a company: what agents are given and nobody is shown.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::Context;
use workforce_app::secrets::{self, CreateSecret};
use workforce_domain::port::{Reads, SecretCursor, Tx};
use workforce_domain::secret::{Secret, SecretProvider};
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Told as _, form_answered, of, show};
use crate::cursor;
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many rows.
const SHOWN: usize = 50;

const PATH: &str = "/c/{prefix}/secrets";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, list)
        .post(PATH, Access::Board, make)
}

struct Row {
    name: String,
    link: String,
    what_for: String,
    provider: &'static str,
    version: String,
    changed: Ago,
}

#[derive(Template)]
#[template(path = "pages/secrets.html")]
struct SecretsPage {
    shell: Shell,
    rows: Vec<Row>,
    older: Option<String>,
    form: Filled,
}

/// Where the value of a secret is kept, in words.
pub(super) const fn kept(provider: SecretProvider) -> &'static str {
    match provider {
        SecretProvider::LocalEncrypted => "kept here, sealed",
        SecretProvider::Env => "a variable of the server",
        SecretProvider::File => "a file of the server",
    }
}

async fn list(visit: Visit) -> HttpResponse {
    let (asked, form) = (Asked::of(&visit), Filled::blank(&visit));
    let after = cursor::after::<SecretCursor>(&visit);
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, after, &form)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    after: Option<SecretCursor>,
    form: &Filled,
) -> Gathered<SecretsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let links = asked.links();
    let mut page = of(SHOWN);
    page.after = after;
    let found = secrets::list(reads, ctx, company.id, &page).told()?;
    let row = |secret: &Secret| Row {
        name: secret.name.to_string(),
        link: links.secret(secret.id),
        what_for: secret
            .description
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        provider: kept(secret.provider),
        version: match secret.latest_version {
            0 => String::new(),
            version => version.to_string(),
        },
        changed: Ago::new(secret.updated_at, ctx.now),
    };
    Ok(SecretsPage {
        rows: found.items.iter().map(row).collect(),
        older: cursor::older(&links.secrets(), found.next.as_ref()),
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "secrets")?,
    })
}

async fn make(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = made(&visit, &form).await;
    let asked = Asked::of(&visit);
    form_answered(
        &visit,
        form.without(is_value),
        done,
        move |reads, ctx, filled| gather(reads, ctx, &asked, None, filled),
    )
    .await
}

/// Whether a field holds the value of a secret, which no page shows.
pub(super) fn is_value(name: &str) -> bool {
    name == VALUE
}

const VALUE: &str = "value";

/// The value of a secret that was typed or pasted. What is one line does not end it: a line break
/// after a token comes from where it was copied.
pub(super) fn value(form: &Form) -> String {
    let text = form.exact(VALUE).unwrap_or_default();
    match text.strip_suffix('\n') {
        Some(line) if !line.contains('\n') => line.to_owned(),
        _ => text,
    }
}

async fn made(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let mut body = serde_json::Map::new();
    for name in ["name", "description", "provider", "externalRef", "tokenFor"] {
        let text = form.text(name);
        if !text.is_empty() {
            body.insert(name.to_owned(), text.replace("\r\n", "\n").into());
        }
    }
    let value = value(form);
    if !value.is_empty() {
        body.insert(VALUE.to_owned(), value.into());
    }
    body.entry("name").or_insert_with(|| "".into());
    let command = door::new_secret(&body.into())?;
    let asked = Asked::of(visit);
    let links = asked.links();
    let done = visit.act_sealed(
        form.key(),
        (asked, command),
        |tx, ctx, (asked, command)| create(tx, ctx, asked, command.clone()),
        move |secret| links.secret(secret.id),
    );
    done.await
}

fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    asked: &Asked,
    command: CreateSecret,
) -> Gathered<Secret> {
    let company = asked.company(tx.reads(), ctx)?;
    secrets::create(tx, ctx, company.id, command).told()
}
