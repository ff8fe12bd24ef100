//! Logs of ended runs are packed by the server, and answered as before.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, folder, script};
use crate::office::Office;

/// What each form of a log answers, from several offsets.
fn answers(server: &Server, run: &str) -> Vec<(u16, String)> {
    let mut paths = vec![format!("{run}/log/stream")];
    for offset in [0, 1, 262_143, 300_001, 10_000_000] {
        for form in ["plain", "ndjson"] {
            let range = format!("offset={offset}&limitBytes=70000&format={form}");
            paths.push(format!("{run}/log?{range}"));
        }
    }
    let told = paths.iter().map(|path| {
        let (status, text) = server.text(path);
        // The last line of JSON tells when it was asked.
        let is_answer = |line: &&str| !line.contains("\"complete\":");
        let lines: Vec<_> = text.lines().filter(is_answer).collect();
        (status, lines.join("\n"))
    });
    told.collect()
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

/// Nobody has written to it for long.
fn age(log: &Path) {
    let file = File::options().append(true).open(log).unwrap();
    let hours_ago = std::time::Duration::from_secs(2 * 60 * 60);
    file.set_modified(SystemTime::now() - hours_ago).unwrap();
}

#[test]
fn a_packed_log_is_answered_as_before_and_a_live_one_is_not_packed() {
    let data = folder();
    let server = Server::start(data.path());
    let office = Office::open(&server);
    let hire = |name: &str, lines: &str| {
        let agent = script(data.path(), &format!("{name}.sh"), lines);
        let agent = server.post(
            &format!("/api/companies/{}/agents", office.company),
            &json!({ "name": name, "role": "engineer",
                "adapterConfig": { "command": "/bin/sh", "args": [agent] } }),
        );
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&agent));
        id(&server.post(&invoke, &json!({})))
    };
    let many = "i=0; while [ $i -lt 8000 ]; do echo \"line $i \u{e9}\u{20ac} of the output of a run\"; \
                i=$((i+1)); done";
    let (ended, live) = (
        hire("Ended", many),
        hire("Live", &format!("{many}\nexec sleep 600")),
    );
    let (run, log) = (format!("/api/heartbeat-runs/{ended}"), |run: &str| {
        data.path()
            .join("runs")
            .join(&office.company)
            .join(format!("{run}.log"))
    });
    office.wait_for_success(&server, &run);
    let live_run = format!("/api/heartbeat-runs/{live}");
    server.wait_for(&format!("{live_run}/log?offset=300000"), |log| {
        log["content"].as_str().is_some_and(|it| !it.is_empty())
    });
    let before = answers(&server, &run);
    server.signal(Signal::SIGKILL);
    server.leave();
    for run in [&ended, &live] {
        age(&log(run));
    }
    let server = Server::start(data.path());
    let packed = log(&ended).with_extension("log.z");
    let begun = std::time::Instant::now();
    while log(&ended).exists() {
        assert!(begun.elapsed() < PATIENCE, "it is not packed");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(packed.exists() && log(&live).exists());
    assert_eq!(server.get(&live_run)["status"], "running");
    for (after, before) in answers(&server, &run).into_iter().zip(before) {
        assert_eq!(after, before);
    }
}
