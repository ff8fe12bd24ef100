//! Founds a company in which scripts work, to look at.

use std::path::PathBuf;

use actix_web::HttpResponse;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use workforce_app::{Context, Failure, agents, companies, goals, issues, runs};
use workforce_domain::Document;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::Tx;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Told as _};
use crate::answer;
use crate::demo::{ENGINEER, MANAGER};
use crate::form::Form;
use crate::links::Links;

pub(super) fn register(pages: Pages) -> Pages {
    pages.post("/companies/demo", Access::Board, found)
}

async fn found(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    match founded(&visit, &form).await {
        Ok(place) => answer::lead_to(&place),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Founds the company, hires, files what is to be done, and wakes the manager, who does the rest.
/// Each is a transaction of its own, since rows are locked in one order.
async fn founded(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let begun = step(visit, form, "company", (), |tx, ctx, ()| {
        found_company(tx, ctx)
    });
    let (company, prefix) = begun.await?;
    // The scripts call the interface with this program.
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("workforce"));
    let program = program.to_string_lossy().into_owned();
    let manager = json!({
        "name": "Mara Manager", "role": "manager", "title": "Head of Letters",
        "adapterType": "process", "adapterConfig": {
            "command": "/bin/sh", "args": ["-c", MANAGER], "env": { "CLI": program },
        },
    });
    let manager = step(visit, form, "manager", manager, move |tx, ctx, it| {
        hire(tx, ctx, company, it)
    });
    let manager = manager.await?;
    // Only who stands above an agent hands it something out.
    let engineer = json!({
        "name": "Eli Engineer", "role": "engineer", "reportsTo": manager,
        "budgetMonthlyCents": 10, "adapterType": "process", "adapterConfig": {
            "command": "/bin/sh", "args": ["-c", ENGINEER], "env": { "CLI": program },
        },
    });
    step(visit, form, "engineer", engineer, move |tx, ctx, it| {
        hire(tx, ctx, company, it)
    })
    .await?;
    step(visit, form, "work", (), move |tx, ctx, ()| {
        file(tx, ctx, company)
    })
    .await?;
    let wake = move |tx: &mut dyn Tx, ctx: &Context<'_>, (): &()| {
        runs::invoke(tx, ctx, manager, Document::new())
            .told()
            .map(drop)
    };
    step(visit, form, "wake", (), wake).await?;
    Ok(Links::of(&prefix).home().to_owned())
}

/// Does one thing once, however often the form is sent.
async fn step<I: Send + 'static, T: Serialize + DeserializeOwned + Send + 'static>(
    visit: &Visit,
    form: &Form,
    name: &str,
    input: I,
    act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Gathered<T> + Send + 'static,
) -> Result<T, Problem> {
    let key = form.key().map(|key| format!("{key}-{name}"));
    visit.act(key.as_deref(), input, act, |done| done).await
}

/// Its id, and the prefix of its issues.
fn found_company(tx: &mut dyn Tx, ctx: &Context<'_>) -> Gathered<(CompanyId, String)> {
    let company = json!({ "name": "Morning Greetings", "description": "Greets people by letter." });
    let company = companies::create(tx, ctx, read(&company)?).told()?.company;
    Ok((company.id, company.issue_prefix))
}

fn hire(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    agent: &Value,
) -> Gathered<AgentId> {
    let command = door::new_agent(agent).map_err(|problem| refused(&problem))?;
    let made = agents::create(tx, ctx, company, command).told()?;
    Ok(made.view.agent.id)
}

fn file(tx: &mut dyn Tx, ctx: &Context<'_>, company: CompanyId) -> Gathered<()> {
    let goal = json!({ "title": "Everybody is greeted", "level": "company", "status": "active" });
    let goal = goals::create(tx, ctx, company, read(&goal)?).told()?.id;
    for (title, priority) in [("Write the greeting", "high"), ("Find paper", "low")] {
        let issue = json!({ "title": title, "priority": priority, "goalId": goal });
        issues::create(tx, ctx, company, read(&issue)?).told()?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(body: &Value) -> Gathered<T> {
    door::command(body).map_err(|problem| refused(&problem))
}

fn refused(problem: &Problem) -> Failure<super::Refused> {
    super::Refused::because(problem)
}
