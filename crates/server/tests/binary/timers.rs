//! Timers of many agents on two servers that share a database.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Server, attachments_in, folder};
use crate::office::Database;

const COMPANIES: usize = 50;
const AGENTS_OF_EACH: usize = 4;
/// The shortest interval, which a beat may miss by a tenth.
const INTERVAL_SEC: u64 = 30;
const EARLIEST: Duration = Duration::from_secs(27);
const LATEST: Duration = Duration::from_secs(33);
const WATCHED: Duration = Duration::from_secs(66);
/// How late a beat may be seen on a computer that does other things too.
const LATE: Duration = Duration::from_secs(15);
/// For how long a run of a dead server is its own.
const LEASE: Duration = Duration::from_secs(60);

/// Servers that share a database share this.
const MASTER_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

/// Companies with agents that are run by their timers alone.
fn found_companies(server: &Server) -> Vec<String> {
    let found = |_| {
        let company = id(&server.post("/api/companies", &json!({ "name": "Acme" })));
        for _ in 0..AGENTS_OF_EACH {
            server.post(
                &format!("/api/companies/{company}/agents"),
                &json!({
                    "name": "Ada", "allowSameName": true, "role": "engineer",
                    "adapterConfig": { "command": "/bin/true" },
                    "runtimeConfig": { "heartbeat": {
                        "intervalSec": INTERVAL_SEC, "alwaysRun": true,
                    } },
                }),
            );
        }
        company
    };
    (0..COMPANIES).map(found).collect()
}

/// The runs of each agent.
fn runs(server: &Server, companies: &[String]) -> HashMap<String, Vec<Value>> {
    let mut of_agents: HashMap<String, Vec<Value>> = HashMap::new();
    for company in companies {
        let path = format!("/api/companies/{company}/heartbeat-runs?limit=200");
        for run in server.get(&path).as_array().unwrap() {
            let agent = run["agentId"].as_str().unwrap().to_owned();
            of_agents.entry(agent).or_default().push(run.clone());
        }
    }
    of_agents
}

fn times(of: Duration, every: Duration) -> usize {
    usize::try_from(of.as_secs() / every.as_secs()).unwrap()
}

/// Since there were `before` runs of it, each agent was run once for each beat of
/// this time; a beat of its last part may be on its way.
#[track_caller]
fn assert_beats(
    before: &HashMap<String, Vec<Value>>,
    now: &HashMap<String, Vec<Value>>,
    time: Duration,
    late: Duration,
) {
    assert_eq!(now.len(), COMPANIES * AGENTS_OF_EACH);
    let at_most = 1 + times(time, EARLIEST);
    let at_least = times(time.saturating_sub(late), LATEST);
    for (agent, runs) in now {
        let more = runs.len() - before.get(agent).map_or(0, Vec::len);
        let starts: Vec<_> = runs.iter().map(|run| &run["startedAt"]).collect();
        assert!(
            (at_least..=at_most).contains(&more),
            "{agent} was run {more} times, not {at_least} to {at_most}: {starts:?}"
        );
    }
}

#[test]
fn each_beat_of_two_hundred_agents_comes_once_on_two_servers_and_on_the_one_that_is_left() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (one, two) = (folder(), folder());
    let (name, place) = attachments_in(one.path());
    let shared = [("WORKFORCE_MASTER_KEY", MASTER_KEY), (name, &place)];
    let first = Server::start_with(one.path(), &database.flags(), &shared);
    let second = Server::start_with(two.path(), &database.flags(), &shared);
    let companies = found_companies(&first);
    let begun = Instant::now();
    let at_first = runs(&second, &companies);
    std::thread::sleep(WATCHED);
    let then = runs(&second, &companies);
    assert_beats(&at_first, &then, begun.elapsed(), LATE);
    for run in then.values().flatten() {
        assert_eq!(run["reason"], "heartbeat_timer");
        assert_ne!(run["status"], "failed", "{run}");
    }

    first.signal(Signal::SIGKILL);
    let died = Instant::now();
    std::thread::sleep(LEASE + LATEST + LATE);
    let now = runs(&second, &companies);
    assert_beats(&then, &now, died.elapsed(), LEASE + LATE);
}
