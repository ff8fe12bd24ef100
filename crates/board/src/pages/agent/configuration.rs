//! How an agent is set up, as a form.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::agents::{self, UpdateAgent};
use workforce_app::{Code, Context, secrets};
use workforce_domain::instructions::BundlePointer;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, RevisionCursor};
use workforce_domain::revision::AgentConfig;
use workforce_domain::text::SecretName;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::super::agent_form::{
    AgentForm, Findings, adapter_body, body, by_field, inline_names, is_inline_value, values,
};
use super::super::{Gathered, Told as _, everyone, show};
use super::conflict::{Merged, merged};
use super::{About, Head};
use crate::answer;
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::shell::Shell;

const PATH: &str = "/c/{prefix}/agents/{agent}/configuration";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, configuration)
        .post(PATH, Access::Board, act)
}

#[derive(Template)]
#[template(path = "pages/agent/configuration.html")]
struct ConfigurationPage {
    shell: Shell,
    head: Head,
    /// What was last changed of what the form shows.
    revision: i32,
    agent: AgentForm,
    /// What somebody else changed meanwhile.
    merged: Option<Merged>,
    /// Variables with a value of their own.
    inline: Vec<String>,
    form: Filled,
}

/// What the form shows beside what is stored.
#[derive(Clone)]
struct Typed {
    filled: Filled,
    /// Whether somebody filled it in.
    is_filled: bool,
    findings: Option<Findings>,
    /// The revision that was changed, where another one is stored by now.
    overtaken: Option<i32>,
}

impl Typed {
    /// Values of variables are sent once, and not shown again.
    fn again(form: Form, visit: &Visit) -> Self {
        Self {
            filled: Filled::of(form.without(is_inline_value), visit),
            is_filled: true,
            findings: None,
            overtaken: None,
        }
    }

    fn refused(form: Form, problem: &Problem, visit: &Visit) -> Self {
        let seen = form.text("revision").parse().ok();
        let is_overtaken = problem.code() == Code::RevisionConflict;
        Self {
            filled: Filled::refused(form.without(is_inline_value), problem, visit),
            overtaken: seen.filter(|_| is_overtaken),
            is_filled: true,
            findings: None,
        }
    }
}

