//! What GitHub tells by itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use serde_json::{Value, json};
use workforce_forge_imitation::{ForgeImitation, Happening, ImitatedForge, PullRequestState};
use workforce_forges::RepositoryAddress;
use workforce_forges::webhook::{Event, EventKind, parse, verify};

const PULL_REQUEST: &str = include_str!("deliveries/pull_request.json");
const CHECK_RUN: &str = include_str!("deliveries/check_run.json");
const CHECK_SUITE: &str = include_str!("deliveries/check_suite.json");
const STATUS: &str = include_str!("deliveries/status.json");

fn hello_world() -> RepositoryAddress {
    RepositoryAddress::parse("https://github.com/Codertocat/Hello-World").unwrap()
}

/// A delivery with another value at a place of it.
fn with(text: &str, pointer: &str, value: Value) -> Vec<u8> {
    let mut delivery: Value = serde_json::from_str(text).unwrap();
    *delivery.pointer_mut(pointer).unwrap() = value;
    delivery.to_string().into_bytes()
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
        let delivery = String::from_utf8(delivery).unwrap();
        let delivery = with(&delivery, "/pull_request/merged", json!(merged));
        let expected = kind.map(|kind| Event {
            kind,
            repository: hello_world(),
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
        let event = parse(name, text.as_bytes()).unwrap();
        assert_eq!(event.kind, EventKind::ChecksCompleted);
        assert_eq!(event.repository, hello_world());
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
    let event = parse("status", STATUS.as_bytes()).unwrap();
    assert_eq!(event.kind, EventKind::StatusChanged);
    assert_eq!(event.repository, hello_world());
    assert!(event.numbers.is_empty());
    assert_eq!(event.head_sha.len(), 40);
    assert!(event.head_branches.contains(&"changes".to_owned()));
}

#[test]
fn what_is_not_understood_is_nothing() {
    for (name, body) in [
        ("ping", PULL_REQUEST.as_bytes().to_vec()),
        ("", PULL_REQUEST.as_bytes().to_vec()),
        ("status", PULL_REQUEST.as_bytes().to_vec()),
        ("pull_request", STATUS.as_bytes().to_vec()),
        ("pull_request", Vec::new()),
        ("pull_request", b"null".to_vec()),
        ("pull_request", b"[".repeat(1_000_000)),
        ("pull_request", b"{\"a\":".repeat(1_000_000)),
        (
            "pull_request",
            with(PULL_REQUEST, "/pull_request/number", json!(-1)),
        ),
        (
            "pull_request",
            with(PULL_REQUEST, "/pull_request/head/sha", json!("../..")),
        ),
        (
            "pull_request",
            with(PULL_REQUEST, "/pull_request/head/sha", json!("")),
        ),
        (
            "pull_request",
            with(PULL_REQUEST, "/repository/html_url", json!("javascript:x")),
        ),
        (
            "pull_request",
            with(PULL_REQUEST, "/repository/full_name", json!("a/b")),
        ),
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

#[test]
fn a_delivery_of_the_imitation_is_one_of_github() {
    let imitation = ForgeImitation::start(ImitatedForge::GitHub).unwrap();
    imitation.add_repository("acme/shop");
    imitation.open_from_fork("acme/shop", "else/shop", "fix", "main");
    imitation.set_state("acme/shop", 1, PullRequestState::Merged);
    for (happening, kind) in [
        (Happening::Opened, EventKind::Opened),
        (Happening::Synchronized, EventKind::Synchronized),
        (Happening::Reopened, EventKind::Reopened),
        (Happening::Closed, EventKind::Merged),
        (Happening::CheckRunCompleted, EventKind::ChecksCompleted),
        (Happening::Status, EventKind::StatusChanged),
    ] {
        let delivery = imitation.delivery("acme/shop", 1, happening);
        let signature = delivery.signature(b"secret");
        assert!(verify(b"secret", &delivery.body, &signature));
        let event = parse(delivery.event, &delivery.body).unwrap();
        assert_eq!(event.kind, kind);
        assert_eq!(event.head_branches, ["fix"]);
        let address = imitation.repository_url("acme/shop");
        let address = RepositoryAddress::parse(&address).unwrap();
        assert!(event.repository.is_same(&address));
    }
}

/// The example of GitHub's documentation.
const SECRET: &[u8] = b"It's a Secret to Everybody";
const BODY: &[u8] = b"Hello, World!";
const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

#[test]
fn the_signature_is_that_of_the_secret_and_the_body() {
    assert!(verify(SECRET, BODY, SIGNATURE));
    assert!(!verify(b"It's a secret to Everybody", BODY, SIGNATURE));
    assert!(!verify(SECRET, b"Hello, World", SIGNATURE));
    for signature in [
        "",
        "sha256=",
        &SIGNATURE[..70],
        &SIGNATURE[7..],
        &SIGNATURE.replace("sha256", "sha1"),
        &format!("{SIGNATURE}00"),
        &format!(" {SIGNATURE}"),
        "sha256=zz",
    ] {
        assert!(!verify(SECRET, BODY, signature), "{signature}");
    }
}

#[test]
fn an_empty_secret_verifies_nothing() {
    // Whoever forgot to set one must not be open to all.
    let signature = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
    assert!(!verify(b"", b"", signature));
}

proptest! {
    #[test]
    fn no_bytes_break_it(
        name in prop::sample::select(vec!["pull_request", "check_run", "check_suite", "status"]),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        prop_assert_eq!(parse(name, &body), None);
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
        if let Some(event) = parse("pull_request", &body) {
            prop_assert!(event.head_sha.len() == 40 || event.head_sha.len() == 64);
            prop_assert!(event.numbers.len() == 1);
        }
    }

    #[test]
    fn only_the_signature_of_these_bytes_fits(
        secret in prop::collection::vec(any::<u8>(), 1..80),
        body in prop::collection::vec(any::<u8>(), 0..200),
        signature in ".{0,80}",
    ) {
        prop_assert!(!verify(&secret, &body, &signature));
        prop_assert!(!verify(&secret, &body, SIGNATURE));
    }
}
