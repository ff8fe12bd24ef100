//! What GitHub tells.

use proptest::prelude::*;
use serde_json::{Value, json};
use workforce_forges::ForgeKind;
use workforce_forges::webhook::{self, Event, EventKind};

use crate::{address, with};

const PULL_REQUEST: &str = include_str!("deliveries/pull_request.json");
const CHECK_RUN: &str = include_str!("deliveries/check_run.json");
const CHECK_SUITE: &str = include_str!("deliveries/check_suite.json");
const STATUS: &str = include_str!("deliveries/status.json");

const PAGE: &str = "https://github.com/Codertocat/Hello-World";

fn parse(name: &str, delivery: &str) -> Option<Event> {
    crate::parse(ForgeKind::GitHub, name, delivery)
}

#[test]
fn what_happens_to_a_pull_request_is_understood() {
    for (action, merged, kind) in [
        ("opened", false, Some(EventKind::Opened)),
        ("reopened", false, Some(EventKind::Reopened)),
        ("synchronize", false, Some(EventKind::Synchronized)),
        ("closed", true, Some(EventKind::Merged)),
        ("closed", false, Some(EventKind::Closed)),
        ("labeled", false, None),
        ("newer_than_this_program", false, None),
    ] {
        let delivery = with(PULL_REQUEST, "/action", json!(action));
        let delivery = with(&delivery, "/pull_request/merged", json!(merged));
        let expected = kind.map(|kind| Event {
            kind,
            repository: address(PAGE),
            numbers: vec![2],
            head_sha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821".to_owned(),
            head_branches: vec!["changes".to_owned()],
        });
        assert_eq!(parse("pull_request", &delivery), expected, "{action}");
    }
}

#[test]
fn checks_that_end_are_understood() {
    for (name, text) in [("check_run", CHECK_RUN), ("check_suite", CHECK_SUITE)] {
        let event = parse(name, text).unwrap();
        assert_eq!(event.kind, EventKind::ChecksCompleted);
        assert_eq!(event.repository, address(PAGE));
        assert_eq!(event.numbers, [2]);
        assert_eq!(event.head_branches, ["changes"]);
        assert_eq!(event.head_sha.len(), 40);
        let begun = with(text, "/action", json!("created"));
        assert_eq!(parse(name, &begun), None);
    }
    // GitHub names no pull requests of forks, and no branch of some suites.
    let nameless = with(CHECK_SUITE, "/check_suite/head_branch", Value::Null);
    let event = parse("check_suite", &nameless).unwrap();
    assert!(event.head_branches.is_empty());
}

#[test]
fn statuses_are_understood() {
    let event = parse("status", STATUS).unwrap();
    assert_eq!(event.kind, EventKind::StatusChanged);
    assert_eq!(event.repository, address(PAGE));
    assert!(event.numbers.is_empty());
    assert_eq!(event.head_sha.len(), 40);
    assert!(event.head_branches.contains(&"changes".to_owned()));
}

#[test]
fn what_is_not_understood_is_nothing() {
    let wrong = |pointer, value| with(PULL_REQUEST, pointer, value);
    for (name, body) in [
        ("ping", PULL_REQUEST.to_owned()),
        ("", PULL_REQUEST.to_owned()),
        ("status", PULL_REQUEST.to_owned()),
        ("pull_request", STATUS.to_owned()),
        ("pull_request", String::new()),
        ("pull_request", "null".to_owned()),
        ("pull_request", "[".repeat(1_000_000)),
        ("pull_request", "{\"a\":".repeat(1_000_000)),
        ("pull_request", wrong("/pull_request/number", json!(-1))),
        (
            "pull_request",
            wrong("/pull_request/head/sha", json!("../..")),
        ),
        ("pull_request", wrong("/pull_request/head/sha", json!(""))),
        (
            "pull_request",
            wrong("/repository/html_url", json!("javascript:x")),
        ),
        ("pull_request", wrong("/repository/full_name", json!("a/b"))),
    ] {
        assert_eq!(parse(name, &body), None, "{name}");
    }
}

#[test]
fn long_lists_are_cut() {
    let pulls: Vec<Value> = (1..500).map(|number| json!({ "number": number })).collect();
    let many = with(CHECK_RUN, "/check_run/pull_requests", pulls.into());
    assert_eq!(parse("check_run", &many).unwrap().numbers.len(), 100);
    let branches: Vec<Value> = (1..500)
        .map(|number| json!({ "name": format!("b{number}") }))
        .collect();
    let many = with(STATUS, "/branches", branches.into());
    assert_eq!(parse("status", &many).unwrap().head_branches.len(), 100);
}

proptest! {
    #[test]
    fn no_bytes_break_it(
        name in prop::sample::select(vec!["pull_request", "check_run", "check_suite", "status"]),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        prop_assert_eq!(webhook::parse(ForgeKind::GitHub, name, &body), None);
    }

    #[test]
    fn no_change_of_a_delivery_breaks_it(
        at in 0..PULL_REQUEST.len(),
        len in 0..40_usize,
        put in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut body = PULL_REQUEST.as_bytes().to_vec();
        let end = (at + len).min(body.len());
        body.splice(at..end, put);
        if let Some(event) = webhook::parse(ForgeKind::GitHub, "pull_request", &body) {
            prop_assert!(event.head_sha.len() == 40 || event.head_sha.len() == 64);
            prop_assert!(event.numbers.len() == 1);
        }
    }
}
