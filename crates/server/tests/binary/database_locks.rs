//! Somebody holds a lock of the database for long.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workforce_testkit::store::SideConnection;

use crate::client::Sender;
use crate::database_faults::{Office, database};
use crate::harness::Server;

/// Several times as many as ask the database at once.
const STUCK: usize = 48;

/// Sends a comment on this issue, and resets the connection before there is an answer.
fn leave_comment(server: &Server, issue: &str) {
    let address = server.base.trim_start_matches("http://");
    let mut client = TcpStream::connect(address).unwrap();
    let body = json!({ "body": "Left behind" }).to_string();
    // Whoever closes a connection without having read the first answer resets it.
    let requests = format!(
        "GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n\
         POST /api/issues/{issue}/comments HTTP/1.1\r\nHost: {address}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(requests.as_bytes()).unwrap();
    thread::sleep(Duration::from_secs(1));
}

#[test]
fn whatever_waits_long_for_a_lock_is_refused_also_when_its_client_has_left() {
    // What has not begun after fifteen seconds is refused, and what has waits ten for a connection at
    // most, and as long for the lock.
    const HELD: Duration = Duration::from_secs(45);
    let Some(database) = database() else { return };
    let office = Office::on(database);
    let server = &office.server;
    let issue = server.post(&office.issues(), &json!({ "title": "Locked" }));
    let issue = issue["id"].as_str().unwrap();
    let (issues, file) = (
        office.issues(),
        format!("/api/agents/{}/instructions-bundle/file", office.agent),
    );
    let instructions = json!({ "path": "AGENTS.md", "content": "Never" });
    let requests = [
        ("GET", &issues, &Value::Null),
        ("PUT", &file, &instructions),
    ];
    let goals = format!("/api/companies/{}/goals", office.company);
    let before = server.get(&format!("{file}?path=AGENTS.md"));
    let locked = |table: &str| {
        let mut holder = SideConnection::to(office.database.url());
        holder.execute_all(&format!(
            "BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"
        ));
        holder
    };
    let (mut of_issues, mut of_agents) = (locked("issues"), locked("agents"));
    let begun = Instant::now();
    let told: Vec<_> = thread::scope(|scope| {
        for _ in 0..STUCK {
            scope.spawn(|| leave_comment(server, issue));
        }
        let asked = requests.iter().cycle().take(2 * STUCK);
        let asked: Vec<_> = asked
            .map(|(method, path, body)| {
                let client = server.client();
                scope.spawn(move || client.send(method, path, Sender::default(), body))
            })
            .collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for answer in told {
        let (status, answer) = answer.unwrap();
        assert_eq!(
            (status, &answer["retryable"]),
            (503, &json!(true)),
            "{answer}"
        );
    }
    assert!(begun.elapsed() < HELD, "none waits longer");
    thread::sleep(HELD.saturating_sub(begun.elapsed()));
    // Nobody waits any more, though one of the locks is still held.
    of_agents.execute("COMMIT");
    server.post(&goals, &json!({ "title": "Elsewhere", "level": "company" }));
    server.get(&goals);
    of_issues.execute("COMMIT");
    assert_eq!(server.get(&format!("{file}?path=AGENTS.md")), before);
    let comments = format!("/api/issues/{issue}/comments");
    server.post(&comments, &json!({ "body": "Afterwards" }));
    let all = server.get(&comments);
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
}

#[test]
fn writes_that_all_wait_for_a_lock_keep_nothing_else_waiting() {
    // More than there are connections.
    const STUCK: usize = 24;
    let Some(database) = database() else { return };
    let office = Office::on(database);
    let mut holder = SideConnection::to(office.database.url());
    holder.execute_all("BEGIN; SELECT id FROM companies FOR UPDATE");
    let mut observer = SideConnection::to(office.database.url());
    thread::scope(|scope| {
        let write = |number: usize| {
            let office = &office;
            move || {
                let issue = json!({ "title": format!("Issue {number}") });
                office.server.post(&office.issues(), &issue);
            }
        };
        let writers: Vec<_> = (0..STUCK)
            .map(|number| scope.spawn(write(number)))
            .collect();
        while !observer.somebody_waits_for_a_lock() {
            thread::sleep(Duration::from_millis(10));
        }
        // In that time a thread is added for each write that may have one.
        thread::sleep(Duration::from_secs(1));
        for _ in 0..10 {
            office.server.get(&office.issues());
            let (status, answer) =
                office
                    .server
                    .send("GET", "/api/health/ready", None, &json!(null));
            assert_eq!(status, 200, "{answer}");
        }
        assert!(writers.iter().all(|writer| !writer.is_finished()));
        holder.execute("COMMIT");
    });
    assert_eq!(office.titles().len(), STUCK);
}

#[test]
fn writes_that_wait_long_for_a_lock_are_refused_and_never_written() {
    let Some(database) = database() else { return };
    let office = Office::on(database);
    let other = office
        .server
        .post("/api/companies", &json!({ "name": "Other" }));
    let other = format!("/api/companies/{}/issues", other["id"].as_str().unwrap());
    let mut holder = SideConnection::to(office.database.url());
    holder.execute_all(&format!(
        "BEGIN; SELECT id FROM companies WHERE id = '{}' FOR UPDATE",
        office.company
    ));
    let told: Vec<_> = thread::scope(|scope| {
        let writers: Vec<_> = (0..STUCK)
            .map(|number| {
                let office = &office;
                scope.spawn(move || {
                    let issue = json!({ "title": format!("Issue {number}") });
                    let issues = office.issues();
                    let (status, answer) = office.server.send("POST", &issues, None, &issue);
                    assert_eq!(
                        (status, &answer["retryable"]),
                        (503, &json!(true)),
                        "{answer}"
                    );
                    answer["code"].as_str().unwrap().to_owned()
                })
            })
            .collect();
        writers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    // Those that waited for the lock, and those that waited for them.
    for code in ["contended", "busy"] {
        assert!(told.iter().any(|it| it == code), "{told:?}");
    }
    assert!(
        told.iter().all(|it| it == "contended" || it == "busy"),
        "{told:?}"
    );
    // Nobody else waits any more, though the lock is still held.
    office.server.post(&other, &json!({ "title": "Elsewhere" }));
    holder.execute("COMMIT");
    office
        .server
        .post(&office.issues(), &json!({ "title": "Afterwards" }));
    let mut titles = office.titles();
    titles.sort_unstable();
    assert_eq!(titles, ["Afterwards", "Elsewhere"]);
}
