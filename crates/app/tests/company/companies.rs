//! Companies: their prefixes, and what archiving one does
//! (docs/access.md#company-switches).

mod switches;

use workforce_app::companies::{self, UpdateCompany};
use workforce_app::issues::{self, AddComment, CheckOut};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::change::Replace;
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::text::CommentBody;
use workforce_testkit::world::{Acting, World, done, name, new_agent, refused};

use crate::support::{archive, change_company, company_view, count, invoke, make_draft, running};

fn listed(who: Acting<'_>, statuses: &[CompanyStatus]) -> Vec<CompanyId> {
    let page = PageRequest::first();
    let found = done(who.read(|reads, ctx| companies::list(reads, ctx, statuses, &page)));
    found
        .items
        .into_iter()
        .map(|view| view.company.id)
        .collect()
}

fn prefix_of(world: &World, called: &str) -> String {
    world.company(called).issue_prefix
}

#[test]
fn a_prefix_is_the_first_letters_of_the_name_and_a_number_when_taken() {
    let world = World::sqlite();
    assert_eq!(prefix_of(&world, "Abc Limited"), "ABC");
    assert_eq!(prefix_of(&world, "a-b-c"), "ABC2");
    assert_eq!(prefix_of(&world, "Abcde"), "ABC3");
    assert_eq!(prefix_of(&world, "Ab"), "AB");
    assert_eq!(prefix_of(&world, "42"), "CO");
    assert_eq!(prefix_of(&world, "東京"), "CO2");
}

#[test]
fn an_archived_company_keeps_its_prefix() {
    let world = World::sqlite();
    let first = world.company("Abc");
    done(archive(world.board(), first.id));
    assert_eq!(prefix_of(&world, "Abc"), "ABC2");
}

#[test]
fn issues_are_numbered_under_the_prefix_of_their_company() {
    let world = World::sqlite();
    let first = world.company("Abc").id;
    let second = world.company("Abc").id;
    assert_eq!(world.todo(first, "One").identifier, "ABC-1");
    assert_eq!(world.todo(second, "One").identifier, "ABC2-1");
    assert_eq!(world.todo(first, "Two").identifier, "ABC-2");
}

#[test]
fn a_company_keeps_its_prefix_when_it_is_renamed() {
    let world = World::sqlite();
    let company = world.company("Abc").id;
    let change = UpdateCompany {
        name: Replace::Set(name("Xyz")),
        ..UpdateCompany::default()
    };
    let renamed = done(change_company(world.board(), company, &change)).company;
    assert_eq!(renamed.name, name("Xyz"));
    assert_eq!(renamed.issue_prefix, "ABC");
    assert_eq!(count(&world, company, Action::CompanyUpdated), 1);
}

#[test]
fn archiving_cancels_wakes_and_asks_runs_to_stop() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let live = running(&world, &agent).run;
    world.todo_for(&agent, "Work");
    let waiting = world.pending_wakes(&agent).remove(0);
    let other = running(&world, &world.hired(world.company("Other").id, "Other")).run;
    world.take_signal();

    let archived = done(archive(world.board(), company)).company;
    assert_eq!(archived.status(), CompanyStatus::Archived);
    assert_eq!(archived.lifecycle.archived_at(), Some(world.now()));
    assert!(world.take_signal());
    assert!(world.pending_wakes(&agent).is_empty());
    assert_eq!(world.stored_run(waiting.run).status, RunStatus::Cancelled);
    let asked = world.stored_run(live.id);
    assert_eq!(asked.stop_requested_at, Some(world.now()));
    assert_eq!(asked.stop_reason, Some(RunErrorCode::CancelRequested));
    assert_eq!(world.stored_run(other.id).stop_requested_at, None);
    assert!(world.start_next().is_none());
}

#[test]
fn agents_of_an_archived_company_change_nothing() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let issue = world.todo(company, "Work");
    let run = running(&world, &agent).run;
    done(archive(world.board(), company));
    for who in [world.agent(agent.id), world.run_of(run.id)] {
        let take = CheckOut {
            agent: None,
            expected: None,
        };
        let taken = who.write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), take.clone()));
        assert_eq!(refused(taken).code(), Code::CompanyNotActive);
        let said = AddComment {
            body: CommentBody::parse("Done").unwrap(),
            reopen: Some(false),
            interrupt: Some(false),
        };
        let commented =
            who.write(|tx, ctx| issues::add_comment(tx, ctx, &issue.id.into(), said.clone()));
        assert_eq!(refused(commented).code(), Code::CompanyNotActive);
        assert_eq!(
            refused(invoke(who, agent.id)).code(),
            Code::CompanyNotActive
        );
    }
    assert_eq!(
        refused(invoke(world.board(), agent.id)).code(),
        Code::CompanyNotActive
    );
}

#[test]
fn nobody_is_woken_in_an_archived_company() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    done(archive(world.board(), company));
    world.todo_for(&agent, "Work");
    assert!(world.pending_wakes(&agent).is_empty());
}

#[test]
fn an_archived_company_is_listed_only_when_asked_for() {
    let world = World::sqlite();
    let (kept, away) = (world.company("Kept").id, world.company("Away").id);
    done(archive(world.board(), away));
    assert_eq!(listed(world.board(), &[]), [kept]);
    assert_eq!(listed(world.board(), &[CompanyStatus::Archived]), [away]);
    let mut both = listed(
        world.board(),
        &[CompanyStatus::Active, CompanyStatus::Archived],
    );
    both.sort();
    let mut all = [kept, away];
    all.sort();
    assert_eq!(both, all);
    assert_eq!(
        company_view(&world, away).company.status(),
        CompanyStatus::Archived
    );
}

#[test]
fn an_agent_is_told_of_its_own_company_only() {
    let world = World::sqlite();
    let own = world.company("Own").id;
    world.company("Other");
    let agent = world.hired(own, "Worker");
    assert_eq!(listed(world.agent(agent.id), &[]), [own]);
}

#[test]
fn archiving_again_changes_nothing() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let first = done(archive(world.board(), company));
    world.advance(std::time::Duration::from_secs(60));
    assert_eq!(done(archive(world.board(), company)), first);
    assert_eq!(count(&world, company, Action::CompanyArchived), 1);
}

#[test]
fn a_draft_is_not_woken() {
    let world = World::sqlite();
    let agent = world.hired_with(world.company("Acme").id, &new_agent("Draft"));
    make_draft(&world, agent.id);
    assert_eq!(
        refused(invoke(world.board(), agent.id)).code(),
        Code::AgentPendingApproval
    );
    assert!(world.pending_wakes(&agent).is_empty());
}

workforce_testkit::on_both_databases! {
    fn companies_made_at_the_same_time_share_no_prefix(store: &TestStore) {
        let world = World::on(store);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| world.company("Abc"));
            }
        });
        let page = PageRequest::first();
        let found =
            done(world.board().read(|reads, ctx| companies::list(reads, ctx, &[], &page)));
        let mut prefixes: Vec<String> =
            found.items.into_iter().map(|view| view.company.issue_prefix).collect();
        prefixes.sort();
        let expected = ["ABC", "ABC2", "ABC3", "ABC4", "ABC5", "ABC6", "ABC7", "ABC8"];
        assert_eq!(prefixes, expected);
    }
}
