//! What a claim does, in which order, and that nothing is claimed twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;

use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::id::{InstanceId, RunId};
use workforce_domain::issue::{Holder, Issue, IssueStatus, Mover, Priority};
use workforce_domain::port::{ClaimedRun, StoreError, Tx};
use workforce_domain::run::{RunKind, RunStatus, WakeStatus};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::postgres_store;

use crate::wakeability::one_after_the_other;
use crate::world::{World, claim, heartbeat, id, later, queue, request, try_write, wake};

on_both_databases! {
    #![beneath_the_rules]
    fn a_claimed_run_is_running_and_holds_its_issue(store: &TestStore) {
        let world = World::new(store);
        let (wake, run) = world.queue(&world.agent, Some(&world.issue));
        let request = request(id());
        let claimed = world
            .write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request))
            .expect("it may start");
        assert_eq!(claimed.agent, world.agent);
        assert_eq!(claimed.company, world.company);
        assert_eq!((claimed.wake.id, claimed.wake.status), (wake.id, WakeStatus::Dispatched));
        let started = claimed.run;
        assert_eq!((started.id, started.status), (run.id, RunStatus::Running));
        assert_eq!(started.fence, run.fence + 1);
        assert_eq!(started.instance, Some(request.instance));
        assert_eq!(started.token_digest, Some(request.token_digest));
        assert_eq!(started.lease_expires_at, Some(request.lease_until));
        assert_eq!(started.started_at, Some(request.now));
        assert_eq!(started.updated_at, request.now);
        assert_eq!(world.run(&run), started);
        assert_eq!(
            world.read(|reads| reads.runs().wake_of(world.scope(), run.id)),
            Some(claimed.wake)
        );
        let lease = world
            .read(|reads| reads.issues().lease(world.scope(), world.issue.id))
            .expect("it holds the issue");
        assert_eq!(lease.holder, Holder::Run { agent: world.agent.id, run: run.id });
        assert_eq!(claim(store), None);
    }

    fn a_general_run_holds_nothing(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, None);
        assert_eq!(claim(store).map(|claimed| claimed.run.kind), Some(RunKind::General));
        let lease = world.read(|reads| reads.issues().lease(world.scope(), world.issue.id));
        assert_eq!(lease, None);
    }

    fn wakes_without_a_purpose_are_not_claimed_but_cancelled(store: &TestStore) {
        let world = World::new(store);
        let fired = world.hire();
        let (reopened, done) = (world.open(), world.open());
        let (_, of_fired) = world.queue(&fired, None);
        let (_, of_done) = world.queue(&world.agent, Some(&done));
        let (mut consult, mut consulted) = wake(&world.hire(), Some(&done));
        (consult.kind, consulted.kind) = (RunKind::Consult, RunKind::Consult);
        world.write(|tx| queue(tx, &consult, &consulted));
        world.change_agent(&fired, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
        });
        let go = |issue: &Issue, status| {
            world.change_issue(issue, |issue| {
                issue.progress = issue.progress.transition_to(Mover::Board, status, later(1)).unwrap().progress;
            });
        };
        go(&done, IssueStatus::Done);
        go(&reopened, IssueStatus::Cancelled);
        go(&reopened, IssueStatus::Todo);
        let (_, of_reopened) = world.queue(&world.agent, Some(&reopened));

        let claimed: BTreeSet<RunId> =
            std::iter::from_fn(|| claim(store)).map(|claimed| claimed.run.id).collect();
        assert_eq!(claimed, BTreeSet::from([consulted.id, of_reopened.id]));
        let has_obsolete =
            || world.read(|reads| reads.engine().has_obsolete_wakes(InstanceScope::SYSTEM));
        let cancel = |limit| {
            world.write(|tx| {
                tx.engine_mut().cancel_obsolete_wakes(InstanceScope::SYSTEM, later(1), limit)
            })
        };
        let (_, fine) = world.queue(&world.agent, Some(&reopened));
        assert!(has_obsolete());
        assert_eq!([cancel(0), cancel(1)], [0, 1]);
        assert!(has_obsolete(), "one is left");
        assert_eq!([cancel(10), cancel(10)], [1, 0]);
        assert!(!has_obsolete());
        assert_eq!(world.run(&fine).status, RunStatus::Queued);
        assert_eq!(world.run(&consulted).status, RunStatus::Running);
        for run in [&of_fired, &of_done] {
            let run = world.run(run);
            assert_eq!(run.status, RunStatus::Cancelled);
            assert_eq!(run.finished_at, Some(later(1)));
            let wake = world.read(|reads| reads.runs().wake_of(world.scope(), run.id)).unwrap();
            assert_eq!(wake.status, WakeStatus::Cancelled);
        }
    }

    fn companies_take_turns(store: &TestStore) {
        let worlds = [World::new(store), World::new(store), World::new(store)];
        for world in &worlds {
            world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(10));
            for _ in 0..2 {
                let issue = world.open();
                world.queue(&world.agent, Some(&issue));
            }
        }
        let mut turns = Vec::new();
        for second in 0..6 {
            let mut request = request(id());
            request.now = later(second + 1);
            let claimed = worlds[0]
                .write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request))
                .expect("one is left");
            turns.push(claimed.company.id);
        }
        assert_eq!(turns[..3].iter().collect::<BTreeSet<_>>().len(), 3, "each has a turn");
        assert_eq!(turns[..3], turns[3..], "and then again in the same order");
    }

    fn a_wake_is_as_urgent_as_its_issue_has_become(store: &TestStore) {
        let world = World::new(store);
        let [old, young] = [world.open(), world.open()];
        let (_, of_old) = world.queue(&world.agent, Some(&old));
        let (_, of_young) = world.queue(&world.hire(), Some(&young));
        world.write(|tx| {
            let mut issue = tx.issues_mut().lock(world.scope().into(), &young.id.into())?.unwrap();
            issue.priority = Priority::High;
            tx.issues_mut().save(&issue)?;
            tx.runs_mut().follow_priority(&issue)
        });
        let order: Vec<RunId> =
            std::iter::from_fn(|| claim(store)).map(|claimed| claimed.run.id).collect();
        assert_eq!(order, [of_young.id, of_old.id]);
    }

    fn the_urgent_comes_first_and_then_the_older(store: &TestStore) {
        let world = World::new(store);
        world.change_company(|company| company.max_concurrent_runs = 10);
        let add = |priority: Option<Priority>, seconds| {
            let agent = world.hire();
            let issue = priority.map(|priority| {
                let issue = world.open();
                world.change_issue(&issue, |issue| issue.priority = priority);
                issue
            });
            let (mut wake, run) = wake(&agent, issue.as_ref());
            wake.created_at = crate::world::now().minus(core::time::Duration::from_secs(seconds));
            world.write(|tx| queue(tx, &wake, &run));
            run.id
        };
        let low = add(Some(Priority::Low), 100);
        let young = add(Some(Priority::Medium), 1);
        let general = add(None, 5);
        let old = add(Some(Priority::Medium), 10);
        let critical = add(Some(Priority::Critical), 0);
        let order: Vec<RunId> =
            std::iter::from_fn(|| claim(store)).map(|claimed| claimed.run.id).collect();
        assert_eq!(order, [critical, old, general, young, low]);
    }

    fn claims_at_once_never_meet_nor_exceed_a_cap(store: &TestStore) {
        const SERVERS: usize = 2;
        const INSTANCE_CAP: i64 = 5;
        let worlds = [World::new(store), World::new(store), World::new(store)];
        for world in &worlds {
            world.change_company(|company| company.max_concurrent_runs = 3);
            for places in [1, 2, 2] {
                let agent = world.hire();
                world.change_agent(&agent, |agent| agent.runtime_config = heartbeat(places));
                for _ in 0..4 {
                    let issue = world.open();
                    world.queue(&agent, Some(&issue));
                }
            }
        }
        let servers: [InstanceId; SERVERS] = [id(), id()];
        let claimed: Mutex<Vec<ClaimedRun>> = Mutex::new(Vec::new());
        thread::scope(|threads| {
            for instance in servers.into_iter().cycle().take(4 * SERVERS) {
                let claimed = &claimed;
                threads.spawn(move || {
                    let mut idle = 0;
                    while idle < 3 {
                        let mut request = request(instance);
                        request.instance_cap = INSTANCE_CAP;
                        match try_write(&**store, |tx| {
                            tx.engine_mut().claim(InstanceScope::SYSTEM, &request)
                        }) {
                            Ok(Some(run)) => claimed.lock().unwrap().push(run),
                            Ok(None) => idle += 1,
                            Err(StoreError::Contended) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                });
            }
        });
        let claimed = claimed.into_inner().unwrap();
        let distinct: BTreeSet<RunId> = claimed.iter().map(|claimed| claimed.run.id).collect();
        assert_eq!(distinct.len(), claimed.len(), "no run is claimed twice");
        let mut of_company = BTreeMap::new();
        let mut of_agent = BTreeMap::new();
        let mut of_server = BTreeMap::new();
        for it in &claimed {
            *of_company.entry(it.company.id).or_insert(0) += 1;
            let places = it.agent.max_concurrent_runs();
            of_agent.entry(it.agent.id).or_insert((0, places)).0 += 1;
            *of_server.entry(it.run.instance).or_insert(0_i64) += 1;
            let stored = worlds[0]
                .read(|reads| reads.runs().find(Scope::SYSTEM, it.run.id))
                .expect("it is stored");
            assert_eq!(stored, it.run);
        }
        assert!(of_company.values().all(|runs| *runs <= 3), "{of_company:?}");
        assert!(of_agent.values().all(|(runs, places)| runs <= places), "{of_agent:?}");
        assert!(of_server.values().all(|runs| *runs <= INSTANCE_CAP), "{of_server:?}");
        assert_eq!(claimed.len(), 9, "and every place that may be taken is taken");
    }
}

/// SQLite lets only one of them in at a time.
#[test]
fn a_claim_finds_nothing_where_what_it_chose_is_deleted_meanwhile() {
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    for is_company in [false, true] {
        let world = World::new(&store);
        world.queue(&world.agent, Some(&world.issue));
        let delete = |tx: &mut dyn Tx| {
            if is_company {
                let company = tx.companies_mut().lock(Scope::SYSTEM, world.company.id)?;
                return tx.companies_mut().delete(company.expect("it exists"));
            }
            let issue = &world.issue.id.into();
            let issue = tx.issues_mut().lock(Scope::SYSTEM, issue)?;
            tx.issues_mut().delete(issue.expect("it exists"), later(1))
        };
        let request = request(id());
        let ((), claimed) = one_after_the_other(&store, delete, |tx| {
            tx.engine_mut().claim(InstanceScope::SYSTEM, &request)
        });
        assert_eq!(claimed, None);
    }
}
