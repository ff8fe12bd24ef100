//! Which runs go on with a session, and what they leave of it.

use core::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::IssueId;
use workforce_domain::run::MAX_RESULT_BYTES;
use workforce_domain::session::{
    AgentSession, FailureClass, FreshReason, SessionChange, SessionPlan, SessionRun, SessionWish,
    TaskKey,
};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason};

const BEGUN: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn named(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn session() -> AgentSession {
    AgentSession {
        company: Uuid::from_u128(1).into(),
        agent: Uuid::from_u128(2).into(),
        adapter_type: AdapterType::ClaudeLocal,
        task: TaskKey::General,
        session: named("one"),
        directory: "/work".into(),
        fingerprint: "aa".into(),
        runs: 3,
        input_tokens: 500,
        usage_baseline: "{}".into(),
        last_result: Some("Done so far.".into()),
        begun_at: BEGUN,
        last_used_at: BEGUN,
        last_run: None,
    }
}

const WISH: SessionWish<'_> = SessionWish {
    directory: "/work",
    fingerprint: "aa",
    reason: WakeReason::IssueCommented,
    is_unknown: false,
};

fn hours(hours: u64) -> Timestamp {
    BEGUN.plus(Duration::from_secs(hours * 60 * 60))
}

fn why(previous: &AgentSession, wish: &SessionWish<'_>, now: Timestamp) -> Option<FreshReason> {
    match SessionPlan::decide(Some(previous), wish, now) {
        SessionPlan::Resume(_) => None,
        SessionPlan::Fresh { why, .. } => Some(why),
    }
}

