//! What GitLab tells.

use proptest::prelude::*;
use serde_json::{Value, json};
use workforce_forges::ForgeKind;
use workforce_forges::webhook::{self, Event, EventKind};

use crate::{address, shown, with};

const MERGE_REQUEST: &str = include_str!("deliveries/gitlab_merge_request.json");
const PIPELINE: &str = include_str!("deliveries/gitlab_pipeline.json");

fn parse(delivery: &str) -> Option<Event> {
    // The header of an instance's own hooks does not say what they are about.
    let event = crate::parse(ForgeKind::GitLab, "System Hook", delivery);
    assert_eq!(
        crate::parse(ForgeKind::GitLab, "Pipeline Hook", delivery),
        event
    );
    event
}

#[test]
fn what_happens_to_a_merge_request_is_understood() {
    for (action, kind) in [
        ("open", Some(EventKind::Opened)),
        ("reopen", Some(EventKind::Reopened)),
        ("update", Some(EventKind::Synchronized)),
        ("merge", Some(EventKind::Merged)),
        ("close", Some(EventKind::Closed)),
        ("approved", None),
        ("unapproval", None),
        ("newer_than_this_program", None),
    ] {
        let delivery = with(MERGE_REQUEST, "/object_attributes/action", json!(action));
        let expected = kind.map(|kind| Event {
            kind,
            repository: address("https://gitlab.example:8443/acme/web/shop.git"),
            numbers: vec![12],
            head_sha: "1".repeat(40),
            head_branches: vec!["feature/SHOP-12".to_owned()],
        });
        assert_eq!(parse(&delivery), expected, "{action}");
    }
}

#[test]
fn an_update_counts_only_if_it_brings_commits() {
    let titled = with(MERGE_REQUEST, "/object_attributes/oldrev", Value::Null);
    assert_eq!(parse(&titled), None);
    let quiet = with(MERGE_REQUEST, "/object_attributes/action", Value::Null);
    assert_eq!(parse(&quiet), None);
}

#[test]
fn pipelines_that_end_are_understood() {
    for (status, ended) in [
        ("success", true),
        ("failed", true),
        ("canceled", true),
        ("skipped", true),
        ("created", false),
        ("pending", false),
        ("running", false),
        ("manual", false),
        ("newer_than_this_program", false),
    ] {
        let delivery = with(PIPELINE, "/object_attributes/status", json!(status));
        let event = parse(&delivery);
        assert_eq!(event.is_some(), ended, "{status}");
        let Some(event) = event else { continue };
        assert!(
            event
                .repository
                .is_same(&address("git@gitlab.example:acme/web/shop.git"))
        );
        let branches = vec!["feature/SHOP-12".to_owned()];
        let expected = (
            EventKind::ChecksCompleted,
            vec![12],
            "1".repeat(40),
            branches,
        );
        assert_eq!(shown(event), expected);
    }
}

#[test]
fn a_pipeline_may_name_no_merge_request_and_no_branch() {
    let of_branch = with(PIPELINE, "/merge_request", Value::Null);
    let event = parse(&of_branch).unwrap();
    assert!(event.numbers.is_empty());
    assert_eq!(event.head_branches, ["feature/SHOP-12"]);
    let of_tag = with(&of_branch, "/object_attributes/tag", json!(true));
    assert!(parse(&of_tag).unwrap().head_branches.is_empty());
    let of_nothing = with(&of_branch, "/object_attributes/ref", Value::Null);
    assert!(parse(&of_nothing).unwrap().head_branches.is_empty());
}

#[test]
fn what_is_not_understood_is_nothing() {
    let wrong = |pointer, value| with(MERGE_REQUEST, pointer, value);
    for body in [
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
        r#"{"object_kind":"merge_request"}"#.to_owned(),
        "[".repeat(1_000_000),
        "{\"object_kind\":".repeat(1_000_000),
        wrong("/object_kind", json!("push")),
        wrong("/object_kind", json!("build")),
        wrong("/object_kind", json!("pipeline")),
        with(PIPELINE, "/object_kind", json!("merge_request")),
        wrong("/object_attributes/iid", json!(-1)),
        wrong("/object_attributes/last_commit", Value::Null),
        wrong("/object_attributes/last_commit/id", json!("main")),
        wrong("/project/web_url", json!("file:///etc/passwd")),
        wrong("/project/path_with_namespace", json!("acme/other")),
        wrong("/project", Value::Null),
    ] {
        assert_eq!(parse(&body), None, "{}", &body[..body.len().min(60)]);
    }
}

proptest! {
    #[test]
    fn no_change_of_a_delivery_breaks_it(
        text in prop::sample::select(vec![MERGE_REQUEST, PIPELINE]),
        at in 0..PIPELINE.len(),
        len in 0..40_usize,
        put in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut body = text.as_bytes().to_vec();
        let end = (at + len).min(body.len());
        body.splice(at.min(end)..end, put);
        if let Some(event) = webhook::parse(ForgeKind::GitLab, "", &body) {
            prop_assert!(event.head_sha.len() == 40 || event.head_sha.len() == 64);
            prop_assert!(event.numbers.len() <= 1);
        }
    }
}
