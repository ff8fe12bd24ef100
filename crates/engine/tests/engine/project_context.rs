use std::path::Path;

use workforce_app::conventions::{self, UpdateConventions};
use workforce_app::projects;
use workforce_domain::change::Change;
use workforce_domain::id::ProjectId;
use workforce_domain::run::RunStatus;
use workforce_domain::text::{Description, Name};

use crate::support::{House, eventually};

fn project(house: &House) -> ProjectId {
    let command = projects::CreateProject {
        goal_id: None,
        name: Name::parse("Site").expect("a name"),
        description: None,
        status: None,
        goal_ids: Some(Vec::new()),
        lead_agent_id: None,
        target_date: None,
        color: None,
        review_required: Some(false),
        governance: None,
        remote_required: None,
        budget_monthly_cents: None,
        budget_total_cents: None,
        workspace: None,
    };
    house
        .act(|tx, ctx| projects::create(tx, ctx, house.company, command.clone()))
        .project
        .id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_about_its_project_in_a_file_of_its_own() {
    let house = House::new();
    let engine = house.start();
    let project = project(&house);
    let rules = |text: &str| UpdateConventions {
        backstory: Change::Set(Description::parse("Once.").expect("a text")),
        conventions_md: Change::Set(Description::parse(text).expect("a text")),
        ..UpdateConventions::default()
    };
    house.act(|tx, ctx| conventions::update(tx, ctx, project, rules("- old")));
    house.act(|tx, ctx| conventions::compact(tx, ctx, project, 400));
    house.act(|tx, ctx| conventions::update(tx, ctx, project, rules("- Never push.")));
    // The work is left undone, and the agent reminded of it.
    let script = "[ -e path ] && exit; echo \"$WORKFORCE_PROJECT_CONTEXT_FILE\" > path; \
        stat -c %a \"$WORKFORCE_PROJECT_CONTEXT_FILE\" > mode; \
        cp \"$WORKFORCE_PROJECT_CONTEXT_FILE\" context";
    let agent = house.hire_shell(script);
    house.assign(agent, |issue| issue.project_id = Some(project));
    let runs = house.all_ended().await;
    assert_eq!(
        (runs[0].status, &runs[0].error),
        (RunStatus::Succeeded, &None)
    );
    let read = |name: &str| std::fs::read_to_string(house.path(name)).expect(name);
    // The short form was stale, and so made anew.
    assert_eq!(
        read("context"),
        "# Project conventions\n\nOnce.\n\n- Never push.\n"
    );
    assert_eq!(read("mode").trim(), "400");
    let path = read("path");
    let mut files = runs.iter().map(|run| format!("{}/project.md", run.id));
    assert!(files.any(|file| path.trim().ends_with(&file)), "{path}");
    eventually("it goes with its run", || {
        (!Path::new(path.trim()).exists()).then_some(())
    })
    .await;
    engine.shutdown().await;
}
