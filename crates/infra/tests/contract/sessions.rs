//! What the programs of agents keep from run to run, and what keeps their accounts waiting.

use workforce_domain::actor::InstanceScope;
use workforce_domain::agent::{AdapterType, Agent};
use workforce_domain::id::RunId;
use workforce_domain::port::StoreError;
use workforce_domain::run::{PromptDigest, Run, RunStart};
use workforce_domain::session::{AgentSession, FailureClass, ProviderGate, TaskKey};
use workforce_domain::text::{AccountKey, SessionId};
use workforce_testkit::on_both_databases;

use crate::world::{World, claim, id, later, lock_agent, lock_issue, number, try_write, write};

/// A session of an agent about a task, last used after so many seconds.
pub(crate) fn session(agent: &Agent, task: TaskKey, seconds: u64) -> AgentSession {
    AgentSession {
        company: agent.company,
        agent: agent.id,
        adapter_type: AdapterType::ClaudeLocal,
        task,
        session: SessionId::parse(&format!("s{}", number())).unwrap(),
        directory: "/srv/work".into(),
        fingerprint: "f0".repeat(32),
        runs: 1,
        input_tokens: 0,
        usage_baseline: "{}".into(),
        last_result: None,
        begun_at: later(0),
        last_used_at: later(seconds),
        last_run: None,
    }
}

/// A gate of a company's account that is open again after so many seconds.
pub(crate) fn gate(world: &World<'_>, account: &str, seconds: u64) -> ProviderGate {
    ProviderGate {
        company: world.company.id,
        account: AccountKey::parse(account).unwrap(),
        blocked_until: later(seconds),
        reason: FailureClass::ProviderLimit,
        noted_at: later(0),
        run: None,
    }
}

fn save(world: &World<'_>, session: &AgentSession) {
    world.write(|tx| tx.sessions_mut().save_session(session));
}

fn find(world: &World<'_>, agent: &Agent, task: TaskKey) -> Option<AgentSession> {
    world.read(|reads| {
        let adapter_type = AdapterType::ClaudeLocal;
        reads
            .sessions()
            .find_session(world.scope(), agent.id, adapter_type, task)
    })
}

fn listed(world: &World<'_>, agent: &Agent, limit: usize) -> Vec<AgentSession> {
    world.read(|reads| reads.sessions().sessions_of(world.scope(), agent.id, limit))
}

