//! Backups of a server at work, and what is made of them elsewhere.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};
use workforce_testkit::postgres::program;

use crate::crawl::crawl;
use crate::harness::{Server, binary, folder, is_alive, script, wait_for_pid};
use crate::office::{Database, Office};

/// Issues of the company that is compared as a whole; each is asked for ten times.
const ISSUES: usize = 120;

/// Runs `workforce backup` or `restore`.
pub(crate) fn workforce(command: &str, backup: &Path, data: &Path, flags: &[&str]) -> Output {
    let mut workforce = binary();
    workforce
        .arg(command)
        .arg(backup)
        .arg("--data-dir")
        .arg(data);
    let tool = match command {
        "backup" => "pg_dump",
        _ => "pg_restore",
    };
    if let Some(file) = program(tool).filter(|_| flags.contains(&"--database-url")) {
        let flag = format!("--{}", tool.replace('_', "-"));
        workforce.arg(flag).arg(file);
    }
    workforce.args(flags).output().unwrap()
}

pub(crate) fn succeeds(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn is_refused(output: &Output, says: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains(says), "{says:?} is not in {error}");
}

/// The names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

/// A company with something of everything.
pub(crate) fn furnish(server: &Server, office: &Office) {
    let company = format!("/api/companies/{}", office.company);
    let goal = server.post(&format!("{company}/goals"), &json!({ "title": "Grow" }));
    let project = server.post(
        &format!("{company}/projects"),
        &json!({ "name": "Web", "goalId": id(&goal) }),
    );
    server.post(
        &format!("{company}/labels"),
        &json!({ "name": "bug", "color": "#ff0000" }),
    );
    for name in ["TOKEN", "KEY"] {
        let secret = json!({ "name": name, "value": format!("value of {name}") });
        server.post(&format!("{company}/secrets"), &secret);
    }
    for cents in [7, 12] {
        let cost = json!({
            "agentId": office.agent, "provider": "p", "model": "m", "inputTokens": 1,
            "outputTokens": 2, "costCents": cents, "occurredAt": "2026-11-20T10:00:00Z",
        });
        server.post(&format!("{company}/cost-events"), &cost);
    }
    for number in 0..ISSUES {
        let body = json!({ "title": format!("Issue {number}"), "projectId": id(&project) });
        let issue = id(&server.post(&format!("{company}/issues"), &body));
        let comment = json!({ "body": format!("Comment on {number} with words") });
        server.post(&format!("/api/issues/{issue}/comments"), &comment);
        if number % 5 == 0 {
            let path = format!("{company}/issues/{issue}/attachments");
            let (status, answer) = server.upload(&path, &format!("file {number}"));
            assert_eq!(status, 201, "{answer}");
        }
    }
    office.works(server);
}

/// Writes issues with attachments until it is enough; their ids in order.
fn write(server: &Server, company: &str, enough: &AtomicBool) -> Vec<String> {
    let mut written = Vec::new();
    while !enough.load(Ordering::SeqCst) {
        let path = format!("/api/companies/{company}/issues");
        let body = json!({ "title": format!("Busy {}", written.len()) });
        let issue = id(&server.post(&path, &body));
        let (status, _) = server.upload(&format!("{path}/{issue}/attachments"), &issue);
        assert_eq!(status, 201);
        written.push(issue);
    }
    written
}

