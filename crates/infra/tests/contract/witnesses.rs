//! What a write asks to be locked, and that it accepts nothing else in its place.

use core::fmt::Debug;

use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::approval::{Approval, ApprovalState, ApprovalStatus, ApprovalType};
use workforce_domain::company::PauseReason;
use workforce_domain::issue::{Author, Holder};
use workforce_domain::port::{Locked, NewLease, StoreError, Tx, WakeableAgent};
use workforce_domain::run::RunStatus;
use workforce_testkit::on_both_databases;

use crate::credentials::key;
use crate::labels::label;
use crate::secrets::{secret, version};
use crate::world::{
    World, agent, claim, company, goal, id, later, lock_agent, lock_issue, now, project,
    share_employed, try_write, wake,
};

#[track_caller]
fn assert_refused<T: Debug>(outcome: &Result<T, StoreError>) {
    assert!(
        matches!(outcome, Err(StoreError::Constraint { .. })),
        "{outcome:?}"
    );
}

/// Asserts that a record is not saved once another was put in its place.
#[track_caller]
fn assert_stays<T: CompanyOwned + Clone, S: Debug>(
    world: &World<'_>,
    lock: impl Fn(&mut dyn Tx) -> Result<Locked<T>, StoreError>,
    other: &T,
    save: impl Fn(&mut dyn Tx, &Locked<T>) -> Result<S, StoreError>,
) {
    assert_refused(&try_write(&**world.store, |tx| {
        let mut held = lock(tx)?;
        *held = other.clone();
        save(tx, &held)
    }));
    world.write(|tx| {
        let held = lock(tx)?;
        save(tx, &held)
    });
}

fn approval(world: &World<'_>) -> Approval {
    Approval {
        id: id(),
        company: world.company.id,
        kind: ApprovalType::ApproveCeoStrategy,
        state: ApprovalState::Pending,
        payload: Document::new(),
        attention: Vec::new(),
        requested_by: Author::Agent(world.agent.id),
        primary_issue: None,
        resubmit_count: 0,
        revision: 1,
        created_at: now(),
        updated_at: now(),
    }
}

