//! A server whose disk is slow to keep what it is given, or refuses to.

use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Sender;
use crate::faulty_disk::FaultyDisk;
use crate::harness::{PATIENCE, Server, folder};
use crate::office::Office;
use crate::streams::{lines, numbers};

/// The log of the database, which every commit has flushed.
const LOG: &str = "workforce.db-wal";

const READY: &str = "/api/health/ready";

fn start(data: &TempDir, disk: &FaultyDisk) -> Server {
    Server::start_unheard(data.path(), &[], &disk.variables(), Stdio::null())
}

fn issues(office: &Office) -> String {
    format!("/api/companies/{}/issues", office.company)
}

/// Makes an issue; its id, or the answer that refuses it.
fn make(server: &Server, office: &Office, title: &str) -> Result<String, (u16, Value)> {
    let (status, answer) = server.send("POST", &issues(office), None, &json!({ "title": title }));
    if status == 201 {
        return Ok(answer["id"].as_str().unwrap().to_owned());
    }
    Err((status, answer["code"].clone()))
}

/// Asks for something that the store does not show now.
fn is_unavailable(server: &Server, path: &str) {
    let (status, answer) = server.send("GET", path, None, &Value::Null);
    assert_eq!(
        (status, &answer["code"]),
        (503, &json!("store_unavailable")),
        "{answer}"
    );
}

fn titles(issues: &Value) -> Vec<&str> {
    let issues = issues.as_array().unwrap().iter();
    issues.map(|it| it["title"].as_str().unwrap()).collect()
}

#[test]
fn nobody_is_told_of_what_the_disk_does_not_keep_yet() {
    let data = folder();
    let disk = FaultyDisk::of(LOG);
    let server = start(&data, &disk);
    let office = Office::open(&server);
    let (told, answers) = channel();
    disk.slow_down();
    std::thread::scope(|scope| {
        let (server, office) = (&server, &office);
        let write = |title: &'static str| {
            let told = told.clone();
            scope.spawn(move || {
                make(server, office, title).unwrap();
                told.send("written").unwrap();
            });
        };
        write("First");
        disk.wait_for_flush();
        // These are run beside it, and wait for their own flush.
        write("Second");
        write("Third");
        let client = server.client();
        let told = told.clone();
        scope.spawn(move || {
            let listed = client.send("GET", &issues(office), Sender::default(), &Value::Null);
            let (_status, listed) = listed.unwrap();
            assert!(titles(&listed).contains(&"First"), "{listed}");
            told.send("read").unwrap();
        });
        let early = answers.recv_timeout(Duration::from_millis(500));
        assert!(early.is_err(), "{early:?} before it is durable");
        disk.free();
    });
    let mut all: Vec<_> = answers.try_iter().collect();
    all.sort_unstable();
    assert_eq!(all, ["read", "written", "written", "written"]);
}

#[test]
fn a_disk_that_refuses_to_keep_what_is_written_is_told_and_mended() {
    let data = folder();
    let disk = FaultyDisk::of(LOG);
    let server = start(&data, &disk);
    let office = Office::open(&server);
    let mut acknowledged = vec![make(&server, &office, "Before").unwrap()];
    let refused = || {
        disk.deafen();
        let (status, code) = make(&server, &office, "Perhaps").unwrap_err();
        // The server may have met the disk first, with something of its own.
        let codes = [json!("outcome_unknown"), json!("store_unavailable")];
        assert!(status == 503 && codes.contains(&code), "{status} {code}");
    };
    for _ in 0..2 {
        refused();
        // From now on it is known that nothing is kept.
        for _ in 0..3 {
            assert_eq!(
                make(&server, &office, "Never").unwrap_err(),
                (503, json!("store_unavailable"))
            );
        }
        // Nor is anybody told of what may be lost.
        let before = format!("/api/issues/{}", acknowledged[0]);
        for path in [&before, READY] {
            is_unavailable(&server, path);
        }
        disk.free();
        // Nobody need write for that.
        server.wait_for_answer(&before, |status, _| status == 200);
        acknowledged.push(make(&server, &office, "After").unwrap());
        office.works(&server);
    }
    // Whoever starts next knows nothing of it.
    refused();
    server.signal(Signal::SIGKILL);
    server.wait();
    disk.free();

    let server = start(&data, &disk);
    for issue in &acknowledged {
        server.get(&format!("/api/issues/{issue}"));
    }
    let all = server.get(&issues(&office));
    assert!(!titles(&all).contains(&"Never"), "{all}");
    office.works(&server);
}

