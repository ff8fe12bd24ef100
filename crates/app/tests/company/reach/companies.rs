//! Companies, and what is told of them as a whole.

use workforce_app::companies::UpdateCompany;
use workforce_app::{activity, companies, dashboard};
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::ActivityFilter;
use workforce_testkit::world::{Acting, World, done};

use super::{Answers, told};
use crate::support::{archive, change_company};

pub(super) fn of(who: Acting<'_>, company: CompanyId) -> Answers {
    vec![
        (
            "companies::get",
            told(who.read(|r, ctx| companies::get(r, ctx, company))),
        ),
        (
            "companies::update",
            told(change_company(who, company, &UpdateCompany::default())),
        ),
        ("companies::archive", told(archive(who, company))),
        (
            "dashboard::get",
            told(who.read(|r, ctx| dashboard::get(r, ctx, company))),
        ),
        (
            "dashboard::badges",
            told(who.read(|r, ctx| dashboard::badges(r, ctx, company))),
        ),
        (
            "activity::list",
            told(who.read(|r, ctx| {
                let filter = ActivityFilter::default();
                activity::list(r, ctx, company, &filter, &PageRequest::first())
            })),
        ),
    ]
}

#[test]
fn an_agent_sees_its_own_company_alone() {
    let world = World::sqlite();
    let company = world.company("Acme");
    world.company("Other");
    let agent = world.hired(company.id, "Worker");
    let every = [
        CompanyStatus::Active,
        CompanyStatus::Paused,
        CompanyStatus::Archived,
    ];
    let seen = done(
        world
            .agent(agent.id)
            .read(|reads, ctx| companies::list(reads, ctx, &every, &PageRequest::first())),
    );
    let seen: Vec<_> = seen.items.into_iter().map(|view| view.company.id).collect();
    assert_eq!(seen, [company.id]);
}
