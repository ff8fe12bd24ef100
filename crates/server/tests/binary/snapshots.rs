//! Copies of the SQLite database that a server makes by itself.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::backups::{is_refused, names, succeeds, workforce};
use crate::harness::{PATIENCE, Server, folder};
use crate::office::Office;

/// The write-ahead log is cut to so many bytes when it begins anew.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;
/// So large the database becomes.
const LARGE: u64 = 48 * 1024 * 1024;

/// One every second.
const OFTEN: [(&str, &str); 1] = [("WORKFORCE_SNAPSHOTS_SEC", "1")];

/// The names of the snapshots in a data folder.
fn snapshots(data: &Path) -> Vec<String> {
    let mut names = match data.join("snapshots").is_dir() {
        true => names(&data.join("snapshots")),
        false => Vec::new(),
    };
    names.retain(|name| name.ends_with(".db"));
    names
}

/// Their names, when there are so many.
fn made(data: &Path, count: usize) -> Vec<String> {
    let begun = Instant::now();
    while snapshots(data).len() < count {
        assert!(begun.elapsed() < PATIENCE, "there is no snapshot");
        thread::sleep(Duration::from_millis(50));
    }
    snapshots(data)
}

#[test]
fn snapshots_are_made_by_themselves_and_can_be_restored() {
    let (data, other) = (folder(), folder());
    let server = Server::start_with(data.path(), &[], &OFTEN);
    let office = Office::open(&server);
    // The one after the next was begun after the office was opened.
    let before = made(data.path(), 1);
    let last = made(data.path(), before.len() + 2).pop().unwrap();
    let snapshot = data.path().join("snapshots").join(last);
    assert_eq!(
        snapshot.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let key = data.path().join("master.key");
    let flags = ["--master-key", key.to_str().unwrap()];
    succeeds(&workforce("restore", &snapshot, other.path(), &flags));
    let copy = Server::start_with(other.path(), &[], &[("WORKFORCE_SNAPSHOTS_SEC", "0")]);
    let issue = format!("/api/issues/{}", office.issue);
    assert_eq!(server.get(&issue), copy.get(&issue));
    office.works(&copy);
    assert!(snapshots(other.path()).is_empty());
    let other = folder();
    let database = data.path().join("workforce.db");
    is_refused(
        &workforce("restore", &database, other.path(), &[]),
        "is the database of a server",
    );
    is_refused(
        &workforce("restore", &key, other.path(), &[]),
        "is neither a backup nor a snapshot",
    );
}

/// Fills the database while snapshots are made, until it is large, there are three of them, and
/// the log began anew.
fn fill(server: &Server, issue: &str, text: &str) {
    let data = server.folder();
    let comments = format!("/api/issues/{issue}/comments");
    let begun = Instant::now();
    let is_filled = || {
        let are_made = bytes(data, "workforce.db") >= LARGE && snapshots(data).len() >= 3;
        are_made && bytes(data, "workforce.db-wal") <= LOG_LIMIT
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_filled() {
                    assert!(begun.elapsed() < 4 * PATIENCE, "it is not filled");
                    server.post(&comments, &json!({ "body": text }));
                }
            });
        }
    });
}

/// Stops the server when it has begun a snapshot, and returns whether that is not finished.
fn stops_within_a_snapshot(server: Server) -> bool {
    let partial = server.folder().join("snapshots/partial");
    let begun = Instant::now();
    while !partial.metadata().is_ok_and(|it| it.len() > 0) {
        assert!(begun.elapsed() < PATIENCE, "none is begun");
        thread::sleep(Duration::from_millis(1));
    }
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
    partial.exists()
}

fn bytes(data: &Path, name: &str) -> u64 {
    data.join(name).metadata().map_or(0, |it| it.len())
}

/// A snapshot reads one state of the database for as long as it takes to copy, and until then the
/// write-ahead log cannot begin anew.
#[test]
fn writes_go_on_while_snapshots_are_made_and_a_stop_does_not_wait_for_one() {
    let (data, other) = (folder(), folder());
    let mut server = Server::start_with(data.path(), &["--rate-limit", "0"], &OFTEN);
    let issue = Office::open(&server).issue;
    let words: Vec<String> = (0..4000).map(|number| format!("w{number:x}")).collect();
    let text = words.join(" ");
    fill(&server, &issue, &text);

    let mut stops = 1;
    while !stops_within_a_snapshot(server) {
        assert!(stops < 5, "each stop waited for a snapshot");
        stops += 1;
        server = Server::start_with(data.path(), &[], &OFTEN);
    }

    let last = snapshots(data.path()).pop().unwrap();
    let snapshot = data.path().join("snapshots").join(last);
    let key = data.path().join("master.key");
    let flags = ["--master-key", key.to_str().unwrap()];
    succeeds(&workforce("restore", &snapshot, other.path(), &flags));
    let copy = Server::start(other.path());
    let kept = copy.get(&format!("/api/issues/{issue}/comments?limit=1"));
    assert_eq!(kept[0]["body"], text.as_str());

    let before = snapshots(data.path());
    let _again = Server::start_with(data.path(), &[], &OFTEN);
    let begun = Instant::now();
    while snapshots(data.path()) == before {
        assert!(begun.elapsed() < PATIENCE, "there is no other snapshot");
        thread::sleep(Duration::from_millis(5));
    }
}
