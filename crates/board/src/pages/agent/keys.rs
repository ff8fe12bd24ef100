//! The keys with which an agent asks the interface outside of its runs.

use actix_web::HttpResponse;
use askama::Template;
use serde::{Deserialize, Serialize};
use workforce_app::{Context, agents};
use workforce_domain::agent::AgentKey;
use workforce_domain::id::AgentKeyId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Reads;
use workforce_domain::text::Name;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::super::{Gathered, Refused, Told as _, show};
use super::{About, Head};
use crate::answer;
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::when::Ago;
use crate::shell::Shell;

const PATH: &str = "/c/{prefix}/agents/{agent}/keys";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, list)
        .post(PATH, Access::Board, act)
}

/// A key in the list.
struct Row {
    id: String,
    name: String,
    prefix: String,
    made: Ago,
    used: Option<Ago>,
    revoked: Option<Ago>,
}

/// A key that was just made, with its value. It is shown on the answer to its form alone.
#[derive(Clone, Serialize, Deserialize)]
struct Made {
    name: String,
    value: String,
}

#[derive(Template)]
#[template(path = "pages/agent/keys.html")]
struct KeysPage {
    shell: Shell,
    head: Head,
    rows: Vec<Row>,
    made: Option<Made>,
    form: Filled,
}

async fn list(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &about, &form, None)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
    made: Option<Made>,
) -> Gathered<KeysPage> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = detail.view.agent.id;
    let found = agents::keys(reads, ctx, id, &PageRequest::first()).told()?;
    let row = |key: &AgentKey| Row {
        id: key.id.to_string(),
        name: key.name.to_string(),
        prefix: key.prefix.clone(),
        made: Ago::new(key.created_at, ctx.now),
        used: key.last_used_at.map(|at| Ago::new(at, ctx.now)),
        revoked: key.revoked_at.map(|at| Ago::new(at, ctx.now)),
    };
    Ok(KeysPage {
        head: Head::of(&detail, &about.asked.links(), "keys"),
        // The last one is looked for first.
        rows: found.items.iter().rev().map(row).collect(),
        made,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = match form.text("deed") {
        "revoke" => revoked(&visit, &form).await.map(|()| None),
        _ => made(&visit, &form).await.map(Some),
    };
    let (filled, made, status) = match done {
        Ok(None) => return answer::lead_to(visit.path()),
        Ok(Some(made)) => (Filled::blank(&visit), Some(made), None),
        Err(problem) => {
            let filled = Filled::refused(form, &problem, &visit);
            (filled, None, Some(problem.status()))
        }
    };
    let about = About::of(&visit);
    let looked = visit.look(move |reads, ctx| gather(reads, ctx, &about, &filled, made.clone()));
    match (looked.await, status) {
        (Ok(page), None) => answer::page(&page),
        (Ok(page), Some(status)) => answer::with_status(status, &page),
        (Err(problem), _) => answer::refused(&visit, &problem),
    }
}

/// What a key is for.
#[derive(Deserialize)]
struct Named {
    name: Name,
}

async fn made(visit: &Visit, form: &Form) -> Result<Made, Problem> {
    let named: Named = form.command(&[("name", Kind::Exact)])?;
    let done = visit.act_sealed(
        form.key(),
        (About::of(visit), named.name),
        |tx, ctx, (about, name)| {
            let id = about.id(tx.reads(), ctx)?;
            agents::create_key(tx, ctx, id, name.clone()).told()
        },
        |created| Made {
            name: created.key.name.to_string(),
            value: created.token,
        },
    );
    done.await
}

async fn revoked(visit: &Visit, form: &Form) -> Result<(), Problem> {
    let key: Option<AgentKeyId> = form.text("keyId").parse().ok();
    let done = visit.act(
        form.key(),
        (About::of(visit), key),
        |tx, ctx, (about, key)| {
            let id = about.id(tx.reads(), ctx)?;
            let key = key.ok_or_else(|| Refused::missing("agent key"))?;
            agents::revoke_key(tx, ctx, id, key).told().map(drop)
        },
        |()| (),
    );
    done.await
}
