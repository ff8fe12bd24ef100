use core::time::Duration;

use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity};
use workforce_domain::actor::{ActorKind, InstanceScope};
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::board::BoardMember;
use workforce_domain::company::PauseReason;
use workforce_domain::dashboard::{AgentFigures, Badges, Cutoffs, DashboardMetrics, TaskFigures};
use workforce_domain::id::RunId;
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Progress, StuckReason};
use workforce_domain::money::Budget;
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;
use workforce_testkit::on_both_databases;

use crate::world::{World, execute, id, issue, literal, now, request, walk};

/// Twelve hours after midnight is [`now`].
fn hours(hours: i64) -> Timestamp {
    Timestamp::from_micros(now().micros() + hours * 3_600_000_000)
}

fn instants() -> Cutoffs {
    Cutoffs {
        now: now(),
        today: hours(-12),
        yesterday: hours(-36),
        hour_ago: hours(-1),
    }
}

fn open(world: &World<'_>, status: IssueStatus, at: Timestamp) -> Issue {
    let issue = Issue {
        assignee: Assignment::stored(Assignee::Agent(world.agent.id)),
        progress: Progress::begin(status, at),
        updated_at: at,
        ..issue(&world.company)
    };
    world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
    issue
}

fn begin(world: &World<'_>) -> Run {
    let request = request(id());
    world
        .write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request))
        .expect("it may start")
        .run
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_company_is_counted(store: &TestStore) {
        let world = World::new(store);
        let figures = || world.read(|reads| reads.companies().figures(world.scope(), instants()));
        assert_eq!(figures(), DashboardMetrics {
            agents: AgentFigures { active: 1, ..AgentFigures::default() },
            tasks: TaskFigures { open: 1, ..TaskFigures::default() },
            ..DashboardMetrics::default()
        });
        for at in [hours(0), hours(-11), hours(-13), hours(-37)] {
            open(&world, IssueStatus::Done, at);
        }
        open(&world, IssueStatus::Cancelled, hours(0));
        open(&world, IssueStatus::Blocked, hours(0));
        let reviewed = open(&world, IssueStatus::InReview, hours(0));
        let by_agent = open(&world, IssueStatus::InReview, hours(0));
        let implementer = world.hire().id;
        world.change_issue(&by_agent, |issue| issue.implementer = Some(implementer));
        let of_board = open(&world, IssueStatus::Blocked, hours(0));
        world.change_issue(&of_board, |issue| {
            issue.assignee = Assignment::to_board(BoardMember::Local);
        });
        world.write(|tx| {
            let held = tx.issues_mut().lock(world.scope().into(), &reviewed.id.into())?;
            tx.issues_mut().note_stuck(&held.unwrap(), Some(StuckReason::NotWoken), now())
        });
        open(&world, IssueStatus::InProgress, hours(0));
        open(&world, IssueStatus::InProgress, hours(-2));
        let hidden = open(&world, IssueStatus::InProgress, hours(-2));
        world.change_issue(&hidden, |issue| issue.hidden_at = Some(now()));
        let worked_on = open(&world, IssueStatus::InProgress, hours(-2));

        let (failing, paused, gone, runner) =
            (world.hire(), world.hire(), world.hire(), world.hire());
        world.change_agent(&failing, |agent| {
            agent.consecutive_failures = 3;
            agent.budget = Budget::from_cents(500).unwrap();
        });
        world.change_agent(&paused, |agent| {
            agent.consecutive_failures = 1;
            agent.lifecycle = AgentLifecycle::ENABLED.pause(PauseReason::Budget, now()).unwrap();
        });
        world.change_agent(&gone, |agent| {
            agent.consecutive_failures = 9;
            agent.budget = Budget::from_cents(7000).unwrap();
            agent.lifecycle = AgentLifecycle::ENABLED.terminate(now()).unwrap();
        });
        world.queue(&runner, Some(&worked_on));
        begin(&world);
        world.queue(&failing, None);
        world.queue(&paused, None);

        let at = literal(store, now());
        let (company, agent) = (world.company.id, world.agent.id);
        for status in ["pending", "revision_requested", "approved"] {
            let approval: RunId = id();
            execute(store, &format!(
                "INSERT INTO approvals (id, company_id, type, status, payload, \
                    requested_by_agent_id, decided_by, decided_at, resubmit_count, created_at, \
                    updated_at) \
                 VALUES ('{approval}', '{company}', 'approve_ceo_strategy', '{status}', '{{}}', \
                    '{agent}', 'b', {at}, 0, {at}, {at})"
            ));
        }
        assert_eq!(figures(), DashboardMetrics {
            agents: AgentFigures {
                active: 2, running: 1, paused: 1, error: 1, budget_cents: 500,
                ..AgentFigures::default()
            },
            tasks: TaskFigures {
                open: 8, in_progress: 3, in_review: 2, blocked: 2, done: 4, done_today: 2, done_yesterday: 1,
                stale: 1,
            },
            pending_approvals: 1,
            queue_depth: 2,
        });
        let badges = world.read(|reads| reads.companies().badges(world.scope()));
        assert_eq!(badges, Badges {
            approvals: 1, failed_runs: 2, budget_stops: 1, in_review: 1, assigned: 1, stuck: 1,
        });
        let other = World::new(store);
        assert_eq!(other.read(|reads| reads.companies().badges(other.scope())), Badges::default());
    }

    fn who_ran_an_hour_ago_is_counted_once(store: &TestStore) {
        let world = World::new(store);
        let other = world.hire();
        let ran = |agent, from: i64, to: Option<i64>| {
            let issue = world.open();
            world.queue(agent, Some(&issue));
            let run = begin(&world);
            world.finish(&run);
            let end = to.map_or_else(
                || "finished_at".to_owned(),
                |to| literal(store, hours(to)),
            );
            execute(store, &format!(
                "UPDATE heartbeat_runs SET started_at = {}, finished_at = {end} WHERE id = '{}'",
                literal(store, hours(from)), run.id
            ));
        };
        let counted = || {
            let figures =
                world.read(|reads| reads.companies().figures(world.scope(), instants()));
            figures.agents.running_an_hour_ago
        };
        ran(&world.agent, -3, Some(-2));
        ran(&world.agent, 0, None);
        assert_eq!(counted(), 0);
        ran(&world.agent, -3, None);
        ran(&world.agent, -4, None);
        assert_eq!(counted(), 1);
        ran(&other, -2, None);
        assert_eq!(counted(), 2);
    }

    fn what_happened_to_a_run_comes_in_order(store: &TestStore) {
        let world = World::new(store);
        let (_, run) = world.queue(&world.agent, None);
        let (_, sibling) = world.queue(&world.agent, Some(&world.issue));
        let row = |seconds: u64, of: Option<RunId>, entity: Entity, entity_id: String| Activity {
            id: id(),
            company: world.company.id,
            actor_kind: ActorKind::Agent,
            actor_id: "x".into(),
            agent: Some(world.agent.id),
            run: of,
            action: Action::IssueUpdated,
            entity,
            entity_id,
            details: Document::new(),
            created_at: now().plus(Duration::from_secs(seconds)),
        };
        let about = |seconds, of| row(seconds, of, Entity::HeartbeatRun, run.id.to_string());
        let within = |seconds, of| row(seconds, Some(of), Entity::Issue, "i".into());
        let rows = [
            about(1, None), within(2, run.id), within(2, run.id), about(3, Some(run.id)),
            within(4, run.id), about(5, None),
        ];
        let others = [
            within(2, sibling.id),
            row(3, None, Entity::HeartbeatRun, sibling.id.to_string()),
            row(3, None, Entity::Issue, run.id.to_string()),
        ];
        // Those of one instant are of one transaction, as they are in life.
        for seconds in 1..=5 {
            let at = now().plus(Duration::from_secs(seconds));
            world.write(|tx| {
                for row in rows.iter().rev().chain(&others).filter(|row| row.created_at == at) {
                    tx.journal().activity(row.clone());
                }
                Ok(())
            });
        }
        let mut expected: Vec<_> = rows.iter().map(|row| (row.created_at, row.id)).collect();
        expected.sort();
        for limit in [1, 2, 100] {
            let found = walk(limit, |page| {
                world.read(|reads| reads.activity().of_run(world.scope(), run.id, page))
            });
            let found: Vec<_> = found.iter().map(|row| (row.created_at, row.id)).collect();
            assert_eq!(found, expected, "in pages of {limit}");
        }
        let other = World::new(store);
        let foreign = other.read(|reads| {
            reads.activity().of_run(other.scope(), run.id, &workforce_domain::page::PageRequest::first())
        });
        assert!(foreign.items.is_empty());
    }
}
