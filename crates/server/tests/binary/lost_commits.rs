//! The connection to PostgreSQL is cut while a transaction commits.

use serde_json::{Value, json};
use workforce_testkit::postgres::{Cut, Proxy, migrated_database, shared_cluster_url};

use crate::database_faults::Office;

/// An office whose database is reached by a line that can be cut.
fn office() -> Option<(Office, Proxy)> {
    let database = migrated_database(&shared_cluster_url()?);
    let line = Proxy::to(database.url());
    let office = Office::reaching(database, line.url());
    Some((office, line))
}

/// Makes an issue whose commit is cut.
fn make(office: &Office, line: &Proxy, title: &str, cut: Cut) -> (u16, Value) {
    line.cut_commit_of(title, cut);
    let issue = json!({ "title": title });
    office.server.send("POST", &office.issues(), None, &issue)
}

#[track_caller]
fn assert_refused(answer: &(u16, Value), code: &str) {
    assert_eq!(
        (answer.0, answer.1["code"].as_str()),
        (503, Some(code)),
        "{answer:?}"
    );
}

fn count(office: &Office, title: &str) -> usize {
    office.titles().iter().filter(|it| *it == title).count()
}

#[test]
fn what_was_not_committed_is_said_so_and_may_be_sent_again() {
    let Some((office, line)) = office() else {
        return;
    };
    for (title, cut) in [
        ("closed on both sides", Cut::BeforeServer),
        ("open at the server", Cut::Unnoticed),
    ] {
        let answer = make(&office, &line, title, cut);
        assert_refused(&answer, "store_unavailable");
        assert_eq!(answer.1["retryable"], true);
        assert_eq!(count(&office, title), 0);
        office
            .server
            .post(&office.issues(), &json!({ "title": title }));
        assert_eq!(count(&office, title), 1);
    }
    office.works_again();
}

#[test]
fn what_was_committed_is_acknowledged_and_worked_on() {
    let Some((office, line)) = office() else {
        return;
    };
    line.cut_commit_of("answered late", Cut::BeforeClient);
    let issue = json!({
        "title": "answered late", "status": "todo", "assigneeAgentId": office.agent,
    });
    office.server.post(&office.issues(), &issue);
    assert_eq!(count(&office, "answered late"), 1);
    // The engine was told as usual.
    let runs = format!("/api/companies/{}/heartbeat-runs", office.company);
    office.server.wait_for(&runs, |runs| {
        runs.as_array()
            .unwrap()
            .iter()
            .any(|run| run["status"] == "succeeded")
    });
    office.works_again();
}

#[test]
fn what_nobody_can_tell_is_said_so_and_is_safe_to_repeat_with_its_key() {
    let Some((office, line)) = office() else {
        return;
    };
    let issue = json!({ "title": "perhaps" });
    line.cut_off_at_commit_of("perhaps", Cut::BeforeClient);
    let answer = office.server.post_once(&office.issues(), "key", &issue);
    assert_refused(&answer, "outcome_unknown");
    assert_eq!(answer.1["retryable"], false);
    line.mend();
    office.server.wait_until_ready();
    let (status, _) = office.server.post_once(&office.issues(), "key", &issue);
    assert_eq!(status, 201);
    assert_eq!(count(&office, "perhaps"), 1);
    office.works_again();
}