/// A backup is made while the server is written to. Restored elsewhere it answers the same.
fn answers_the_same(database: &Database, restored: &Database) {
    let (data, other, place) = (folder(), folder(), folder());
    let server = Server::start_with(data.path(), &database.flags(), &[]);
    let office = Office::open(&server);
    furnish(&server, &office);
    let busy = id(&server.post("/api/companies", &json!({ "name": "Busy" })));
    let before = id(&server.post(
        &format!("/api/companies/{busy}/issues"),
        &json!({ "title": "Before" }),
    ));
    let backup = place.path().join("backup");
    let enough = AtomicBool::new(false);
    let flags = [database.flags(), vec!["--with-logs", "--with-master-key"]].concat();
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| write(&server, &busy, &enough));
        let told = workforce("backup", &backup, data.path(), &flags);
        enough.store(true, Ordering::SeqCst);
        assert!(succeeds(&told).contains("the master key is in it"));
        writer.join().unwrap()
    });
    assert!(!written.is_empty());
    assert_eq!(names(place.path()), ["backup"]);
    assert_eq!(
        backup.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    for file in ["manifest.json", "master.key"] {
        let mode = backup.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    succeeds(&workforce(
        "restore",
        &backup,
        other.path(),
        &restored.flags(),
    ));
    let again = workforce("restore", &backup, folder().path(), &restored.flags());
    if let Database::Postgres(_) = restored {
        is_refused(&again, "the database is not empty");
    }
    let copy = Server::start_with(other.path(), &restored.flags(), &[]);

    let (told, retold) = (
        crawl(&server, &office.company),
        crawl(&copy, &office.company),
    );
    assert!(told.len() >= 1000, "{} paths", told.len());
    for (path, answer) in &told {
        assert_eq!(retold.get(path), Some(answer), "{path}");
    }
    assert_eq!(told.len(), retold.len());

    // What was written meanwhile is there from the first to some last one, each with its file.
    let (told, retold) = (crawl(&server, &busy), crawl(&copy, &busy));
    assert!(retold.contains_key(&format!("/api/issues/{before}")));
    let has = |issue: &String| retold.contains_key(&format!("/api/issues/{issue}"));
    let count = written.iter().take_while(|issue| has(issue)).count();
    assert!(!written.iter().skip(count).any(has));
    let files = retold.iter().filter(|(path, _)| path.ends_with("/content"));
    for (path, answer) in files {
        assert_eq!(told.get(path), Some(answer), "{path}");
    }
    let sealed = copy.get(&format!("/api/companies/{}/secrets", office.company));
    assert!(!sealed.to_string().contains("value of"), "{sealed}");
    office.works(&copy);
}

#[test]
fn a_restored_sqlite_server_answers_the_same() {
    answers_the_same(&Database::Sqlite, &Database::Sqlite);
}

#[test]
fn a_restored_postgres_server_answers_the_same() {
    if let (Some(database), Some(restored)) = (Database::postgres(), Database::postgres()) {
        answers_the_same(&database, &restored);
    }
}

#[test]
fn a_copy_ends_the_runs_of_the_original_in_its_own_records_alone() {
    let (data, other, place) = (folder(), folder(), folder());
    let server = Server::start(data.path());
    let office = Office::open(&server);
    let pid = data.path().join("pid");
    let agent = script(
        data.path(),
        "agent.sh",
        &format!("echo $$ > {}\nexec sleep 600\n", pid.display()),
    );
    let agent = server.post(
        &format!("/api/companies/{}/agents", office.company),
        &json!({ "name": "Slow", "role": "engineer",
            "adapterConfig": { "command": "/bin/sh", "args": [agent] } }),
    );
    let run = server.post(
        &format!("/api/agents/{}/heartbeat/invoke", id(&agent)),
        &json!({}),
    );
    let run = format!("/api/heartbeat-runs/{}", id(&run));
    let pid = wait_for_pid(&pid);
    let backup = place.path().join("backup");
    succeeds(&workforce(
        "backup",
        &backup,
        data.path(),
        &["--with-master-key"],
    ));
    succeeds(&workforce("restore", &backup, other.path(), &[]));
    let copy = Server::start(other.path());
    let ended = copy.wait_for(&run, |run| run["status"] != "running");
    assert_eq!(ended["errorCode"], "process_lost", "{ended}");
    assert!(is_alive(pid));
    assert_eq!(server.get(&run)["status"], "running");
}
