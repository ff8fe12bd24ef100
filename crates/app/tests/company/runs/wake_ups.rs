//! Waking an agent for a reason (docs/heartbeats.md#invocations).

use serde_json::json;
use workforce_app::access::Denied;
use workforce_app::activity_log::document;
use workforce_app::agents::CreateAgent;
use workforce_app::runs::{self, RunError, TriggerDetail, WakeUp, WakeUpOutcome};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::Document;
use workforce_domain::id::AgentId;
use workforce_domain::run::RunKind;
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::world::{Acting, World, done, label, new_agent, refused};

use crate::support::{archive, invoke, make_draft, pause, terminate};

fn plain() -> WakeUp {
    WakeUp {
        source: WakeSource::OnDemand,
        trigger_detail: None,
        reason: None,
        payload: Document::new(),
    }
}

fn wake(
    who: Acting<'_>,
    id: AgentId,
    command: &WakeUp,
) -> Result<WakeUpOutcome, Failure<RunError>> {
    who.write(|tx, ctx| runs::wake_up(tx, ctx, id, command.clone()))
}

#[test]
fn the_agent_is_told_why() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Ada");
    let command = WakeUp {
        source: WakeSource::Automation,
        trigger_detail: Some(TriggerDetail::Callback),
        reason: Some(label("the build is green")),
        payload: document(json!({ "build": 7 })),
    };
    let outcome = done(wake(world.board(), agent.id, &command));
    let WakeUpOutcome::Asked(asked) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(!asked.coalesced);
    assert_eq!(
        (asked.run.kind, asked.run.reason),
        (RunKind::General, WakeReason::Manual)
    );
    let known = WakeUp {
        reason: Some(label("issue_commented")),
        ..plain()
    };
    done(wake(world.board(), agent.id, &known));
    let own = WakeUp {
        reason: Some(label("process_lost_retry")),
        ..plain()
    };
    done(wake(world.board(), agent.id, &own));
    // One path with an invocation: they lead to one run.
    assert!(done(invoke(world.board(), agent.id)).coalesced);
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    assert_eq!(
        wakes[0].reasons,
        [WakeReason::Manual, WakeReason::IssueCommented]
    );
    assert_eq!(
        (wakes[0].source, wakes[0].count, wakes[0].run),
        (WakeSource::Automation, 4, asked.run.id)
    );
    let told = serde_json::Value::from(wakes[0].payload.clone());
    assert_eq!(
        told,
        json!({ "build": 7, "reason": "process_lost_retry", "triggerDetail": "callback" })
    );
}

#[test]
fn the_board_itself_and_those_above_wake_an_agent() {
    let world = World::sqlite();
    let boss = world.hired(world.company("Acme").id, "Boss");
    let lead = world.hired_below(&boss, "Lead");
    let agent = world.hired_below(&lead, "Ada");
    let sibling = world.hired_below(&lead, "Bob");
    for who in [
        world.board(),
        world.agent(agent.id),
        world.agent(lead.id),
        world.agent(boss.id),
    ] {
        done(wake(who, agent.id, &plain()));
    }
    for (who, id) in [(sibling.id, agent.id), (agent.id, lead.id)] {
        let refusal = refused(wake(world.agent(who), id, &plain()));
        assert!(
            matches!(refusal, RunError::Denied(Denied::Forbidden(_))),
            "{refusal:?}"
        );
    }
    let spy = world.hired(world.company("Other").id, "Spy");
    let refusal = refused(wake(world.agent(spy.id), agent.id, &plain()));
    assert_eq!(refusal, RunError::Denied(Denied::NotFound("agent")));
}

#[test]
fn who_cannot_run_cannot_be_woken() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [paused, draft, gone, idle] = ["P", "D", "T", "I"].map(|name| world.hired(company, name));
    done(pause(world.board(), paused.id));
    make_draft(&world, draft.id);
    done(terminate(world.board(), gone.id));
    let code = |id| refused(wake(world.board(), id, &plain())).code();
    assert_eq!(code(paused.id), Code::AgentPaused);
    assert_eq!(code(draft.id), Code::AgentPendingApproval);
    assert_eq!(code(gone.id), Code::AgentTerminated);
    done(archive(world.board(), company));
    assert_eq!(code(idle.id), Code::CompanyNotActive);
    let long = WakeUp {
        payload: document(json!({ "x": "y".repeat(16 * 1024) })),
        ..plain()
    };
    let other = world.hired(world.company("Other").id, "Ada");
    let refusal = refused(wake(world.board(), other.id, &long));
    assert_eq!(refusal.details().unwrap()[0]["pointer"], "/payload");
}

#[test]
fn who_follows_its_timer_alone_is_invoked_by_hand_only() {
    let world = World::sqlite();
    for key in ["wakeOnDemand", "wakeOnAssignment"] {
        let command = CreateAgent {
            runtime_config: document(json!({ "heartbeat": { (key): false } })),
            ..new_agent("Ada")
        };
        let agent = world.hired_with(world.company("Acme").id, &command);
        world.todo_for(&agent, "Work");
        assert_eq!(
            done(wake(world.board(), agent.id, &plain())),
            WakeUpOutcome::Skipped
        );
        assert!(world.pending_wakes(&agent).is_empty());
        done(invoke(world.board(), agent.id));
        assert_eq!(world.pending_wakes(&agent).len(), 1);
    }
}
