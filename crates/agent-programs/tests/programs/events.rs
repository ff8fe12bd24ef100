//! Events and conclusions as they are stored.

use workforce_agent_programs::{
    Conclusion, FailureClass, MicroCents, ProgramEvent, RetryHint, SessionId, TokenUsage,
    UsageBaseline,
};

use crate::recording::{RUN, Recording, names};

#[track_caller]
fn check(event: &ProgramEvent, stored: &str) {
    assert_eq!(serde_json::to_string(event).unwrap(), stored);
    assert_eq!(
        serde_json::from_str::<ProgramEvent>(stored).unwrap(),
        *event
    );
}

#[test]
fn an_event_has_one_form() {
    check(
        &ProgramEvent::SessionStarted {
            id: SessionId::parse("ses_1").unwrap(),
            model: Some("m".to_owned()),
        },
        r#"{"event":"session_started","id":"ses_1","model":"m"}"#,
    );
    check(
        &ProgramEvent::Usage {
            model: None,
            tokens: TokenUsage {
                input: 1,
                cached_read: 2,
                cached_write: 3,
                output: 4,
            },
            cost: Some(MicroCents(5)),
        },
        r#"{"event":"usage","model":null,"tokens":{"input":1,"cached_read":2,"cached_write":3,"output":4},"cost":5}"#,
    );
    check(
        &ProgramEvent::Retrying {
            class: FailureClass::ProviderLimit,
            attempt: 2,
            delay_ms: Some(594),
            until: Some(RetryHint::After { seconds: 1 }),
        },
        r#"{"event":"retrying","class":"provider_limit","attempt":2,"delay_ms":594,"until":{"kind":"after","seconds":1}}"#,
    );
}

#[test]
fn an_event_of_another_version_can_be_read() {
    let with_more = r#"{"event":"usage","tokens":{"input":1,"thoughts":9},"later":true}"#;
    let event: ProgramEvent = serde_json::from_str(with_more).unwrap();
    let tokens = TokenUsage {
        input: 1,
        ..TokenUsage::ZERO
    };
    let expected = ProgramEvent::Usage {
        model: None,
        tokens,
        cost: None,
    };
    assert_eq!(event, expected);
    let class: FailureClass = serde_json::from_str("\"a_class_of_later\"").unwrap();
    assert_eq!(class, FailureClass::Other);
}

#[test]
fn a_stored_session_id_is_checked_like_any_other() {
    let stored = r#"{"event":"session_started","id":"--evil"}"#;
    assert!(serde_json::from_str::<ProgramEvent>(stored).is_err());
}

#[test]
fn a_baseline_of_which_nothing_was_stored_is_unknown() {
    let read: UsageBaseline = serde_json::from_str("{}").unwrap();
    assert_eq!(read, UsageBaseline::UNKNOWN);
}

#[test]
fn every_event_and_conclusion_of_a_real_run_is_read_as_it_was_written() {
    for program in RUN {
        for case in names(program) {
            let told = Recording::read(program, &case).told();
            let stored = serde_json::to_string(&told.events).unwrap();
            let events: Vec<ProgramEvent> = serde_json::from_str(&stored).unwrap();
            assert_eq!(events, told.events, "{program} {case}");
            let stored = serde_json::to_string(&told.conclusion).unwrap();
            let conclusion: Conclusion = serde_json::from_str(&stored).unwrap();
            assert_eq!(conclusion, told.conclusion, "{program} {case}");
        }
    }
}