fn gate_of(world: &World<'_>, account: &str) -> Option<ProviderGate> {
    let account = AccountKey::parse(account).unwrap();
    world.read(|reads| reads.sessions().find_gate(world.scope(), &account))
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_session_is_kept_per_agent_program_and_task(store: &TestStore) {
        let world = World::new(store);
        let (_, run) = world.queue(&world.agent, None);
        let task = TaskKey::Issue(world.issue.id);
        let first = session(&world.agent, task, 1);
        save(&world, &first);
        save(&world, &session(&world.agent, TaskKey::General, 1));
        save(&world, &session(&world.hire(), task, 1));
        let codex = AdapterType::CodexLocal;
        save(&world, &AgentSession { adapter_type: codex, ..first.clone() });
        assert_eq!(find(&world, &world.agent, task), Some(first.clone()));

        let next = AgentSession {
            session: SessionId::parse("other").unwrap(),
            directory: "/elsewhere".into(),
            fingerprint: "a".repeat(64),
            runs: 7,
            input_tokens: 1 << 40,
            usage_baseline: r#"{"tokens":null}"#.into(),
            last_result: Some("x".repeat(16 * 1024)),
            begun_at: later(2),
            last_used_at: later(9),
            last_run: Some(run.id),
            ..first
        };
        save(&world, &next);
        assert_eq!(find(&world, &world.agent, task), Some(next));
        save(&world, &first);
        assert_eq!(find(&world, &world.agent, task), Some(first), "what is empty is emptied");
        assert_eq!(listed(&world, &world.agent, 10).len(), 3);
        let elsewhere = World::new(store);
        assert_eq!(find(&elsewhere, &world.agent, task), None, "it is of another company");
        assert_eq!(listed(&elsewhere, &world.agent, 10), []);
    }

    fn sessions_are_listed_last_used_first(store: &TestStore) {
        let world = World::new(store);
        let used = [5, 1, 9].map(|seconds| {
            session(&world.agent, TaskKey::Issue(world.open().id), seconds)
        });
        for session in &used {
            save(&world, session);
        }
        let [middle, oldest, newest] = used;
        assert_eq!(listed(&world, &world.agent, 2), [newest.clone(), middle.clone()]);
        assert_eq!(listed(&world, &world.agent, 9), [newest, middle, oldest]);
    }

    fn sessions_are_forgotten_per_task_or_all_together(store: &TestStore) {
        let world = World::new(store);
        let (other, task) = (world.hire(), TaskKey::Issue(world.issue.id));
        let forget = |world: &World<'_>, agent: &Agent, task| world.write(|tx| {
            tx.sessions_mut().delete_sessions(world.scope(), agent.id, task)
        });
        for agent in [&world.agent, &other] {
            save(&world, &session(agent, task, 1));
            save(&world, &session(agent, TaskKey::General, 2));
        }
        assert_eq!(forget(&World::new(store), &world.agent, None), 0, "of another company");
        assert_eq!(forget(&world, &world.agent, Some(task)), 1);
        assert_eq!(forget(&world, &world.agent, Some(task)), 0);
        assert_eq!(listed(&world, &world.agent, 9).len(), 1);
        save(&world, &session(&world.agent, task, 3));
        assert_eq!(forget(&world, &world.agent, None), 2);
        assert_eq!(listed(&world, &world.agent, 9), []);
        assert_eq!(listed(&world, &other, 9).len(), 2);
    }

    fn a_session_goes_with_its_issue_and_its_agent(store: &TestStore) {
        let world = World::new(store);
        let (gone, task) = (world.hire(), TaskKey::Issue(world.issue.id));
        save(&world, &session(&world.agent, task, 1));
        save(&world, &session(&world.agent, TaskKey::General, 1));
        save(&world, &session(&gone, TaskKey::General, 1));
        world.write(|tx| {
            let held = lock_agent(tx, &gone)?;
            tx.agents_mut().delete(held)?;
            let held = lock_issue(tx, &world.issue)?;
            tx.issues_mut().delete(held, later(1))
        });
        assert_eq!(listed(&world, &gone, 9), []);
        let left = listed(&world, &world.agent, 9);
        assert_eq!(left.iter().map(|it| it.task).collect::<Vec<_>>(), [TaskKey::General]);
    }

    fn a_session_is_of_the_companys_own(store: &TestStore) {
        let (world, elsewhere) = (World::new(store), World::new(store));
        let own = session(&world.agent, TaskKey::Issue(elsewhere.issue.id), 1);
        let foreign = AgentSession {
            company: elsewhere.company.id,
            ..session(&world.agent, TaskKey::General, 1)
        };
        let unknown = AgentSession {
            last_run: Some(id::<RunId>()),
            ..session(&world.agent, TaskKey::General, 1)
        };
        for refused in [own, foreign, unknown] {
            let refused = try_write(&**store, |tx| tx.sessions_mut().save_session(&refused));
            assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        }
    }

    fn of_two_gates_the_longer_stays(store: &TestStore) {
        let world = World::new(store);
        let note = |gate: &ProviderGate| world.write(|tx| tx.sessions_mut().note_gate(gate));
        let (_, run) = world.queue(&world.agent, None);
        assert_eq!(gate_of(&world, "a"), None);
        let first = gate(&world, "a", 60);
        note(&first);
        note(&ProviderGate { reason: FailureClass::Overloaded, ..gate(&world, "a", 59) });
        note(&gate(&world, "b", 90));
        assert_eq!(gate_of(&world, "a"), Some(first.clone()));
        let longer = ProviderGate {
            reason: FailureClass::Overloaded,
            noted_at: later(3),
            run: Some(run.id),
            ..gate(&world, "a", 61)
        };
        note(&longer);
        note(&first);
        assert_eq!(gate_of(&world, "a"), Some(longer));
        assert_eq!(gate_of(&World::new(store), "a"), None, "of another company");
        let notes = || (1..9).map(|n| (n, gate(&world, "c", 100 + n)));
        std::thread::scope(|threads| {
            for (_, gate) in notes() {
                threads.spawn(move || write(&**store, |tx| tx.sessions_mut().note_gate(&gate)));
            }
        });
        assert_eq!(gate_of(&world, "c").map(|gate| gate.blocked_until), Some(later(108)));
    }

    fn gates_are_forgotten_in_portions_once_they_have_ended(store: &TestStore) {
        let world = World::new(store);
        for (account, seconds) in [("a", 3), ("b", 1), ("c", 2), ("d", 4)] {
            world.write(|tx| tx.sessions_mut().note_gate(&gate(&world, account, seconds)));
        }
        let forget = || world.write(|tx| {
            tx.sessions_mut().delete_expired_gates(InstanceScope::SYSTEM, later(3), 2)
        });
        let left = || ["a", "b", "c", "d"].map(|account| gate_of(&world, account).is_some());
        assert_eq!(forget(), 2);
        assert_eq!(left(), [true, false, false, true], "the oldest first");
        assert_eq!([forget(), forget()], [1, 0]);
        assert_eq!(left(), [false, false, false, true]);
    }

    fn a_running_run_notes_what_it_is_started_with(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, Some(&world.issue));
        let claimed = claim(store).expect("it may start").run;
        let start = RunStart {
            containment: Some("cgroup,namespace".into()),
            session: Some(SessionId::parse("abc-1").unwrap()),
            session_resumed: Some(true),
            prompt: Some(PromptDigest { sha256: "0a".repeat(32), bytes: 4711 }),
            may_be_completed: false,
        };
        let note = |world: &World<'_>, run: &Run, fence| world.write(|tx| {
            tx.engine_mut().note_run_start(world.scope(), run.id, fence, &start)
        });
        let (_, queued) = world.queue(&world.hire(), None);
        assert!(!note(&World::new(store), &claimed, claimed.fence), "of another company");
        assert!(!note(&world, &claimed, claimed.fence + 1), "claimed again");
        assert!(!note(&world, &queued, queued.fence), "it does not run");
        assert_eq!(world.run(&claimed), claimed);
        assert!(note(&world, &claimed, claimed.fence));
        let noted = Run {
            containment: start.containment.clone(),
            session: start.session.clone(),
            session_resumed: Some(true),
            prompt_sha256: Some("0a".repeat(32)),
            prompt_bytes: Some(4711),
            ..claimed.clone()
        };
        assert_eq!(world.run(&claimed), noted);
        world.finish(&claimed);
        assert!(!note(&world, &claimed, claimed.fence), "it has ended");
        assert_eq!(world.run(&claimed).session, noted.session);
    }

    fn no_run_is_said_to_go_on_with_nothing(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, None);
        let claimed = claim(store).expect("it may start").run;
        let start = RunStart { session_resumed: Some(true), ..RunStart::default() };
        let refused = try_write(&**store, |tx| {
            tx.engine_mut().note_run_start(world.scope(), claimed.id, claimed.fence, &start)
        });
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        assert_eq!(world.run(&claimed), claimed);
    }
}
