//! What Gitea and Forgejo tell.

use proptest::prelude::*;
use serde_json::{Value, json};
use workforce_forges::ForgeKind;
use workforce_forges::webhook::{self, Event, EventKind};

use crate::{address, shown, with};

const PULL_REQUEST: &str = include_str!("deliveries/gitea_pull_request.json");
const STATUS: &str = include_str!("deliveries/gitea_status.json");
const ACTION_RUN: &str = include_str!("deliveries/forgejo_action_run.json");

fn parse(name: &str, delivery: &str) -> Option<Event> {
    crate::parse(ForgeKind::Gitea, name, delivery)
}

#[test]
fn what_happens_to_a_pull_request_is_understood() {
    for (action, merged, kind) in [
        ("opened", false, Some(EventKind::Opened)),
        ("reopened", false, Some(EventKind::Reopened)),
        ("synchronized", false, Some(EventKind::Synchronized)),
        ("closed", true, Some(EventKind::Merged)),
        ("closed", false, Some(EventKind::Closed)),
        ("label_updated", false, None),
        ("reviewed", false, None),
        ("newer_than_this_program", false, None),
    ] {
        let delivery = with(PULL_REQUEST, "/action", json!(action));
        let delivery = with(&delivery, "/pull_request/merged", json!(merged));
        let expected = kind.map(|kind| Event {
            kind,
            repository: address("http://git.example:3000/acme/shop.git"),
            numbers: vec![8],
            head_sha: "1".repeat(40),
            head_branches: vec!["feature/SHOP-12".to_owned()],
        });
        for name in ["pull_request", "pull_request_sync"] {
            assert_eq!(parse(name, &delivery), expected, "{action}");
        }
    }
}

#[test]
fn statuses_and_runs_are_known_by_their_commit() {
    for (name, text, kind) in [
        ("status", STATUS, EventKind::StatusChanged),
        ("action_run_failure", ACTION_RUN, EventKind::ChecksCompleted),
        ("action_run_recover", ACTION_RUN, EventKind::ChecksCompleted),
        ("action_run_success", ACTION_RUN, EventKind::ChecksCompleted),
    ] {
        let event = parse(name, text).unwrap();
        assert!(
            event
                .repository
                .is_same(&address("ssh://git@git.example:2222/acme/shop.git"))
        );
        assert_eq!(
            shown(event),
            (kind, vec![], "1".repeat(40), vec![]),
            "{name}"
        );
    }
}

#[test]
fn what_is_not_understood_is_nothing() {
    let wrong = |pointer, value| with(PULL_REQUEST, pointer, value);
    for (name, body) in [
        ("push", PULL_REQUEST.to_owned()),
        ("", PULL_REQUEST.to_owned()),
        ("status", PULL_REQUEST.to_owned()),
        ("action_run_success", STATUS.to_owned()),
        ("pull_request", STATUS.to_owned()),
        ("pull_request", String::new()),
        ("pull_request", "[".repeat(1_000_000)),
        ("pull_request", wrong("/pull_request/number", json!(-1))),
        ("pull_request", wrong("/pull_request/head/sha", json!(""))),
        ("pull_request", wrong("/pull_request/head", Value::Null)),
        (
            "pull_request",
            wrong("/repository/html_url", json!("javascript:x")),
        ),
        ("pull_request", wrong("/repository/full_name", json!("a/b"))),
        ("action_run_failure", with(ACTION_RUN, "/run", Value::Null)),
    ] {
        assert_eq!(parse(name, &body), None, "{name}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_delivery_breaks_it(
        (name, text) in prop::sample::select(vec![
            ("pull_request", PULL_REQUEST),
            ("status", STATUS),
            ("action_run_failure", ACTION_RUN),
        ]),
        at in 0..STATUS.len(),
        len in 0..40_usize,
        put in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut body = text.as_bytes().to_vec();
        let end = (at + len).min(body.len());
        body.splice(at.min(end)..end, put);
        if let Some(event) = webhook::parse(ForgeKind::Gitea, name, &body) {
            prop_assert!(event.head_sha.len() == 40 || event.head_sha.len() == 64);
            prop_assert!(event.numbers.len() <= 1);
        }
    }
}
