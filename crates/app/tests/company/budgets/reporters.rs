//! Who may report a cost, and where it is booked (docs/budgets.md#cost-events).

use workforce_app::costs::ReportCost;
use workforce_app::issues::CreateIssue;
use workforce_app::{Code, Refusal};
use workforce_domain::agent::Agent;
use workforce_domain::company::Company;
use workforce_domain::cost::CostSource;
use workforce_domain::issue::IssueStatus;
use workforce_testkit::world::{World, done, label, new_issue, new_project, refused, report_of};

use super::projects::issue_in;
use crate::support::{cents, report, running, spent, working};

fn hired(world: &World) -> (Company, Agent) {
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    (company, agent)
}

#[test]
fn an_agent_reports_its_own_costs_only() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let below = world.hired_below(&agent, "Below");
    let own = done(report(
        world.agent(agent.id),
        company.id,
        &report_of(agent.id, "1"),
    ));
    assert_eq!(own.event.source, CostSource::Reported);
    let others = refused(report(
        world.agent(agent.id),
        company.id,
        &report_of(below.id, "1"),
    ));
    assert_eq!(others.code(), Code::Forbidden);
    assert_eq!(spent(&world, &below), cents("0"));
}

#[test]
fn a_run_reports_its_own_costs_only() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let earlier = running(&world, &agent).run;
    assert!(world.finish(&earlier));
    let run = running(&world, &agent).run;
    let unnamed = done(report(
        world.run_of(run.id),
        company.id,
        &report_of(agent.id, "1"),
    ));
    assert_eq!(unnamed.event.run, Some(run.id));
    let named = ReportCost {
        run: Some(earlier.id),
        ..report_of(agent.id, "1")
    };
    let refusal = refused(report(world.run_of(run.id), company.id, &named));
    assert_eq!(refusal.code(), Code::Forbidden);
    let by_key = done(report(world.agent(agent.id), company.id, &named));
    assert_eq!(by_key.event.run, Some(earlier.id));
    let by_board = done(report(world.board(), company.id, &named));
    assert_eq!(by_board.event.run, Some(earlier.id));
}

#[test]
fn a_run_of_somebody_else_is_no_run_of_this_agent() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let run = running(&world, &world.hired(company.id, "Other")).run;
    let named = ReportCost {
        run: Some(run.id),
        ..report_of(agent.id, "1")
    };
    for who in [world.board(), world.agent(agent.id)] {
        let refusal = refused(report(who, company.id, &named));
        let details = refusal.details().unwrap();
        assert_eq!(details[0]["pointer"], "/runId");
    }
}

#[test]
fn a_cost_is_booked_where_the_issue_of_its_run_belongs() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let project = world
        .project_with(company.id, &new_project("Site"))
        .project
        .id;
    let goal = world.goal(company.id, "Grow").id;
    let issue = world.issue_with(
        company.id,
        &CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(agent.id),
            project_id: Some(project),
            goal_id: Some(goal),
            billing_code: Some(label("client-7")),
            ..new_issue("Work")
        },
    );
    let run = world.start_next().unwrap().run;
    let event = done(report(
        world.run_of(run.id),
        company.id,
        &report_of(agent.id, "1"),
    ))
    .event;
    assert_eq!(event.issue, Some(issue.id));
    assert_eq!(event.project, Some(project));
    assert_eq!(event.goal, Some(goal));
    assert_eq!(event.billing_code, Some(label("client-7")));
}

#[test]
fn what_a_report_names_goes_before_what_its_run_tells() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let (worked_on, started) = working(&world, &agent, "Work");
    let other = world.todo(company.id, "Other");
    assert_ne!(worked_on.id, other.id);
    let project = world
        .project_with(company.id, &new_project("Site"))
        .project
        .id;
    issue_in(&world, &agent, Some(project));
    let named = ReportCost {
        issue: Some(other.id.into()),
        project: Some(project),
        billing_code: Some(label("own")),
        ..report_of(agent.id, "1")
    };
    let event = done(report(world.run_of(started.run.id), company.id, &named)).event;
    assert_eq!(event.issue, Some(other.id));
    assert_eq!(event.project, Some(project));
    assert_eq!(event.billing_code, Some(label("own")));
}
