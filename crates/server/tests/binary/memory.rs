//! What a load takes of memory has a bound, and goes back when it is over.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::faulty_disk::FaultyDisk;
use crate::harness::{PATIENCE, Server, folder};
use crate::office::{Office, on_both};

/// A text of many pages, most of which are in no other table.
const TEXT: usize = 40 * 1024;
/// More of them than the database's cache of 16 MiB takes.
const TEXTS: usize = 500;
/// What may stay of them, in KiB: a little more of every thread and cache is in use than before.
const MAY_STAY: u64 = 8 * 1024;

/// The memory of a server that is not mapped from files, in KiB.
fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let count = line.unwrap().trim().trim_end_matches(" kB");
    count.parse().unwrap()
}

on_both! {
    fn memory_that_a_load_took_goes_back_when_it_is_over(database) {
        let data = folder();
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        let company = server.post("/api/companies", &json!({ "name": "Acme" }));
        let issue = server.post(
            &format!("/api/companies/{}/issues", company["id"].as_str().unwrap()),
            &json!({ "title": "Work" }),
        );
        let path = format!("/api/issues/{}/comments", issue["id"].as_str().unwrap());
        let comment = || server.post(&path, &json!({ "body": "word ".repeat(TEXT / 5) }));
        for _ in 0..10 {
            comment();
        }
        let before = memory(&server);
        for _ in 0..TEXTS {
            comment();
        }
        let loaded = memory(&server);

        let begun = Instant::now();
        while memory(&server) > before + MAY_STAY {
            assert!(
                begun.elapsed() < PATIENCE,
                "{before} KiB before, {loaded} with the load, {} after it", memory(&server),
            );
            thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A body of which what is read takes a hundred times its length.
fn of_many_parts() -> Value {
    let parts: Vec<_> = (0..8_000).map(|_| json!({ "": 0 })).collect();
    json!({ "name": "Ada", "allowSameName": true, "role": "engineer", "adapterConfig": { "command": "true", "parts": parts } })
}

#[test]
fn writes_of_many_parts_that_wait_for_the_disk_have_a_bound() {
    // More than a GiB, read.
    const SENT: usize = 200;
    /// In KiB.
    const BOUND: u64 = 512 * 1024;
    let data = folder();
    let disk = FaultyDisk::of("workforce.db-wal");
    let server = Server::start_unheard(data.path(), &[], &disk.variables(), Stdio::null());
    let office = Office::open(&server);
    let agents = format!("/api/companies/{}/agents", office.company);
    let agent = of_many_parts();
    disk.slow_down();
    let begun = Instant::now();
    let (told, peak) = thread::scope(|scope| {
        let writers: Vec<_> = (0..SENT)
            .map(|_| scope.spawn(|| server.send("POST", &agents, None, &agent)))
            .collect();
        let mut peak = 0;
        // After five seconds it is known that the disk does not answer.
        while begun.elapsed() < Duration::from_secs(2) {
            peak = peak.max(memory(&server));
            thread::sleep(Duration::from_millis(20));
        }
        disk.free();
        let told: Vec<_> = writers.into_iter().map(|it| it.join().unwrap()).collect();
        (told, peak)
    });
    assert!(peak < BOUND, "{peak} KiB");
    let busy = told.iter().filter(|(_, it)| it["code"] == "busy").count();
    assert!(busy > 0, "there is room for all");
    let made = told.iter().filter(|(status, _)| *status == 201).count();
    assert_eq!(made + busy, SENT, "{:?}", told.last());
}
