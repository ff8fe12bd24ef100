//! How runs come to their end.

use uuid::Uuid;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::{
    MAX_RESULT_BYTES, Run, RunEnd, RunErrorCode, RunKind, RunOutcome, RunStatus,
};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn run(status: RunStatus) -> Run {
    let id = Uuid::from_u128;
    Run {
        id: id(1).into(),
        company: id(2).into(),
        agent: id(3).into(),
        issue: None,
        kind: RunKind::General,
        status,
        source: WakeSource::OnDemand,
        reason: WakeReason::Manual,
        wake: id(4).into(),
        fence: 1,
        token_digest: Some([7; 32]),
        instance: Some(id(5).into()),
        lease_expires_at: Some(NOW),
        stop_requested_at: None,
        stop_reason: None,
        exit_code: None,
        signal: None,
        error_code: None,
        error: None,
        log_bytes: 0,
        log_tail: None,
        containment: None,
        session: None,
        session_resumed: None,
        prompt_sha256: None,
        prompt_bytes: None,
        result_text: None,
        retry_at: None,
        started_at: Some(NOW),
        finished_at: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

const OUTCOMES: [RunOutcome; 5] = [
    RunOutcome::Succeeded,
    RunOutcome::Failed(RunErrorCode::AdapterFailed),
    RunOutcome::TimedOut(RunErrorCode::WallLimit),
    RunOutcome::Stopped(RunErrorCode::CancelRequested),
    RunOutcome::Lost(RunErrorCode::ProcessLost),
];

fn end(outcome: RunOutcome) -> RunEnd {
    RunEnd::without_exit(outcome, "it ended")
}

#[test]
fn an_outcome_has_one_status_and_one_code() {
    let stored = OUTCOMES.map(|outcome| {
        let mut run = run(RunStatus::Running);
        run.end(end(outcome), NOW).unwrap();
        (run.status, run.error_code)
    });
    assert_eq!(
        stored,
        [
            (RunStatus::Succeeded, None),
            (RunStatus::Failed, Some(RunErrorCode::AdapterFailed)),
            (RunStatus::TimedOut, Some(RunErrorCode::WallLimit)),
            (RunStatus::Cancelled, Some(RunErrorCode::CancelRequested)),
            (RunStatus::Failed, Some(RunErrorCode::ProcessLost)),
        ]
    );
}

#[test]
fn what_ends_after_a_request_to_stop_was_stopped() {
    for outcome in OUTCOMES {
        let mut asked = run(RunStatus::Running);
        assert!(asked.ask_to_stop(RunErrorCode::BudgetExhausted, NOW));
        assert!(!asked.ask_to_stop(RunErrorCode::CancelRequested, NOW));
        let became = asked.end(end(outcome), NOW).unwrap();
        assert_eq!(became, RunOutcome::Stopped(RunErrorCode::BudgetExhausted));
        assert_eq!(asked.status, RunStatus::Cancelled);
        assert_eq!(asked.error_code, asked.stop_reason);
    }
}

#[test]
fn an_ended_run_has_nothing_left_to_act_with_and_stays_as_it_is() {
    for outcome in OUTCOMES {
        let mut ended = run(RunStatus::Running);
        ended.end(end(outcome), NOW).unwrap();
        assert!(ended.status.is_terminal());
        assert_eq!((ended.token_digest, ended.instance), (None, None));
        assert_eq!(
            (ended.lease_expires_at, ended.finished_at),
            (None, Some(NOW))
        );
        let before = ended.clone();
        for again in OUTCOMES {
            assert!(ended.end(end(again), NOW).is_err());
        }
        assert!(!ended.ask_to_stop(RunErrorCode::CancelRequested, NOW));
        assert_eq!(ended, before);
    }
    for status in RunStatus::ALL.iter().filter(|status| status.is_terminal()) {
        assert!(run(*status).end(end(RunOutcome::Succeeded), NOW).is_err());
    }
}

#[test]
fn texts_are_stored_without_nul() {
    let mut ended = run(RunStatus::Running);
    let end = RunEnd {
        log_tail: Some("a\0b".into()),
        result_text: Some("d\0".into()),
        ..RunEnd::without_exit(RunOutcome::Succeeded, "c\0")
    };
    ended.end(end, NOW).unwrap();
    assert_eq!(ended.result_text.as_deref(), Some("d\u{fffd}"));
    assert_eq!(ended.log_tail.as_deref(), Some("a\u{fffd}b"));
    assert_eq!(ended.error.as_deref(), Some("c\u{fffd}"));
}

#[test]
fn the_end_tells_what_the_program_told() {
    let known = SessionId::parse("known").unwrap();
    let told = SessionId::parse("told").unwrap();
    for (session, kept) in [(None, &known), (Some(told.clone()), &told)] {
        let mut ended = run(RunStatus::Running);
        ended.session = Some(known.clone());
        let end = RunEnd {
            session,
            result_text: Some("\u{20ac}".repeat(MAX_RESULT_BYTES)),
            retry_at: Some(NOW),
            ..end(RunOutcome::Succeeded)
        };
        ended.end(end, NOW).unwrap();
        assert_eq!(ended.session.as_ref(), Some(kept));
        assert_eq!(ended.retry_at, Some(NOW));
        let text = ended.result_text.unwrap();
        assert_eq!(text.len(), MAX_RESULT_BYTES - 1, "no character is cut");
    }
}