on_both_databases! {
    #![beneath_the_rules]

    fn a_locked_record_in_whose_place_another_was_put_is_not_saved(store: &TestStore) {
        let world = World::new(store);
        let system = Scope::SYSTEM;
        let [mine, other] = [company(), company()];
        world.write(|tx| {
            tx.companies_mut().insert(mine.clone())?;
            tx.companies_mut().insert(other.clone())
        });
        assert_stays(
            &world,
            |tx| Ok(tx.companies_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.companies_mut().save(held),
        );
        let [mine, other] = [world.hire(), world.hire()];
        assert_stays(
            &world,
            |tx| lock_agent(tx, &mine),
            &other,
            |tx, held| tx.agents_mut().save(held),
        );
        let [mine, other] = [world.open(), world.open()];
        assert_stays(
            &world,
            |tx| lock_issue(tx, &mine),
            &other,
            |tx, held| tx.issues_mut().save(held),
        );
        let [mine, other] = [goal(&world.company), goal(&world.company)];
        world.write(|tx| {
            tx.goals_mut().insert(mine.clone())?;
            tx.goals_mut().insert(other.clone())
        });
        assert_stays(
            &world,
            |tx| Ok(tx.goals_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.goals_mut().save(held),
        );
        let [mine, other] = [project(&world.company), project(&world.company)];
        world.write(|tx| {
            tx.projects_mut().insert(mine.clone())?;
            tx.projects_mut().insert(other.clone())
        });
        assert_stays(
            &world,
            |tx| Ok(tx.projects_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.projects_mut().save(held),
        );
        let [mine, other] = ["bug", "idea"].map(|name| label(&world, name));
        world.write(|tx| {
            tx.labels_mut().insert(mine.clone())?;
            tx.labels_mut().insert(other.clone())
        });
        assert_stays(
            &world,
            |tx| Ok(tx.labels_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.labels_mut().save(held),
        );
        let [mine, other] = ["one", "two"].map(|name| secret(&world.company, id(), name));
        world.write(|tx| {
            tx.secrets_mut().insert(mine.clone())?;
            tx.secrets_mut().insert(other.clone())
        });
        assert_stays(
            &world,
            |tx| Ok(tx.secrets_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.secrets_mut().save(held),
        );
    }

    fn what_is_decided_answered_or_run_is_not_saved_as_another(store: &TestStore) {
        let world = World::new(store);
        let system = Scope::SYSTEM;
        let [mine, other] = [approval(&world), approval(&world)];
        world.write(|tx| {
            tx.approvals_mut().insert(mine.clone(), &[], None)?;
            tx.approvals_mut().insert(other.clone(), &[], None)
        });
        assert_stays(
            &world,
            |tx| Ok(tx.approvals_mut().lock(system, mine.id)?.unwrap()),
            &other,
            |tx, held| tx.approvals_mut().transition(held, &[ApprovalStatus::Pending]),
        );
        let (mine, own_run) = world.queue(&world.agent, None);
        let (other, other_run) = world.queue(&world.agent, Some(&world.issue));
        assert_stays(
            &world,
            |tx| {
                let held = tx.runs_mut().lock_pending_wake(world.scope(), mine.agent, None)?;
                Ok(held.unwrap())
            },
            &other,
            |tx, held| tx.runs_mut().save_wake(held),
        );
        assert_stays(
            &world,
            |tx| Ok(tx.runs_mut().lock(system, own_run.id)?.unwrap()),
            &other_run,
            |tx, held| tx.runs_mut().save(held),
        );
    }

    fn what_was_inserted_is_held(store: &TestStore) {
        let world = World::new(store);
        let fresh = agent(&world.company);
        world.write(|tx| {
            let mut held = tx.agents_mut().insert(fresh.clone())?;
            held.consecutive_failures = 7;
            tx.agents_mut().save(&held)
        });
        let found = world.read(|reads| reads.agents().find(Scope::SYSTEM, fresh.id));
        assert_eq!(found, Some(Agent { consecutive_failures: 7, ..fresh }));
    }

    fn an_agent_is_shared_as_it_is_and_employed_unless_draft_or_terminated(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let share = |scope| {
            world.write(|tx| tx.agents_mut().share(scope, world.agent.id))
        };
        assert!(share(other.scope()).is_none(), "it is of another company");
        for (lifecycle, is_employed) in [
            (AgentLifecycle::ENABLED, true),
            (AgentLifecycle::ENABLED.pause(PauseReason::Manual, now()).unwrap(), true),
            (AgentLifecycle::DRAFT, false),
            (AgentLifecycle::ENABLED.terminate(now()).unwrap(), false),
        ] {
            world.change_agent(&world.agent, |agent| agent.lifecycle = lifecycle);
            let shared = share(world.scope()).expect("it is there");
            assert_eq!(*shared, Agent { lifecycle, ..world.agent.clone() });
            let employed = shared.employed();
            assert_eq!(employed.map(|it| it.id), is_employed.then_some(world.agent.id));
        }
    }

    fn everyone_who_reports_to_a_manager_is_locked_with_it(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let [boss, one, two, below] = [world.hire(), world.hire(), world.hire(), world.hire()];
        for (agent, manager) in [(&one, &boss), (&two, &boss), (&below, &one)] {
            world.change_agent(agent, |agent| agent.reports_to = Some(manager.id));
        }
        world.change_agent(&two, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.terminate(now()).unwrap();
        });
        let reports = |manager: &Agent| {
            world.write(|tx| {
                let manager = lock_agent(tx, manager)?;
                let reports = tx.agents_mut().lock_reports_of(&manager)?;
                for report in &reports {
                    tx.agents_mut().save(report)?;
                }
                Ok(reports.into_iter().map(|report| report.id).collect::<Vec<_>>())
            })
        };
        assert_eq!(reports(&boss), [one.id, two.id]);
        assert_eq!(reports(&one), [below.id]);
        assert_eq!(reports(&below), []);
        assert_eq!(reports(&other.agent), []);
    }

    fn a_lease_is_put_on_no_other_issue(store: &TestStore) {
        let world = World::new(store);
        let other = world.open();
        let lease = |issue: &workforce_domain::issue::Issue| {
            world.read(|reads| reads.issues().lease(world.scope(), issue.id))
        };
        assert_refused(&try_write(&**store, |tx| {
            let agent = share_employed(tx, world.scope(), world.agent.id)?;
            let [own, other] = [lock_issue(tx, &other)?, lock_issue(tx, &world.issue)?];
            let lease = NewLease::of(&own, &agent, None, now());
            assert_eq!(lease.issue(), own.id);
            tx.issues_mut().take_lease(&other, lease)
        }));
        assert_eq!([lease(&world.issue), lease(&other)], [None, None]);

        let taken = world.take_lease(&other, Holder::Agent(world.agent.id), now());
        let renewed = world.write(|tx| {
            let [own, other] = [lock_issue(tx, &other)?, lock_issue(tx, &world.issue)?];
            assert_eq!(NewLease::renewed(&other, &taken, later(9)), None);
            let lease = NewLease::renewed(&own, &taken, later(9)).expect("it is its own");
            tx.issues_mut().take_lease(&own, lease)
        });
        assert_eq!(renewed.holder, taken.holder);
        assert!(renewed.expires_at > taken.expires_at);
        assert!(renewed.fence > taken.fence);
        assert_eq!([lease(&world.issue), lease(&other)], [None, Some(renewed)]);
    }

    fn a_lease_is_held_in_a_live_run_of_the_agent_only(store: &TestStore) {
        let world = World::new(store);
        let colleague = world.hire();
        world.queue(&world.agent, None);
        let run = claim(store).expect("it may start").run;
        let (_, queued) = world.queue(&world.agent, None);
        let holder = |agent: &Agent, run| {
            world.write(|tx| {
                let agent = share_employed(tx, world.scope(), agent.id)?;
                let issue = lock_issue(tx, &world.issue)?;
                let run = tx.runs_mut().lock(Scope::SYSTEM, run)?.expect("it exists");
                let lease = NewLease::of(&issue, &agent, run.live(), now());
                Ok(tx.issues_mut().take_lease(&issue, lease)?.holder)
            })
        };
        let own = Holder::Run { agent: world.agent.id, run: run.id };
        assert_eq!(holder(&world.agent, run.id), own);
        assert_eq!(holder(&colleague, run.id), Holder::Agent(colleague.id));
        assert_eq!(holder(&world.agent, queued.id), Holder::Agent(world.agent.id));
        world.finish(&run);
        assert_eq!(world.run(&run).status, RunStatus::Succeeded);
        assert_eq!(holder(&world.agent, run.id), Holder::Agent(world.agent.id));
    }

    fn a_key_is_given_to_no_other_agent(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let colleague = world.hire();
        for agent in [&colleague, &other.agent] {
            let key = key(&world, [7; 32]);
            assert_refused(&try_write(&**store, |tx| {
                let held = lock_agent(tx, agent)?;
                tx.credentials_mut().insert_key(&held, &key)
            }));
        }
        assert_eq!(world.read(|reads| reads.credentials().key(&[7; 32])), None);
    }

    fn a_version_is_added_to_no_other_secret(store: &TestStore) {
        let world = World::new(store);
        let [one, two] = ["one", "two"].map(|name| secret(&world.company, id(), name));
        world.write(|tx| {
            tx.secrets_mut().insert(one.clone())?;
            tx.secrets_mut().insert(two.clone())
        });
        let of_two = version(&world.company, two.id, 1);
        assert_refused(&try_write(&**store, |tx| {
            let held = tx.secrets_mut().lock(Scope::SYSTEM, one.id)?.expect("it exists");
            tx.secrets_mut().insert_version(&held, &of_two)
        }));
        for secret in [&one, &two] {
            let found = world.read(|reads| reads.secrets().version(world.scope(), secret.id, 1));
            assert_eq!(found, None);
        }
    }

    fn a_wake_is_of_the_agent_that_may_be_woken(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let colleague = world.hire();
        let (own_wake, own_run) = wake(&world.agent, None);
        for stranger in [&colleague, &other.agent] {
            let (wake, run) = wake(stranger, None);
            for (wake, run) in [(&wake, &run), (&own_wake, &run), (&wake, &own_run)] {
                assert_refused(&try_write(&**store, |tx| {
                    let agent = tx.runs_mut().share_wakeability(world.scope(), world.agent.id)?;
                    tx.runs_mut().queue(agent.expect("it may be woken"), wake, run)
                }));
            }
            assert_eq!(world.read(|reads| reads.runs().find(Scope::SYSTEM, run.id)), None);
        }
        let foreign = WakeableAgent::assume_locked(other.scope(), world.agent.id);
        assert_refused(&try_write(&**store, |tx| {
            tx.runs_mut().queue(foreign, &own_wake, &own_run)
        }));
        assert_eq!(world.read(|reads| reads.runs().find(Scope::SYSTEM, own_run.id)), None);
    }
}
