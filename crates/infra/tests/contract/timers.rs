use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::company::PauseReason;
use workforce_domain::dashboard::Cutoffs;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Assignment, IssueStatus, Progress};
use workforce_domain::port::{Agenda, AgendaTerms};
use workforce_domain::timer::{Timer, TimerSetting};
use workforce_testkit::on_both_databases;

use crate::world::{World, later, now};

fn every(seconds: i32) -> workforce_domain::Document {
    serde_json::from_str(&format!(r#"{{"heartbeat":{{"intervalSec":{seconds}}}}}"#)).unwrap()
}

fn timer(world: &World<'_>, agent: &Agent) -> Timer {
    let found = world.read(|reads| reads.agents().timer(world.scope(), agent.id));
    found.expect("exists")
}

fn agenda(world: &World<'_>, seconds: u64) -> Agenda {
    let terms = AgendaTerms {
        now: later(seconds),
        ended_by: now(),
    };
    world.read(|reads| reads.engine().agenda(InstanceScope::SYSTEM, &terms))
}

/// Those of the company that are to be looked at.
fn to_check(world: &World<'_>, seconds: u64, own: &[AgentId]) -> Vec<AgentId> {
    let mut found = world.read(|reads| {
        reads
            .engine()
            .timers_to_check(InstanceScope::SYSTEM, later(seconds), 1000)
    });
    found.retain(|(_, agent)| own.contains(agent));
    assert!(found.iter().all(|(company, _)| *company == world.scope()));
    found.into_iter().map(|(_, agent)| agent).collect()
}

fn set(world: &World<'_>, agent: &Agent, seconds: Option<u64>, suppressed: i64) {
    let setting = TimerSetting {
        next: seconds.map(later),
        rests: false,
        suppressed,
    };
    set_to(world, agent, &setting);
}

fn set_to(world: &World<'_>, agent: &Agent, setting: &TimerSetting) {
    world.write(|tx| {
        let held = tx
            .agents_mut()
            .lock(Scope::SYSTEM, agent.id)?
            .expect("exists");
        tx.engine_mut().set_timer(&held, setting)
    });
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_timer_follows_the_configuration(store: &TestStore) {
        let world = World::new(store);
        let (early, late) = (world.hire(), world.hire());
        let own = [early.id, late.id];
        assert_eq!(to_check(&world, 0, &own), []);
        for agent in [&early, &late] {
            world.change_agent(agent, |agent| agent.runtime_config = every(60));
        }
        assert_eq!(to_check(&world, 0, &own), own);
        set(&world, &late, Some(30), 0);
        set(&world, &early, Some(20), 0);
        assert_eq!(timer(&world, &early), Timer {
            interval_sec: Some(60), armed_sec: Some(60), next: Some(later(20)), ..Timer::default()
        });
        assert_eq!(to_check(&world, 19, &own), []);
        assert_eq!(to_check(&world, 20, &own), [early.id]);
        assert_eq!(to_check(&world, 99, &own), own);
        // What else changes about an agent moves no timer.
        world.change_agent(&early, |agent| agent.consecutive_failures = 1);
        assert_eq!(timer(&world, &early).next, Some(later(20)));
        set(&world, &early, Some(80), 1);
        set(&world, &early, Some(90), 1);
        assert_eq!((timer(&world, &early).suppressed, timer(&world, &early).next), (2, Some(later(90))));

        // Another interval, and a pause.
        world.change_agent(&late, |agent| agent.runtime_config = every(120));
        world.change_agent(&early, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.pause(PauseReason::Manual, now()).unwrap();
        });
        assert_eq!(to_check(&world, 0, &own), own);
        set(&world, &early, None, 0);
        set(&world, &late, Some(50), 0);
        assert_eq!(to_check(&world, 0, &own), []);
        assert_eq!(timer(&world, &early), Timer { suppressed: 2, ..Timer::default() });
        assert_eq!(to_check(&world, 99, &own), [late.id]);
        let none = world.read(|reads| {
            reads.engine().timers_to_check(InstanceScope::SYSTEM, later(99), 0)
        });
        assert_eq!(none, []);
    }

    fn a_timer_that_rests_is_looked_at_once_something_waits(store: &TestStore) {
        let world = World::new(store);
        let (resting, awake) = (world.hire(), world.hire());
        let own = [resting.id, awake.id];
        for agent in [&resting, &awake] {
            world.change_agent(agent, |agent| agent.runtime_config = every(60));
        }
        let rest = TimerSetting { next: Some(later(20)), rests: true, suppressed: 3 };
        set_to(&world, &resting, &rest);
        set_to(&world, &awake, &TimerSetting { rests: false, ..rest });
        assert_eq!(timer(&world, &resting), Timer {
            interval_sec: Some(60), armed_sec: Some(60), next: Some(later(20)), suppressed: 3,
            rests: true,
        });
        assert_eq!(to_check(&world, 500, &own), [awake.id]);
        let put = |status: IssueStatus| {
            world.change_issue(&world.issue, |issue| {
                issue.assignee = Assignment::stored(Assignee::Agent(resting.id));
                issue.progress = Progress::begin(status, now());
            });
        };
        put(IssueStatus::Todo);
        assert_eq!(to_check(&world, 0, &own), [resting.id]);
        assert!(agenda(&world, 0).has_timers_to_set);
        put(IssueStatus::Done);
        assert_eq!(to_check(&world, 0, &own), []);
        // An agent that runs at every beat.
        world.change_agent(&resting, |agent| {
            agent.runtime_config = serde_json::from_str(
                r#"{"heartbeat":{"intervalSec":60,"alwaysRun":true}}"#,
            ).unwrap();
        });
        assert_eq!(to_check(&world, 0, &own), [resting.id]);
    }

    fn the_dashboard_counts_the_beats_of_a_rest(store: &TestStore) {
        let world = World::new(store);
        let agent = world.hire();
        world.change_agent(&agent, |agent| agent.runtime_config = every(60));
        let first = TimerSetting { next: Some(later(20)), rests: true, suppressed: 3 };
        set_to(&world, &agent, &first);
        for (seconds, count) in [(0, 3), (19, 3), (20, 4), (79, 4), (80, 5), (20 + 60 * 1000, 1004)] {
            let at = later(seconds);
            let cutoffs = Cutoffs { now: at, today: now(), yesterday: now(), hour_ago: now() };
            let figures = world.read(|reads| reads.companies().figures(world.scope(), cutoffs));
            assert_eq!(figures.agents.suppressed_wakes, count, "after {seconds} s");
            assert_eq!(timer(&world, &agent).seen_at(at).suppressed, count);
        }
    }

    fn the_agenda_tells_what_comes_to_be_due(store: &TestStore) {
        let world = World::new(store);
        let agent = world.hire();
        world.change_agent(&agent, |agent| agent.runtime_config = every(60));
        assert!(agenda(&world, 0).has_timers_to_set);
        let set_at = TimerSetting { next: Some(later(20)), ..TimerSetting::default() };
        set_to(&world, &agent, &set_at);
        let found = agenda(&world, 0);
        assert!(found.beat.is_some_and(|beat| beat <= later(20)), "{found:?}");
        // Others may use the same database.
        world.change_agent(&agent, |agent| agent.backoff_until = Some(later(7)));
        let start = agenda(&world, 6).start;
        assert!(start.is_some_and(|start| start > later(6) && start <= later(7)), "{start:?}");
        let start = agenda(&world, 7).start;
        assert!(start.is_none_or(|start| start > later(7)), "{start:?}");
    }

    fn work_is_what_waits_for_an_agent(store: &TestStore) {
        let world = World::new(store);
        let (boss, worker) = (world.hire(), world.hire());
        world.change_agent(&worker, |agent| agent.reports_to = Some(boss.id));
        let has_work = |agent: &Agent| {
            world.read(|reads| reads.agents().has_work(world.scope(), agent.id))
        };
        let put = |status: IssueStatus| {
            world.change_issue(&world.issue, |issue| {
                issue.assignee = Assignment::stored(Assignee::Agent(worker.id));
                issue.progress = Progress::begin(status, now());
            });
        };
        assert!(!has_work(&worker));
        for (status, own, managers) in [
            (IssueStatus::Backlog, false, false),
            (IssueStatus::Todo, true, false),
            (IssueStatus::InProgress, true, false),
            (IssueStatus::InReview, false, true),
            (IssueStatus::Blocked, false, false),
            (IssueStatus::Done, false, false),
        ] {
            put(status);
            assert_eq!((has_work(&worker), has_work(&boss)), (own, managers), "{status}");
        }
        put(IssueStatus::InReview);
        let reviewed = |implementer| {
            world.change_issue(&world.issue, |issue| issue.implementer = implementer);
        };
        reviewed(Some(boss.id));
        assert!(has_work(&worker), "it is to review the work of another");
        reviewed(None);
        let (_, run) = world.queue(&worker, None);
        assert!(has_work(&worker));
        assert_eq!(
            world.read(|reads| reads.runs().pending_of(world.scope(), worker.id, 10)).len(),
            1
        );
        assert!(world.read(|reads| reads.runs().live_of(world.scope(), worker.id)).is_empty());
        let request = crate::world::request(crate::world::id());
        let claimed = world.write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request));
        assert_eq!(claimed.map(|claimed| claimed.run.id), Some(run.id));
        assert!(!has_work(&worker));
        let live = world.read(|reads| reads.runs().live_of(world.scope(), worker.id));
        assert_eq!(live.iter().map(|run| run.id).collect::<Vec<_>>(), [run.id]);
        world.finish(&live[0]);
        let stranger = World::new(store);
        assert!(stranger.read(|reads| reads.agents().timer(stranger.scope(), worker.id)).is_none());
    }
}
