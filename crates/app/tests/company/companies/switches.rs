//! Pausing, resuming and archiving companies, and deleting them (docs/access.md#company-switches).

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use workforce_app::companies::{self, CompanyError, CompanyView, UpdateCompany};
use workforce_app::{Code, Context, Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::change::Replace;
use workforce_domain::company::{Company, CompanyStatus, PauseReason};
use workforce_domain::id::CompanyId;
use workforce_domain::port::Tx;
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{Acting, World, done, refused};

use crate::support::{
    agent_detail, archive, change_company, company_view, count, invoke, limit_company, pause,
    pause_reason, running, spend, working,
};

type Switch =
    fn(&mut dyn Tx, &Context<'_>, CompanyId) -> Result<CompanyView, Failure<CompanyError>>;

const SWITCHES: [Switch; 4] = [
    companies::pause,
    companies::resume,
    companies::archive,
    companies::unarchive,
];

fn flip(
    who: Acting<'_>,
    id: CompanyId,
    switch: Switch,
) -> Result<CompanyView, Failure<CompanyError>> {
    who.write(|tx, ctx| switch(tx, ctx, id))
}

#[track_caller]
fn flipped(world: &World, id: CompanyId, switch: Switch) -> Company {
    done(flip(world.board(), id, switch)).company
}

fn put(world: &World, id: CompanyId, status: CompanyStatus) -> Company {
    let change = UpdateCompany {
        status: Replace::Set(status),
        ..UpdateCompany::default()
    };
    done(change_company(world.board(), id, &change)).company
}

#[test]
fn every_switch_leads_from_every_status_where_it_should() {
    use CompanyStatus::{Active, Archived, Paused};
    let outcomes: [(CompanyStatus, [Option<CompanyStatus>; 4]); 3] = [
        (
            Active,
            [Some(Paused), Some(Active), Some(Archived), Some(Active)],
        ),
        (
            Paused,
            [Some(Paused), Some(Active), Some(Archived), Some(Paused)],
        ),
        (Archived, [None, None, Some(Archived), Some(Active)]),
    ];
    let world = World::sqlite();
    for (from, expected) in outcomes {
        for (switch, expected) in SWITCHES.into_iter().zip(expected) {
            let company = world.company("Acme").id;
            let before = put(&world, company, from);
            world.advance(std::time::Duration::from_secs(1));
            match expected {
                Some(to) => {
                    let after = flipped(&world, company, switch);
                    assert_eq!(after.status(), to);
                    if to == from {
                        assert_eq!(after, before, "nothing changes");
                    }
                }
                None => {
                    let told = refused(flip(world.board(), company, switch));
                    assert_eq!(told.code(), Code::CompanyNotActive);
                    assert_eq!(company_view(&world, company).company, before);
                }
            }
        }
        // A patch may name any of the three.
        for to in [Active, Paused, Archived] {
            let company = world.company("Acme").id;
            put(&world, company, from);
            assert_eq!(put(&world, company, to).status(), to);
        }
    }
}

#[test]
fn a_pause_cancels_wakes_and_asks_runs_to_stop() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let (_, live) = working(&world, &agent, "Work");
    world.todo_for(&agent, "More");
    let waiting = world.pending_wakes(&agent).remove(0);
    world.take_signal();
    let paused = flipped(&world, company, companies::pause);
    assert_eq!(paused.lifecycle.pause_reason(), Some(PauseReason::Manual));
    assert_eq!(paused.lifecycle.paused().map(|it| it.at), Some(world.now()));
    assert!(world.take_signal());
    assert!(world.pending_wakes(&agent).is_empty());
    assert_eq!(world.stored_run(waiting.run).status, RunStatus::Cancelled);
    let asked = world.stored_run(live.run.id);
    assert_eq!(asked.stop_reason, Some(RunErrorCode::CancelRequested));
    assert_eq!(
        refused(invoke(world.board(), agent.id)).code(),
        Code::CompanyNotActive
    );
    world.todo_for(&agent, "Later");
    assert!(world.pending_wakes(&agent).is_empty());
    assert_eq!(count(&world, company, Action::CompanyPaused), 1);
}

#[test]
fn a_resumed_company_takes_its_work_up_but_for_agents_that_were_paused_singly() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [worker, resting] = ["Worker", "Resting"].map(|name| world.hired(company, name));
    let (issue, live) = working(&world, &worker, "Work");
    world.todo_for(&worker, "More");
    world.todo_for(&resting, "Rest");
    done(pause(world.board(), resting.id));
    flipped(&world, company, companies::pause);
    assert!(world.finish(&live.run));
    world.take_signal();
    let resumed = flipped(&world, company, companies::resume);
    assert_eq!(
        (resumed.lifecycle.pause_reason(), resumed.lifecycle.paused()),
        (None, None)
    );
    assert!(world.take_signal());
    let wakes = world.pending_wakes(&worker);
    assert_eq!(wakes.len(), 2);
    assert!(wakes.iter().any(|wake| wake.issue == Some(issue.id)));
    assert!(
        wakes
            .iter()
            .all(|wake| wake.reasons == [WakeReason::IssueAssigned])
    );
    assert!(world.pending_wakes(&resting).is_empty());
    assert_eq!(
        pause_reason(&agent_detail(world.board(), resting.id).view.agent),
        Some(PauseReason::Manual)
    );
}

