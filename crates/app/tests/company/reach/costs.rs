//! Costs.

use workforce_app::Code;
use workforce_app::costs::{self, ReportCost, WindowQuery};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::Spender;
use workforce_testkit::world::{Acting, World, report_of};

use super::{Answers, Objects, told};
use crate::support::report;

pub(super) fn of(who: Acting<'_>, company: CompanyId, stranger: AgentId) -> Answers {
    let window = WindowQuery::default();
    let cost = report_of(stranger, "1");
    vec![
        ("costs::report", told(report(who, company, &cost))),
        (
            "costs::summary",
            told(who.read(|r, ctx| costs::summary(r, ctx, company, window))),
        ),
        (
            "costs::by_agent",
            told(who.read(|r, ctx| costs::by_agent(r, ctx, company, window))),
        ),
        (
            "costs::by_project",
            told(who.read(|r, ctx| costs::by_project(r, ctx, company, window))),
        ),
        (
            "costs::by_model",
            told(who.read(|r, ctx| costs::by_model(r, ctx, company, window))),
        ),
        (
            "costs::by_day",
            told(who.read(|r, ctx| costs::by_day(r, ctx, company, Spender::Company, window))),
        ),
        (
            "costs::forecast",
            told(who.read(|r, ctx| costs::forecast(r, ctx, company, Spender::Company, None))),
        ),
        (
            "costs::list",
            told(who.read(|r, ctx| costs::list(r, ctx, company, &PageRequest::first()))),
        ),
    ]
}

pub(super) fn references(
    who: Acting<'_>,
    own: &Objects,
    company: CompanyId,
    named: &Objects,
) -> Answers {
    let cost = |command: ReportCost| told(report(who, company, &command));
    let plain = || report_of(own.agent, "1");
    vec![
        (
            "cost run",
            cost(ReportCost {
                run: Some(named.run),
                ..plain()
            }),
        ),
        (
            "cost issue",
            cost(ReportCost {
                issue: Some(named.issue.into()),
                ..plain()
            }),
        ),
        (
            "cost project",
            cost(ReportCost {
                project: Some(named.project),
                ..plain()
            }),
        ),
        (
            "cost goal",
            cost(ReportCost {
                goal: Some(named.goal),
                ..plain()
            }),
        ),
    ]
}

#[test]
fn an_agent_that_reports_for_another_learns_nothing_of_whom_it_named() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let peer = world.hired(company, "Peer");
    let theirs = world.hired(world.company("Other").id, "Worker");
    let ask = |named: AgentId| {
        told(report(
            world.agent(agent.id),
            company,
            &report_of(named, "1"),
        ))
    };
    let missing = ask(world.id());
    assert_eq!(missing.0, Code::Forbidden);
    assert_eq!(ask(peer.id), missing);
    assert_eq!(ask(theirs.id), missing);
}
