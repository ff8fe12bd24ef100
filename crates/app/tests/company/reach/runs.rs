//! Runs, and what happened in them.

use workforce_app::activity;
use workforce_app::runs::{self, WakeUp};
use workforce_domain::Document;
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::RunFilter;
use workforce_domain::wake::WakeSource;
use workforce_testkit::world::{Acting, World, done, refused};

use super::{Answers, Objects, told};
use crate::support::{cancel, invoke, running};

pub(super) fn about(who: Acting<'_>, at: &Objects) -> Answers {
    vec![
        (
            "runs::get",
            told(who.read(|r, ctx| runs::get(r, ctx, at.run))),
        ),
        (
            "runs::cancel",
            told(who.write(|tx, ctx| runs::cancel(tx, ctx, at.run))),
        ),
        ("runs::invoke", told(invoke(who, at.agent))),
        (
            "runs::wake_up",
            told(who.write(|tx, ctx| {
                let command = WakeUp {
                    source: WakeSource::OnDemand,
                    trigger_detail: None,
                    reason: None,
                    payload: Document::new(),
                };
                runs::wake_up(tx, ctx, at.agent, command)
            })),
        ),
        (
            "runs::events",
            told(who.read(|r, ctx| runs::events(r, ctx, at.run, &PageRequest::first()))),
        ),
        (
            "runs::of_issue",
            told(who.read(|r, ctx| {
                runs::of_issue(r, ctx, &at.issue.into(), &[], &PageRequest::first())
            })),
        ),
        (
            "activity::of_issue",
            told(who.read(|r, ctx| {
                activity::of_issue(r, ctx, &at.issue.into(), &PageRequest::first())
            })),
        ),
    ]
}

pub(super) fn of(who: Acting<'_>, company: CompanyId) -> Answers {
    vec![(
        "runs::list",
        told(who.read(|r, ctx| {
            runs::list(
                r,
                ctx,
                company,
                &RunFilter::default(),
                &PageRequest::first(),
            )
        })),
    )]
}

#[test]
fn a_list_filtered_by_a_foreign_agent_is_empty() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let theirs = Objects::of(&world, world.company("Other").id);
    let filter = RunFilter {
        agent: Some(theirs.agent),
        ..RunFilter::default()
    };
    let found = done(
        world
            .agent(agent.id)
            .read(|reads, ctx| runs::list(reads, ctx, company, &filter, &PageRequest::first())),
    );
    assert!(found.items.is_empty());
}

#[test]
fn another_companys_run_is_not_stopped() {
    let world = World::sqlite();
    let spy = world.hired(world.company("Spies").id, "Spy");
    let agent = world.hired(world.company("Acme").id, "Worker");
    let run = running(&world, &agent).run;
    refused(cancel(world.agent(spy.id), &run));
    assert_eq!(world.stored_run(run.id), run);
}
