//! A server on which nothing happens: agents on timers, for whom nothing waits.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Server, folder};
use crate::office::{Database, on_both};

const AGENTS: i64 = 40;
/// The shortest interval.
const INTERVAL_SEC: u64 = 30;
/// How often it is asked how many beats came to nothing: asking takes transactions too.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// Longer than all agents need to beat once more.
const PATIENCE: Duration = Duration::from_secs(120);
/// So many transactions are begun between two beats at most, with those of the test. A server that
/// looks for each kind of work every second begins 200, and more for each beat.
const TRANSACTIONS: i64 = 60;

/// All that would change if anything were written.
fn written(database: &Database, data: &Path) -> Vec<String> {
    match database {
        Database::Postgres(database) => database.texts(
            "SELECT CAST(xmin AS text) || ' ' || CAST(id AS text) AS line FROM agents \
             UNION ALL SELECT CAST(xmin AS text) FROM company_counters \
             UNION ALL SELECT CAST(COUNT(*) AS text) FROM events \
             UNION ALL SELECT CAST(COUNT(*) AS text) FROM wakes \
             ORDER BY 1",
        ),
        Database::Sqlite => ["workforce.db", "workforce.db-wal"]
            .map(|name| {
                let file = fs::metadata(data.join(name)).unwrap();
                format!("{name} {} {:?}", file.len(), file.modified().unwrap())
            })
            .to_vec(),
    }
}

/// The transactions that were begun on the database so far; none is counted on SQLite.
fn transactions(database: &Database) -> i64 {
    let Database::Postgres(database) = database else {
        return 0;
    };
    let count = database.texts(
        "SELECT CAST(xact_commit + xact_rollback AS text) AS line FROM pg_stat_database \
         WHERE datname = current_database()",
    );
    count[0].parse().unwrap()
}

/// Waits until the beats that came to nothing are so many.
fn wait_for_beats(server: &Server, company: &str, beats: i64) {
    let begun = Instant::now();
    let path = format!("/api/companies/{company}/dashboard");
    while server.get(&path)["suppressedWakes"].as_i64().unwrap() < beats {
        assert!(begun.elapsed() < PATIENCE, "there are no {beats} beats");
        thread::sleep(ASK_EVERY);
    }
}

on_both! {
    fn agents_for_whom_nothing_waits_cost_nothing_until_something_does(database) {
        let data = folder();
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        let company = server.post("/api/companies", &json!({ "name": "Acme" }));
        let company = company["id"].as_str().unwrap();
        let agents = format!("/api/companies/{company}/agents");
        let hired = (0..AGENTS).map(|_| {
            let agent = server.post(&agents, &json!({
                "name": "Ada", "allowSameName": true, "role": "engineer",
                "adapterConfig": { "command": "/bin/true" },
                "runtimeConfig": { "heartbeat": {
                    "intervalSec": INTERVAL_SEC, "wakeOnDemand": false,
                } },
            }));
            agent["id"].as_str().unwrap().to_owned()
        });
        let hired: Vec<String> = hired.collect();
        // What PostgreSQL counts it tells some seconds later.
        wait_for_beats(&server, company, AGENTS);
        let (before, begun) = (written(database, data.path()), transactions(database));
        wait_for_beats(&server, company, 2 * AGENTS);
        assert_eq!(written(database, data.path()), before);
        let count = transactions(database) - begun;
        assert!(count <= TRANSACTIONS, "{count} transactions");

        // The next beat of the one for whom something waits comes as if it had been awake.
        let path = format!("/api/agents/{}/runtime-state", hired[0]);
        server.post(
            &format!("/api/companies/{company}/issues"),
            &json!({ "title": "Work", "status": "todo", "assigneeAgentId": hired[0] }),
        );
        let begun = Instant::now();
        let state = loop {
            let state = server.get(&path);
            if !state["lastRun"].is_null() {
                break state;
            }
            assert!(begun.elapsed() < PATIENCE, "no beat has come: {state}");
            thread::sleep(Duration::from_millis(200));
        };
        assert_eq!(state["lastRun"]["reason"], "heartbeat_timer");
        assert_eq!(state["lastRun"]["status"], "succeeded");
        let runs = server.get(&format!("/api/companies/{company}/heartbeat-runs"));
        assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    }
}
