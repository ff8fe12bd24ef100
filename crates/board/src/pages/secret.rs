//! One secret: its versions, who uses it, and who breaks without it.

use actix_web::HttpResponse;
use askama::Template;
use serde_json::json;
use workforce_app::Context;
use workforce_app::secrets::{self, UpdateSecret};
use workforce_domain::company::Company;
use workforce_domain::id::SecretId;
use workforce_domain::port::{Reads, SecretUser, Tx};
use workforce_domain::secret::{Secret, SecretProvider};
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::secrets::{is_value, kept, value};
use super::{Gathered, Refused, Told as _, form_answered, of, show};
use crate::cursor;
use crate::form::{Filled, Form, Kind, fault};
use crate::html::filters;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many versions.
const SHOWN: usize = 50;
/// So many uses by runs.
const USES: usize = 50;

const PATH: &str = "/c/{prefix}/secrets/{secret}";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, secret)
        .post(PATH, Access::Board, act)
}

struct Version {
    number: i32,
    made: Ago,
    is_newest: bool,
    /// Who is pinned to it.
    pinned: String,
}

struct User {
    name: String,
    link: String,
    variable: String,
    version: String,
}

struct Use {
    run: String,
    short: String,
    variable: String,
    version: i32,
    at: Ago,
}

#[derive(Template)]
#[template(path = "pages/secret.html")]
struct SecretPage {
    shell: Shell,
    link: String,
    name: String,
    description: String,
    token_for: String,
    provider: &'static str,
    place: String,
    is_here: bool,
    made: Ago,
    changed: Ago,
    versions: Vec<Version>,
    older: Option<String>,
    users: Vec<User>,
    /// How many agents would break, as it is shown.
    breaks: usize,
    uses: Vec<Use>,
    form: Filled,
}

/// The secret that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    id: Option<SecretId>,
    after: Option<i32>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            id: visit.parameter("secret").parse().ok(),
            after: cursor::after(visit),
        }
    }

    /// The company in the address, and the secret if it is one of that.
    fn find(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<(Company, Secret)> {
        let missing = || Refused::missing("secret");
        let company = self.asked.company(reads, ctx)?;
        let secret = secrets::get(reads, ctx, self.id.ok_or_else(missing)?).told()?;
        if secret.company == company.id {
            Ok((company, secret))
        } else {
            Err(missing())
        }
    }
}

async fn secret(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<SecretPage> {
    let (company, secret) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let links = about.asked.links();
    let link = links.secret(secret.id);
    let mut page = of(SHOWN);
    page.after = about.after;
    let versions = secrets::versions(reads, ctx, secret.id, &page).told()?;
    let usage = secrets::usage(reads, ctx, secret.id).told()?;
    let text = |text: Option<String>| text.unwrap_or_default();
    let user = |user: &SecretUser| User {
        name: user.name.to_string(),
        link: links.agent(&user.agent.to_string()),
        variable: user.variable.clone(),
        version: match user.pinned {
            None => "the newest".to_owned(),
            Some(version) => format!("version {version}"),
        },
    };
    Ok(SecretPage {
        name: secret.name.to_string(),
        description: text(secret.description.as_ref().map(ToString::to_string)),
        token_for: text(secret.token_for.as_ref().map(ToString::to_string)),
        provider: kept(secret.provider),
        place: text(
            secret
                .external_ref
                .as_ref()
                .map(|it| it.as_str().to_owned()),
        ),
        is_here: secret.provider == SecretProvider::LocalEncrypted,
        made: Ago::new(secret.created_at, ctx.now),
        changed: Ago::new(secret.updated_at, ctx.now),
        versions: versions
            .items
            .iter()
            .map(|version| Version {
                number: version.version,
                made: Ago::new(version.created_at, ctx.now),
                is_newest: version.version == secret.latest_version,
                pinned: pinned(&usage.agents, version.version),
            })
            .collect(),
        older: cursor::older(&link, versions.next.as_ref()),
        users: usage.agents.iter().map(user).collect(),
        breaks: usage.agents.len(),
        uses: usage
            .runs
            .iter()
            .take(USES)
            .map(|given| Use {
                run: links.run(given.run),
                short: given.run.to_string().chars().take(8).collect(),
                variable: given.variable.clone(),
                version: given.version,
                at: Ago::new(given.used_at, ctx.now),
            })
            .collect(),
        link,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "secrets")?,
    })
}

/// The agents that are pinned to a version.
fn pinned(users: &[SecretUser], version: i32) -> String {
    let users = users.iter().filter(|user| user.pinned == Some(version));
    let names: Vec<_> = users.map(|user| user.name.to_string()).collect();
    names.join(", ")
}

/// What a form of the page does.
enum Deed {
    Change(UpdateSecret),
    DeleteVersion(i32),
    /// With the name that was typed, and how many uses were shown.
    Delete {
        typed: String,
        shown: usize,
    },
}

impl Deed {
    fn of(form: &Form) -> Result<Self, Problem> {
        Ok(match form.text("deed") {
            "rotate" => {
                let value = value(form);
                if value.is_empty() {
                    return Err(fault("value", "type the new value"));
                }
                Self::Change(door::command(&json!({ "value": value }))?)
            }
            "delete-version" => Self::DeleteVersion(form.text("version").parse().unwrap_or(0)),
            "delete" => Self::Delete {
                typed: form.text("confirm").to_owned(),
                shown: form.text("breaks").parse().unwrap_or(0),
            },
            _ => Self::Change(form.command(&[
                ("name", Kind::Exact),
                ("description", Kind::OrNull),
                ("tokenFor", Kind::OrNull),
                ("externalRef", Kind::Text),
            ])?),
        })
    }

    /// Whether it was done, or the name was not the one that is to be typed.
    fn carry_out(&self, tx: &mut dyn Tx, ctx: &Context<'_>, about: &About) -> Gathered<bool> {
        let (_company, secret) = about.find(tx.reads(), ctx)?;
        let id = secret.id;
        match self {
            Self::Change(change) => secrets::update(tx, ctx, id, change.clone())
                .told()
                .map(drop)?,
            Self::DeleteVersion(version) => {
                secrets::delete_version(tx, ctx, id, *version).told()?;
            }
            Self::Delete { typed, .. } if *typed != secret.name.to_string() => return Ok(false),
            Self::Delete { shown, .. } => {
                // Nobody breaks who was not shown.
                let users = secrets::usage(tx.reads(), ctx, id).told()?.agents.len();
                secrets::delete(tx, ctx, id, users <= *shown).told()?;
            }
        }
        Ok(true)
    }
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = done(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(
        &visit,
        form.without(is_value),
        done,
        move |reads, ctx, filled| gather(reads, ctx, &about, filled),
    )
    .await
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = Deed::of(form)?;
    let about = About::of(visit);
    let place = match deed {
        Deed::Delete { .. } => about.asked.links().secrets(),
        _ => visit.path().to_owned(),
    };
    let done = visit.act_sealed(
        form.key(),
        (about, deed),
        |tx, ctx, (about, deed)| deed.carry_out(tx, ctx, about),
        |is_done| is_done,
    );
    if done.await? {
        Ok(place)
    } else {
        Err(fault(
            "confirm",
            "type the name of the secret as it is shown",
        ))
    }
}
