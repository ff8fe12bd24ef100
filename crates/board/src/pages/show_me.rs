//! Founds a company in which scripts work, to look at.

use std::path::PathBuf;

use actix_web::HttpResponse;
use serde_json::json;
use workforce_app::{Context, Failure, agents, companies, goals, issues, runs};
use workforce_domain::Document;
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

async fn founded(visit: &Visit, form: &Form) -> Result<String, Problem> {
    // The scripts call the interface with this program.
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("workforce"));
    let done = visit.act(
        form.key(),
        program.to_string_lossy().into_owned(),
        |tx, ctx, program: &String| begin(tx, ctx, program),
        |prefix| Links::of(&prefix).home().to_owned(),
    );
    done.await
}

/// Founds the company, and wakes its manager, who does the rest.
fn begin(tx: &mut dyn Tx, ctx: &Context<'_>, program: &str) -> Gathered<String> {
    let company = json!({ "name": "Morning Greetings", "description": "Greets people by letter." });
    let company = companies::create(tx, ctx, read(&company)?).told()?.company;
    let mut hire = |body: serde_json::Value| {
        let command = door::new_agent(&body).map_err(|problem| refused(&problem))?;
        let made = agents::create(tx, ctx, company.id, command).told()?;
        Ok::<_, Failure<_>>(made.view.agent.id)
    };
    let engineer = hire(json!({
        "name": "Eli Engineer", "role": "engineer", "budgetMonthlyCents": 10,
        "adapterType": "process", "adapterConfig": {
            "command": "/bin/sh", "args": ["-c", ENGINEER], "env": { "CLI": program },
        },
    }))?;
    let manager = hire(json!({
        "name": "Mara Manager", "role": "manager", "title": "Head of Letters",
        "adapterType": "process", "adapterConfig": {
            "command": "/bin/sh", "args": ["-c", MANAGER],
            "env": { "CLI": program, "ENGINEER_ID": engineer },
        },
    }))?;
    let goal = json!({ "title": "Everybody is greeted", "level": "company", "status": "active" });
    let goal = goals::create(tx, ctx, company.id, read(&goal)?).told()?.id;
    for (title, priority) in [("Write the greeting", "high"), ("Find paper", "low")] {
        let issue = json!({ "title": title, "priority": priority, "goalId": goal });
        issues::create(tx, ctx, company.id, read(&issue)?).told()?;
    }
    runs::invoke(tx, ctx, manager, Document::new()).told()?;
    Ok(company.issue_prefix)
}

fn read<T: serde::de::DeserializeOwned>(body: &serde_json::Value) -> Gathered<T> {
    door::command(body).map_err(|problem| refused(&problem))
}

fn refused(problem: &Problem) -> Failure<super::Refused> {
    super::Refused::because(problem)
}
