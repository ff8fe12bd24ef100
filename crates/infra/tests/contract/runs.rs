use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::id::RunId;
use workforce_domain::port::{StopScope, StoreError};
use workforce_domain::run::{
    Completion, CompletionReport, CompletionStatus, Run, RunErrorCode, RunStatus, WakeStatus,
};
use workforce_domain::text::SessionId;
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::on_both_databases;

use crate::world::{World, claim, end, heartbeat, id, later, queue, try_write, wake};

/// Saves `run` as a writer that saw it as it is given here.
fn save_as_seen(world: &World<'_>, seen: &Run) -> Result<(), StoreError> {
    try_write(&**world.store, |tx| {
        let mut held = tx.runs_mut().lock(Scope::SYSTEM, seen.id)?.expect("exists");
        held.clone_from(seen);
        tx.runs_mut().save(&held)
    })
}

on_both_databases! {
    #![beneath_the_rules]
    fn one_wake_is_pending_per_agent_and_issue(store: &TestStore) {
        let world = World::new(store);
        let (first, run) = world.queue(&world.agent, Some(&world.issue));
        world.queue(&world.agent, None);
        world.queue(&world.hire(), Some(&world.issue));
        world.queue(&world.agent, Some(&world.open()));
        let (second, other_run) = wake(&world.agent, Some(&world.issue));
        let refused = try_write(&**store, |tx| queue(tx, &second, &other_run));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        assert_eq!(
            world.read(|reads| reads.runs().find(Scope::SYSTEM, other_run.id)),
            None,
            "nothing of it was written"
        );

        let merged = world.write(|tx| {
            let mut held = tx
                .runs_mut()
                .lock_pending_wake(world.scope(), world.agent.id, Some(world.issue.id))?
                .expect("it is pending");
            assert_eq!(*held, first);
            held.reasons.push(WakeReason::IssueCommented);
            held.comments.push(id());
            held.payload = heartbeat(1);
            held.count += 1;
            held.not_before = later(9);
            held.requested_by = Some("board".into());
            held.updated_at = later(3);
            tx.runs_mut().save_wake(&held)?;
            Ok(Wake::clone(&held))
        });
        assert_eq!(merged.count, 2);
        let stored = world.read(|reads| reads.runs().wake_of(world.scope(), run.id));
        assert_eq!(stored, Some(merged));
    }

    fn a_wake_is_pending_no_more_once_it_is_answered(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, Some(&world.issue));
        claim(store).expect("it may start");
        let pending = world.write(|tx| {
            tx.runs_mut().lock_pending_wake(world.scope(), world.agent.id, Some(world.issue.id))
        });
        assert!(pending.is_none());
        world.queue(&world.agent, Some(&world.issue));
    }

    fn a_run_is_stored_whole(store: &TestStore) {
        let world = World::new(store);
        let (_, queued) = world.queue(&world.agent, Some(&world.issue));
        assert_eq!(world.run(&queued), queued);
        let claimed = claim(store).expect("it may start").run;
        assert_eq!(world.run(&queued), claimed);
        let mut ended = Run {
            stop_requested_at: Some(later(2)),
            stop_reason: Some(RunErrorCode::CancelRequested),
            exit_code: Some(3),
            signal: Some(15),
            error_code: Some(RunErrorCode::AdapterFailed),
            error: Some("it broke".into()),
            log_bytes: 1 << 40,
            log_tail: Some("the end".into()),
            containment: Some("cgroup".into()),
            session: Some(SessionId::parse("abc").unwrap()),
            session_resumed: Some(false),
            prompt_sha256: Some("0a".repeat(32)),
            prompt_bytes: Some(12),
            result_text: Some("\u{e9}".repeat(8 * 1024)),
            retry_at: Some(later(99)),
            ..claimed
        };
        end(&mut ended);
        save_as_seen(&world, &ended).unwrap();
        assert_eq!(world.run(&queued), ended);
    }

    fn a_completion_is_awaited_and_then_kept(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, Some(&world.issue));
        let run = claim(store).expect("it may start").run;
        let other = id();
        let read = || world.read(|reads| reads.runs().completion(world.scope(), run.id));
        let completed = || {
            world.read(|reads| reads.runs().completed(InstanceScope::SYSTEM, &[run.id, other]))
        };
        assert_eq!(read(), None);
        world.write(|tx| tx.runs_mut().await_completion(world.scope(), run.id));
        assert_eq!((read(), completed()), (Some(Completion::Awaited), Vec::new()));
        let report = CompletionReport {
            status: CompletionStatus::Failed,
            result: Some("half of it".into()),
            error: Some("no more turns".into()),
            error_code: Some(RunErrorCode::MaxTurns),
        };
        world.write(|tx| {
            let locked = tx.runs_mut().lock(world.scope().into(), run.id)?.expect("a run");
            tx.runs_mut().save_completion(&locked, &report, later(7))
        });
        assert_eq!(read(), Some(Completion::Reported(report, later(7))));
        assert_eq!(completed(), [run.id]);
        let elsewhere = World::new(store);
        let seen = elsewhere.read(|reads| reads.runs().completion(elsewhere.scope(), run.id));
        assert_eq!(seen, None, "it is the company's own");
    }

    fn a_late_writer_is_refused(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, None);
        let claimed = claim(store).expect("it may start").run;
        let mut ended = claimed.clone();
        end(&mut ended);

        let stale = Run { fence: claimed.fence - 1, ..ended.clone() };
        let refused = save_as_seen(&world, &stale);
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        assert_eq!(world.run(&claimed), claimed);

        save_as_seen(&world, &ended).unwrap();
        for status in [RunStatus::Succeeded, RunStatus::Failed, RunStatus::Cancelled] {
            let late = Run { status, error: Some("late".into()), ..ended.clone() };
            let refused = save_as_seen(&world, &late);
            assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        }
        let refused = save_as_seen(&world, &claimed);
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        assert_eq!(world.run(&claimed), ended);
    }

    fn a_queued_run_cannot_succeed(store: &TestStore) {
        let world = World::new(store);
        let (_, queued) = world.queue(&world.agent, None);
        let mut ended = queued;
        end(&mut ended);
        let refused = save_as_seen(&world, &ended);
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        ended.status = RunStatus::Cancelled;
        save_as_seen(&world, &ended).unwrap();
    }

    fn pending_wakes_are_cancelled_with_their_runs(store: &TestStore) {
        let world = World::new(store);
        let foreign = World::new(store);
        let other = world.hire();
        let (_, outside) = foreign.queue(&foreign.agent, None);
        let queue = || {
            [
                world.queue(&world.agent, Some(&world.issue)).1.id,
                world.queue(&world.agent, None).1.id,
                world.queue(&other, Some(&world.issue)).1.id,
                world.queue(&other, None).1.id,
            ]
        };
        let sorted = |mut ids: Vec<RunId>| {
            ids.sort_unstable();
            ids
        };
        let cancel = |stop| {
            sorted(world.write(|tx| tx.runs_mut().cancel_pending(world.scope(), stop, later(5))))
        };
        let runs = queue();
        assert_eq!(cancel(StopScope::Issue(world.issue.id)), [runs[0], runs[2]]);
        assert_eq!(cancel(StopScope::Agent(world.agent.id)), [runs[1]]);
        assert_eq!(cancel(StopScope::Company), [runs[3]]);
        assert_eq!(cancel(StopScope::Company), []);
        for run in runs {
            let run = world.read(|reads| reads.runs().find(Scope::SYSTEM, run)).unwrap();
            assert_eq!((run.status, run.finished_at), (RunStatus::Cancelled, Some(later(5))));
            let wake = world.read(|reads| reads.runs().wake_of(world.scope(), run.id)).unwrap();
            assert_eq!((wake.status, wake.updated_at), (WakeStatus::Cancelled, later(5)));
        }
        assert_eq!(world.run(&outside).status, RunStatus::Queued);
        assert_eq!(cancel(StopScope::Company), []);
        let again = queue();
        assert_eq!(cancel(StopScope::Company), sorted(again.to_vec()));
    }

    fn live_runs_are_asked_once_to_stop(store: &TestStore) {
        let world = World::new(store);
        let other = world.hire();
        for agent in [&world.agent, &other] {
            world.change_agent(agent, |agent| agent.runtime_config = heartbeat(5));
        }
        let (_, queued) = world.queue(&world.agent, None);
        world.change_company(|company| company.max_concurrent_runs = 10);
        let general = claim(store).expect("it may start").run;
        assert_eq!(general.id, queued.id);
        world.queue(&world.agent, Some(&world.issue));
        let on_issue = claim(store).expect("it may start").run;
        world.queue(&other, None);
        let of_other = claim(store).expect("it may start").run;
        let (_, waiting) = world.queue(&world.agent, None);

        let stop = |stop, spare| {
            world.write(|tx| {
                tx.runs_mut().request_stop(
                    world.scope(),
                    stop,
                    spare,
                    RunErrorCode::BudgetExhausted,
                    later(7),
                )
            })
        };
        assert_eq!(stop(StopScope::Issue(world.issue.id), Some(on_issue.id)), []);
        assert_eq!(stop(StopScope::Issue(world.issue.id), None), [on_issue.id]);
        assert_eq!(stop(StopScope::Agent(world.agent.id), None), [general.id]);
        assert_eq!(stop(StopScope::Company, None), [of_other.id]);
        assert_eq!(stop(StopScope::Company, None), []);
        let asked = world.run(&general);
        assert_eq!(asked.stop_requested_at, Some(later(7)));
        assert_eq!(asked.stop_reason, Some(RunErrorCode::BudgetExhausted));
        assert_eq!(asked.status, RunStatus::Running);
        assert_eq!(world.run(&waiting).stop_requested_at, None);
    }
}