#[test]
fn nobody_is_woken_for_what_lay_in_the_archive() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    world.todo_for(&agent, "Work");
    done(archive(world.board(), company));
    let back = flipped(&world, company, companies::unarchive);
    assert_eq!(
        (back.status(), back.lifecycle.archived_at()),
        (CompanyStatus::Active, None)
    );
    assert!(world.pending_wakes(&agent).is_empty());
    assert_eq!(count(&world, company, Action::CompanyUnarchived), 1);
    assert!(invoke(world.board(), agent.id).is_ok());
}

#[test]
fn resuming_does_not_lift_the_stop_of_a_budget() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    world.todo_for(&agent, "Work");
    limit_company(&world, company, 100);
    for spent_while_paused in [false, true] {
        if !spent_while_paused {
            spend(&world, &agent, "60");
        }
        flipped(&world, company, companies::pause);
        if spent_while_paused {
            spend(&world, &agent, "60");
        }
        let paused = company_view(&world, company).company;
        assert_eq!(paused.lifecycle.pause_reason(), Some(PauseReason::Manual));
        let resumed = flipped(&world, company, companies::resume);
        assert_eq!(resumed.status(), CompanyStatus::Active);
        assert_eq!(
            resumed.lifecycle.pause_reason(),
            spent_while_paused.then_some(PauseReason::Budget)
        );
    }
    // The pause of the board hides that of the budget and does not lift it either.
    flipped(&world, company, companies::pause);
    let resumed = flipped(&world, company, companies::resume);
    assert_eq!(resumed.lifecycle.pause_reason(), Some(PauseReason::Budget));
    assert!(world.start_next().is_none());
    assert_eq!(
        limit_company(&world, company, 1000).lifecycle.paused(),
        None
    );
}

#[test]
fn agents_do_not_switch_companies() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    for switch in SWITCHES {
        let told = refused(flip(world.agent(agent.id), company, switch));
        assert_eq!(told.code(), Code::BoardRequired);
    }
    let deleted = world
        .agent(agent.id)
        .write(|tx, ctx| companies::delete(tx, ctx, company));
    assert_eq!(refused(deleted).code(), Code::BoardRequired);
}