#[test]
fn nobody_is_told_of_an_event_that_the_disk_refuses_to_keep() {
    let data = folder();
    let disk = FaultyDisk::of(LOG);
    let server = start(&data, &disk);
    let office = Office::open(&server);
    make(&server, &office, "Before").unwrap();
    let events = format!("/api/companies/{}/events?after=0", office.company);
    let (told, number) = channel();
    let stream = lines(&server, &events, None);
    let reader = std::thread::spawn(move || {
        // The test ends before the stream does.
        numbers(stream).try_for_each(|it| told.send(it))
    });
    let seen = || number.recv_timeout(Duration::from_millis(500));
    let mut last = 0;
    while let Ok(next) = seen() {
        last = next;
    }
    assert!(last > 0, "nothing is told");
    disk.deafen();
    make(&server, &office, "Perhaps").unwrap_err();
    let after = seen();
    assert!(after.is_err(), "{after:?} follows {last}");
    let (status, _answer) = server.text(&events);
    assert_eq!(status, 503);
    disk.free();
    server.signal(Signal::SIGKILL);
    server.wait();
    drop(reader.join());
}

#[test]
fn a_flush_that_hangs_is_told_and_keeps_no_server_from_ending() {
    let data = folder();
    let disk = FaultyDisk::of(LOG);
    let server = start(&data, &disk);
    let office = Office::open(&server);
    disk.slow_down();
    let (client, path) = (server.client(), issues(&office));
    let write = std::thread::spawn(move || {
        let issue = json!({ "title": "Late" });
        client.send("POST", &path, Sender::default(), &issue)
    });
    disk.wait_for_flush();
    let answer = server.wait_for_answer(READY, |status, _| status == 503);
    assert_eq!(answer["code"], "store_unavailable", "{answer}");
    // As it is known already, none of these waits.
    let begun = Instant::now();
    for _ in 0..20 {
        is_unavailable(&server, &issues(&office));
    }
    assert!(begun.elapsed() < PATIENCE);
    server.signal(Signal::SIGTERM);
    server.wait();
    let unanswered = write.join().unwrap();
    assert!(!matches!(unanswered, Ok((201, _))), "{unanswered:?}");
}

#[test]
fn a_write_behind_a_flush_that_hangs_is_refused_and_never_written() {
    // More than share a commit.
    const SENT: usize = 100;
    let data = folder();
    let disk = FaultyDisk::of(LOG);
    let server = start(&data, &disk);
    let office = Office::open(&server);
    let (told, answers) = channel();
    let mut kept = Vec::new();
    disk.slow_down();
    std::thread::scope(|scope| {
        let send = |number: usize| {
            let (server, office, told) = (&server, &office, told.clone());
            scope.spawn(move || {
                let title = format!("Issue {number:03}");
                let made = make(server, office, &title).map(|_id| title);
                told.send(made).unwrap();
            });
        };
        (0..SENT).for_each(send);
        // What begins before it is clear that the disk does not answer waits for it.
        let mut more = SENT..;
        for _ in 0..5 {
            let refused = loop {
                send(more.next().unwrap());
                if let Ok(made) = answers.recv_timeout(Duration::from_millis(200)) {
                    break made.unwrap_err();
                }
                assert!(more.start - SENT < 100, "none is refused");
            };
            assert_eq!(refused, (503, json!("store_unavailable")));
        }
        disk.free();
        drop(told);
        kept.extend(answers.iter().filter_map(Result::ok));
    });
    assert!(!kept.is_empty(), "what had begun is kept");
    let all = server.get(&format!("{}?limit=500", issues(&office)));
    let ours = |title: &&str| title.starts_with("Issue ");
    let mut found: Vec<_> = titles(&all).into_iter().filter(ours).collect();
    found.sort_unstable();
    kept.sort_unstable();
    assert_eq!(found, kept);
}