#[test]
fn a_session_is_resumed_until_something_speaks_against_it() {
    type Change = fn(&mut AgentSession, &mut SessionWish<'_>);
    let cases: [(Option<FreshReason>, Change); 11] = [
        (None, |_, _| {}),
        (None, |_, wish| wish.reason = WakeReason::IssueAssigned),
        (None, |_, wish| wish.reason = WakeReason::Manual),
        (None, |before, _| {
            before.runs = 49;
            before.input_tokens = 999_999;
        }),
        (Some(FreshReason::SessionUnknown), |_, wish| {
            wish.is_unknown = true;
        }),
        (Some(FreshReason::TimerWake), |_, wish| {
            wish.reason = WakeReason::HeartbeatTimer;
        }),
        (Some(FreshReason::DirectoryChanged), |_, wish| {
            wish.directory = "/work/";
        }),
        (Some(FreshReason::SettingsChanged), |_, wish| {
            wish.fingerprint = "ab";
        }),
        (Some(FreshReason::TooManyRuns), |before, _| before.runs = 50),
        (Some(FreshReason::TooManyTokens), |before, _| {
            before.input_tokens = 1_000_000;
        }),
        (Some(FreshReason::TooOld), |before, _| {
            before.begun_at = BEGUN.minus(Duration::from_secs(1));
        }),
    ];
    let almost = hours(48).minus(Duration::from_secs(1));
    for (expected, change) in cases {
        let (mut before, mut wish) = (session(), WISH);
        change(&mut before, &mut wish);
        assert_eq!(why(&before, &wish, almost), expected);
    }
}

#[test]
fn nothing_is_handed_over_to_the_timer_or_from_nothing() {
    let at = hours(1);
    let fresh = |why, handover| SessionPlan::Fresh { why, handover };
    let decide = |wish| SessionPlan::decide(Some(&session()), &wish, at);
    assert_eq!(
        SessionPlan::decide(None, &WISH, at),
        fresh(FreshReason::NoSession, None)
    );
    let timer = SessionWish {
        reason: WakeReason::HeartbeatTimer,
        ..WISH
    };
    assert_eq!(decide(timer), fresh(FreshReason::TimerWake, None));
    let moved = SessionWish {
        directory: "/",
        ..WISH
    };
    let handover = Some("Done so far.".into());
    assert_eq!(
        decide(moved),
        fresh(FreshReason::DirectoryChanged, handover.clone())
    );
    assert_eq!(
        SessionPlan::decide(Some(&session()), &WISH, hours(48)),
        fresh(FreshReason::TooOld, handover)
    );
}

/// A run that ended an hour after the session began.
fn run(resumed: Option<&str>, session: Option<&str>, failure: Option<FailureClass>) -> SessionRun {
    let before = self::session();
    SessionRun {
        company: before.company,
        agent: before.agent,
        adapter_type: before.adapter_type,
        task: before.task,
        run: Uuid::from_u128(9).into(),
        resumed: resumed.map(named),
        session: session.map(named),
        directory: "/work".into(),
        fingerprint: "bb".into(),
        input_tokens: 20,
        usage_baseline: "[1]".into(),
        result: Some("All done.".into()),
        failure,
        started_at: hours(1),
        at: hours(2),
    }
}

fn saved(change: SessionChange) -> AgentSession {
    match change {
        SessionChange::Save(session) => *session,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_resumed_session_counts_on_also_under_another_id() {
    for id in ["one", "two"] {
        let after = AgentSession::after_run(Some(&session()), run(Some("one"), Some(id), None));
        assert_eq!(
            saved(after),
            AgentSession {
                session: named(id),
                fingerprint: "bb".into(),
                runs: 4,
                input_tokens: 520,
                usage_baseline: "[1]".into(),
                last_result: Some("All done.".into()),
                last_used_at: hours(2),
                last_run: Some(Uuid::from_u128(9).into()),
                ..session()
            }
        );
    }
}

#[test]
fn a_new_session_counts_from_its_beginning() {
    for previous in [None, Some(session())] {
        let run = run(None, Some("one"), None);
        let after = saved(AgentSession::after_run(previous.as_ref(), run));
        assert_eq!(
            (after.runs, after.input_tokens, after.begun_at),
            (1, 20, hours(1))
        );
    }
}

#[test]
fn a_session_that_was_forgotten_meanwhile_stays_forgotten() {
    for failure in [None, Some(FailureClass::MaxTurns)] {
        let run = || run(Some("one"), Some("one"), failure);
        assert_eq!(AgentSession::after_run(None, run()), SessionChange::Keep);
        let newer = AgentSession {
            session: named("newer"),
            ..session()
        };
        let after = AgentSession::after_run(Some(&newer), run());
        assert_eq!(after, SessionChange::Keep, "it is another run's");
    }
}

#[test]
fn a_failure_keeps_the_session_clears_it_or_counts() {
    for class in FailureClass::ALL {
        let after = |resumed| {
            let run = run(resumed, Some("one"), Some(*class));
            AgentSession::after_run(Some(&session()), run)
        };
        for change in [after(Some("one")), after(None)] {
            match class {
                FailureClass::MaxTurns
                | FailureClass::SessionUnknown
                | FailureClass::ContextTooLong => assert_eq!(change, SessionChange::Forget),
                FailureClass::AuthRequired | FailureClass::RootRefused => {
                    assert_eq!(change, SessionChange::Keep);
                }
                _ => drop(saved(change)),
            }
        }
        let fresh = run(None, None, Some(*class));
        let nothing = AgentSession::after_run(None, fresh);
        assert_eq!(nothing, SessionChange::Keep, "there is none");
    }
}

#[test]
fn what_a_run_does_not_tell_is_not_lost() {
    let silent = SessionRun {
        result: None,
        ..run(None, Some("two"), Some(FailureClass::Interrupted))
    };
    let after = saved(AgentSession::after_run(Some(&session()), silent));
    assert_eq!(after.last_result.as_deref(), Some("Done so far."));
    let unnamed = run(Some("one"), None, None);
    let after = AgentSession::after_run(Some(&session()), unnamed);
    assert_eq!(after, SessionChange::Keep);
}

#[test]
fn a_task_has_the_key_of_its_wakes() {
    let issue: IssueId = Uuid::from_u128(7).into();
    for issue in [None, Some(issue)] {
        let task = TaskKey::from(issue);
        assert_eq!(task.to_string(), Wake::key(issue));
        assert_eq!(task.to_string().parse(), Ok(task));
        assert_eq!(task.issue(), issue);
    }
    for text in ["", "General", "issue", "issue:", "issue:ACM-1"] {
        assert!(text.parse::<TaskKey>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn whatever_a_session_has_had_it_is_resumed_within_its_limits_only(
        runs in 1..60_i32,
        input_tokens in 0..1_200_000_i64,
        age in 0..60_u64,
        reason in prop::sample::select(WakeReason::ALL),
        moved in any::<bool>(),
        changed in any::<bool>(),
    ) {
        let before = AgentSession { runs, input_tokens, ..session() };
        let wish = SessionWish {
            directory: if moved { "/" } else { "/work" },
            fingerprint: if changed { "b" } else { "aa" },
            reason,
            is_unknown: false,
        };
        let may = runs < 50 && input_tokens < 1_000_000 && age < 48
            && reason != WakeReason::HeartbeatTimer && !moved && !changed;
        prop_assert_eq!(why(&before, &wish, hours(age)).is_none(), may);
    }

    #[test]
    fn a_result_is_kept_up_to_its_bound(text in "\\PC{0,40}", times in 1..2000_usize) {
        let whole = text.repeat(times);
        let told = SessionRun { result: Some(whole.clone()), ..run(None, Some("two"), None) };
        let kept = saved(AgentSession::after_run(None, told)).last_result.unwrap();
        prop_assert!(whole.starts_with(&kept));
        prop_assert!(kept.len() <= MAX_RESULT_BYTES);
        prop_assert!(kept.len() + 4 > whole.len().min(MAX_RESULT_BYTES));
    }
}
