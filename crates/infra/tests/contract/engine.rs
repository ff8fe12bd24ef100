use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::company::PauseReason;
use workforce_domain::cost::{BillingType, CostEvent, CostSource, TokenUse};
use workforce_domain::id::InstanceId;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::{BudgetStop, RenewedRun, StopScope, StoreError};
use workforce_domain::run::{ProcessRecord, Run, RunErrorCode};
use workforce_domain::text::Name;
use workforce_domain::time::Month;
use workforce_domain::wake::WakeReason;
use workforce_testkit::on_both_databases;

use crate::world::{World, heartbeat, id, later, now, queue, request, try_write, wake};

fn start(world: &World<'_>, instance: InstanceId, lease_seconds: u64) -> Run {
    world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(10));
    world.change_company(|company| company.max_concurrent_runs = 100);
    world.queue(&world.agent, None);
    let mut request = request(instance);
    request.lease_until = later(lease_seconds);
    world
        .write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request))
        .expect("it may start")
        .run
}

/// A cost of the world's agent, now.
pub(crate) fn cost(world: &World<'_>, cents: &str) -> CostEvent {
    CostEvent {
        id: id(),
        company: world.company.id,
        agent: world.agent.id,
        issue: None,
        project: None,
        goal: None,
        run: None,
        billing_code: None,
        provider: Name::parse("anthropic").unwrap(),
        model: Name::parse("m").unwrap(),
        billing_type: BillingType::Api,
        tokens: TokenUse::default(),
        cost: Cents::parse(cents).unwrap(),
        estimated: None,
        source: CostSource::Reported,
        counted: true,
        idempotency_key: None,
        occurred_at: now(),
        created_at: now(),
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_server_renews_what_is_its_own(store: &TestStore) {
        let world = World::new(store);
        let (mine, other) = (id::<InstanceId>(), id::<InstanceId>());
        let own = start(&world, mine, 30);
        let foreign = start(&world, other, 30);
        let ended = start(&world, mine, 30);
        world.finish(&ended);
        world.write(|tx| {
            tx.runs_mut().request_stop(
                world.scope(),
                StopScope::Company,
                Some(foreign.id),
                RunErrorCode::CancelRequested,
                later(3),
            )
        });
        let renewed = world.write(|tx| {
            let runs = [own.id, foreign.id, ended.id, id()];
            tx.engine_mut().renew(InstanceScope::SYSTEM, mine, &runs, later(90))
        });
        let expected = RenewedRun {
            run: own.id,
            fence: own.fence,
            stop_reason: Some(RunErrorCode::CancelRequested),
        };
        assert_eq!(renewed, [expected]);
        assert_eq!(world.run(&own).lease_expires_at, Some(later(90)));
        assert_eq!(world.run(&foreign).lease_expires_at, Some(later(30)));
    }

    fn runs_whose_lease_expired_are_told_oldest_first(store: &TestStore) {
        let world = World::new(store);
        let instance = id();
        let late = start(&world, instance, 40);
        let early = start(&world, instance, 30);
        start(&world, instance, 50);
        let ended = start(&world, instance, 10);
        world.finish(&ended);
        let expired = |at, limit| {
            let runs = world.read(|reads| {
                reads.engine().expired(InstanceScope::SYSTEM, later(at), limit)
            });
            runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
        };
        assert_eq!(expired(29, 10), []);
        assert_eq!(expired(30, 10), [early.id]);
        assert_eq!(expired(45, 10), [early.id, late.id]);
        assert_eq!(expired(45, 1), [early.id]);
    }

    fn what_a_dead_server_left_is_found(store: &TestStore) {
        let world = World::new(store);
        let (dead, new) = (id::<InstanceId>(), id::<InstanceId>());
        let left = start(&world, dead, 30);
        let own = start(&world, new, 30);
        world.queue(&world.agent, None);
        let elsewhere = world.read(|reads| {
            reads.engine().running_elsewhere(InstanceScope::SYSTEM, new)
        });
        assert_eq!(elsewhere, std::slice::from_ref(&left));

        let process = |run: &Run, instance| ProcessRecord {
            run: run.id,
            company: run.company,
            instance,
            pid: 4711,
            process_group: 4711,
            start_ticks: 1 << 40,
        };
        world.write(|tx| {
            let first = ProcessRecord { pid: 4710, ..process(&left, dead) };
            tx.engine_mut().record_process(&first)?;
            tx.engine_mut().record_process(&process(&left, dead))?;
            tx.engine_mut().record_process(&process(&own, new))
        });
        let processes = || world.read(|reads| {
            reads.engine().processes_elsewhere(InstanceScope::SYSTEM, new)
        });
        assert_eq!(processes(), [process(&left, dead)]);
        let forget =
            |scope| world.write(|tx| tx.engine_mut().delete_process(scope, left.id));
        forget(World::new(store).scope());
        assert_eq!(processes(), [process(&left, dead)], "it is of another company");
        forget(world.scope());
        forget(world.scope());
        assert_eq!(processes(), []);
    }

    fn ended_wakes_are_forgotten_in_batches_when_their_run_has_ended(store: &TestStore) {
        let world = World::new(store);
        let cancel = |at| {
            world.queue(&world.agent, None);
            let stop = StopScope::Agent(world.agent.id);
            let cancelled = world.write(|tx| tx.runs_mut().cancel_pending(world.scope(), stop, at));
            assert_eq!(cancelled.len(), 1);
            cancelled[0]
        };
        let old = [cancel(later(1)), cancel(later(2)), cancel(later(3))];
        let young = cancel(later(50));
        let running = start(&world, id(), 30).id;
        let (_, pending) = world.queue(&world.agent, Some(&world.issue));
        let forget = |before, limit| world.write(|tx| {
            tx.engine_mut().delete_wakes(InstanceScope::SYSTEM, before, limit)
        });
        let has = |run| world.read(|reads| reads.runs().wake_of(world.scope(), run)).is_some();
        assert_eq!(forget(later(50), 2), 2);
        assert_eq!(old.map(has), [false, false, true]);
        assert_eq!([forget(later(50), 2), forget(later(50), 2)], [1, 0]);
        assert_eq!(forget(later(1000), 10), 1);
        assert_eq!([young, running, pending.id].map(has), [false, true, true]);
        let run = world.read(|reads| reads.runs().find(Scope::SYSTEM, old[0]));
        assert!(run.is_some(), "what ran stays");
    }

    fn the_last_retry_is_remembered_per_issue(store: &TestStore) {
        let world = World::new(store);
        let retry = |issue, seconds| {
            let (mut wake, mut run) = wake(&world.agent, issue);
            wake.reasons = vec![WakeReason::ProcessLostRetry];
            run.reason = WakeReason::ProcessLostRetry;
            run.created_at = later(seconds);
            world.write(|tx| {
                tx.runs_mut().cancel_pending(world.scope(), StopScope::Company, later(1))?;
                queue(tx, &wake, &run)
            });
        };
        let last = |issue| {
            world.read(|reads| {
                reads.engine().last_retry_of(world.scope(), world.agent.id, issue)
            })
        };
        world.queue(&world.agent, Some(&world.issue));
        assert_eq!(last(Some(world.issue.id)), None);
        retry(Some(&world.issue), 5);
        retry(Some(&world.issue), 3);
        assert_eq!(last(Some(world.issue.id)), Some(later(5)));
        assert_eq!(last(None), None);
        retry(None, 9);
        assert_eq!(last(None), Some(later(9)));
    }

    fn budget_stops_are_lifted_when_there_is_budget_again(store: &TestStore) {
        let world = World::new(store);
        let (this_month, next_month) = (Month::of(now()), Month::of(now()).next());
        let hand = world.hire();
        let budget = Budget::from_cents(10).unwrap();
        world.change_agent(&world.agent, |agent| {
            agent.budget = budget;
            agent.lifecycle = AgentLifecycle::ENABLED.pause(PauseReason::Budget, now()).unwrap();
        });
        world.change_agent(&hand, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.pause(PauseReason::Manual, now()).unwrap();
        });
        world.change_company(|company| {
            company.budget = budget;
            company.lifecycle = company.lifecycle.stop_for_budget(now());
        });
        world.write(|tx| tx.ledger_mut().record(&cost(&world, "10")));
        let stops = |month, limit| {
            world.read(|reads| {
                reads.engine().budget_stops_to_lift(InstanceScope::SYSTEM, month, limit)
            })
        };
        let company = BudgetStop { company: world.scope(), agent: None };
        let agent = BudgetStop { company: world.scope(), agent: Some(world.agent.id) };
        assert_eq!(stops(this_month, 10), []);
        assert_eq!(stops(next_month, 10), [company, agent]);
        assert_eq!(stops(next_month, 1), [company]);
        world.change_agent(&world.agent, |agent| agent.budget = Budget::from_cents(11).unwrap());
        assert_eq!(stops(this_month, 10), [agent]);
        world.change_agent(&world.agent, |agent| agent.budget = Budget::UNLIMITED);
        assert_eq!(stops(this_month, 10), [agent]);
    }

    fn a_process_is_recorded_for_a_known_run_only(store: &TestStore) {
        let world = World::new(store);
        let process = ProcessRecord {
            run: id(),
            company: world.company.id,
            instance: id(),
            pid: 1,
            process_group: 1,
            start_ticks: 1,
        };
        let refused = try_write(&**store, |tx| tx.engine_mut().record_process(&process));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        assert_eq!(
            world.read(|reads| reads.runs().find(Scope::SYSTEM, process.run)),
            None
        );
    }
}