async fn configuration(visit: Visit) -> HttpResponse {
    let about = About::of(&visit);
    let typed = Typed {
        filled: Filled::blank(&visit),
        is_filled: false,
        findings: None,
        overtaken: None,
    };
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &typed)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    typed: &Typed,
) -> Gathered<ConfigurationPage> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let agent = &detail.view.agent;
    let config = AgentConfig::of(agent, BundlePointer::default());
    let colleagues = everyone(reads, ctx, agent.company, false)?;
    let known = secrets::list(reads, ctx, agent.company, &PageRequest::first()).told()?;
    let stored = values(&config, Some(agent.can_create_agents));
    let (mut form, mut meanwhile) = (typed.filled.form().clone(), None);
    if let Some(seen) = typed.overtaken {
        let base = revision(reads, ctx, about, seen)?;
        let merged = merged(form, base.as_ref(), &config, agent.can_create_agents);
        form = merged.form.clone();
        meanwhile = Some(merged);
    }
    for (name, value) in stored {
        let is_missing = form.exact(&name).is_none();
        if is_missing && !(typed.is_filled && name.starts_with("env/")) {
            form = form.with(&name, &value);
        }
    }
    let seen = form.text("revision").parse().ok();
    let form = typed.filled.clone().with_form(form);
    Ok(ConfigurationPage {
        head: Head::of(&detail, &about.asked.links(), "configuration"),
        revision: match (&meanwhile, seen) {
            (None, Some(seen)) => seen,
            _ => detail.revision,
        },
        agent: AgentForm::new(
            &form,
            &colleagues,
            Some(agent.id),
            &known.items,
            Some(&config),
            typed.findings.clone(),
        ),
        merged: meanwhile,
        inline: inline_names(&config),
        form,
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}

/// The configuration that somebody saw.
fn revision(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    seen: i32,
) -> Gathered<Option<AgentConfig>> {
    let id = about.id(reads, ctx)?;
    let page = PageRequest {
        after: Some(RevisionCursor {
            n: seen.saturating_add(1),
        }),
        limit: 1,
        ..PageRequest::first()
    };
    let found = agents::revisions(reads, ctx, id, &page).told()?;
    let found = found.items.into_iter().find(|view| view.revision.n == seen);
    Ok(found.map(|view| view.after))
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    match form.text("deed") {
        "check" => check(&visit, form).await,
        // The fields of another program.
        "adapter" => answered(&visit, None, Typed::again(form, &visit)).await,
        "secret" => {
            let done = made_secret(&visit, &form).await;
            done_or_refused(&visit, form, done).await
        }
        _ => {
            let done = saved(&visit, &form).await;
            done_or_refused(&visit, form, done).await
        }
    }
}

async fn done_or_refused(visit: &Visit, form: Form, done: Result<(), Problem>) -> HttpResponse {
    match done {
        Ok(()) => answer::lead_to(visit.path()),
        Err(problem) => {
            let typed = Typed::refused(form, &problem, visit);
            answered(visit, Some(&problem), typed).await
        }
    }
}

async fn answered(visit: &Visit, problem: Option<&Problem>, typed: Typed) -> HttpResponse {
    let about = About::of(visit);
    let looked = visit.look(move |reads, ctx| gather(reads, ctx, &about, &typed));
    match (looked.await, problem) {
        (Ok(page), None) => answer::page(&page),
        (Ok(page), Some(problem)) => answer::with_status(problem.status(), &page),
        (Err(problem), _) => answer::refused(visit, &problem),
    }
}

/// What is stored, to tell what the form changes.
async fn stored(visit: &Visit) -> Result<(AgentConfig, bool), Problem> {
    let about = About::of(visit);
    let looked = visit.look(move |reads, ctx| {
        let agent = about.find(reads, ctx)?.1.view.agent;
        let config = AgentConfig::of(&agent, BundlePointer::default());
        Gathered::Ok((config, agent.can_create_agents))
    });
    looked.await
}

async fn saved(visit: &Visit, form: &Form) -> Result<(), Problem> {
    let (config, may_hire) = stored(visit).await?;
    // Nothing is changed but what was shown.
    let seen: Option<i32> = form.text("revision").parse().ok();
    let change = UpdateAgent {
        if_match: Some(seen.into_iter().collect()),
        ..door::changed_agent(&body(form, Some(&config), Some(may_hire))?)?
    };
    let done = visit.act_sealed(
        form.key(),
        (About::of(visit), change),
        |tx, ctx, (about, change)| {
            let id = about.id(tx.reads(), ctx)?;
            agents::update(tx, ctx, id, change.clone()).told().map(drop)
        },
        |()| (),
    );
    done.await
}

async fn check(visit: &Visit, form: Form) -> HttpResponse {
    match checked(visit, &form).await {
        Ok(findings) => {
            let typed = Typed {
                findings: Some(findings),
                ..Typed::again(form, visit)
            };
            answered(visit, None, typed).await
        }
        Err(problem) => {
            let typed = Typed::refused(form, &problem, visit);
            answered(visit, Some(&problem), typed).await
        }
    }
}

async fn checked(visit: &Visit, form: &Form) -> Result<Findings, Problem> {
    let (config, _) = stored(visit).await?;
    let change = door::change_of_adapter(&adapter_body(form, Some(&config))?)?;
    let about = About::of(visit);
    let checked = visit.check_adapter(move |reads, ctx| {
        let id = about.id(reads, ctx)?;
        agents::change_to_check(reads, ctx, id, &change).told()
    });
    Ok(by_field(&checked.await?))
}

/// How the secret is to be called that a value becomes.
#[derive(Deserialize)]
struct Named {
    name: Option<SecretName>,
}

/// Makes a secret of the value of a variable.
async fn made_secret(visit: &Visit, form: &Form) -> Result<(), Problem> {
    let named: Named = form.command(&[("name", Kind::Text)])?;
    let variable = form.text("variable").to_owned();
    let done = visit.act(
        form.key(),
        (About::of(visit), variable, named),
        |tx, ctx, (about, variable, named)| {
            let id = about.id(tx.reads(), ctx)?;
            secrets::convert(tx, ctx, id, variable, named.name.clone())
                .told()
                .map(drop)
        },
        |()| (),
    );
    done.await
}
