//! What a load took of memory goes back when it is over.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{PATIENCE, Server, folder};
use crate::office::on_both;

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