#[test]
fn a_company_is_deleted_once_it_is_archived_and_its_runs_have_ended() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let delete = || {
        world
            .board()
            .write(|tx, ctx| companies::delete(tx, ctx, company))
    };
    let live = running(&world, &agent).run;
    assert_eq!(refused(delete()).code(), Code::CompanyNotArchived);
    flipped(&world, company, companies::pause);
    assert_eq!(refused(delete()).code(), Code::CompanyNotArchived);
    flipped(&world, company, companies::archive);
    assert_eq!(refused(delete()).code(), Code::CompanyHasLiveRuns);
    assert!(world.finish(&live));
    done(delete());
    assert_eq!(refused(delete()).code(), Code::NotFound);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Flip(usize),
    Put(CompanyStatus),
    Assign,
    Start,
    Finish,
    Spend,
    Limit(i64),
}

fn steps() -> impl Strategy<Value = Step> {
    use CompanyStatus::{Active, Archived, Paused};
    prop_oneof![
        4 => (0..SWITCHES.len()).prop_map(Step::Flip),
        2 => prop_oneof![Just(Active), Just(Paused), Just(Archived)].prop_map(Step::Put),
        2 => Just(Step::Assign),
        2 => Just(Step::Start),
        1 => Just(Step::Finish),
        1 => Just(Step::Spend),
        1 => prop_oneof![Just(0), Just(50), Just(1000)].prop_map(Step::Limit),
    ]
}

fn take(world: &World, agent: &Agent, step: Step) {
    let company = agent.company;
    match step {
        // A refusal is an answer as well.
        Step::Flip(switch) => drop(flip(world.board(), company, SWITCHES[switch])),
        Step::Put(status) => drop(put(world, company, status)),
        Step::Assign => drop(world.todo_for(agent, "Work")),
        Step::Start => drop(world.start_next()),
        Step::Finish => {
            let live = world.live_runs(agent);
            live.first().map(|run| world.finish(run));
        }
        Step::Spend => drop(spend(world, agent, "20")),
        Step::Limit(cents) => drop(limit_company(world, company, cents)),
    }
}

fn holds(world: &World, agent: &Agent) -> Result<(), TestCaseError> {
    let view = company_view(world, agent.company);
    let company = view.company;
    let limit = company.budget.limit();
    let exhausted = limit.is_some_and(|limit| view.spend.actual >= limit);
    match company.status() {
        CompanyStatus::Active => {
            let reason = exhausted.then_some(PauseReason::Budget);
            prop_assert_eq!(company.lifecycle.pause_reason(), reason);
        }
        CompanyStatus::Paused => {
            prop_assert_eq!(company.lifecycle.pause_reason(), Some(PauseReason::Manual));
        }
        CompanyStatus::Archived => {
            prop_assert!(company.lifecycle.pause_reason() != Some(PauseReason::Manual));
        }
    }
    prop_assert_eq!(
        company.lifecycle.pause_reason().is_some(),
        company.lifecycle.paused().is_some()
    );
    let archived = company.status() == CompanyStatus::Archived;
    prop_assert_eq!(company.lifecycle.archived_at().is_some(), archived);
    if company.status() != CompanyStatus::Active {
        prop_assert!(world.pending_wakes(agent).is_empty());
    }
    if company.status() != CompanyStatus::Active || exhausted {
        for run in world.live_runs(agent) {
            prop_assert!(run.stop_requested_at.is_some(), "{:?}", run);
        }
    }
    // A pending wake always has a run that waits, and no other run waits.
    for wake in world.pending_wakes(agent) {
        prop_assert_eq!(world.stored_run(wake.run).status, RunStatus::Queued);
    }
    Ok(())
}

#[test]
fn no_order_of_switches_leaves_a_company_half_stopped() {
    let mut runner = TestRunner::new(Config {
        cases: 48,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&vec(steps(), 1..24), |steps| {
        let world = World::sqlite();
        let agent = world.hired(world.company("Acme").id, "Worker");
        for step in steps {
            take(&world, &agent, step);
            holds(&world, &agent)?;
        }
        Ok(())
    });
    outcome.unwrap();
}
