use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use workforce_testkit::postgres::{database, shared_cluster_url};

use crate::harness::{Server, attachments_in, folder, script};

/// The lines of a stream, as `curl -N` shows them.
pub(crate) fn lines(
    server: &Server,
    path: &str,
    last_id: Option<&str>,
) -> Box<dyn Iterator<Item = String> + Send> {
    let mut request = ureq::http::Request::get(format!("{}{path}", server.base));
    if let Some(id) = last_id {
        request = request.header("Last-Event-ID", id);
    }
    let answer = ureq::agent().run(request.body(()).unwrap()).unwrap();
    let lines = BufReader::new(answer.into_body().into_reader()).lines();
    Box::new(lines.map_while(Result::ok))
}

pub(crate) fn numbers(lines: impl Iterator<Item = String>) -> impl Iterator<Item = i64> {
    let data = lines.filter_map(|line| {
        let data = line.strip_prefix("data: ")?;
        serde_json::from_str::<Value>(data).ok()
    });
    data.map(|event| event["id"].as_i64().unwrap())
}

fn events(company: &Value) -> String {
    format!("/api/companies/{}/events", company["id"].as_str().unwrap())
}

/// A run of an agent that executes this script.
fn invoked(server: &Server, folder: &Path, text: &str) -> String {
    let company = server.post(
        "/api/companies",
        &json!({ "name": "Acme", "requireBoardApprovalForNewAgents": false }),
    );
    let program = script(folder, "agent.sh", text);
    let company = company["id"].as_str().unwrap();
    let agent = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({
            "name": "Ada", "allowSameName": true, "role": "engineer",
            "adapterConfig": { "command": "/bin/sh", "args": [program] },
        }),
    );
    let agent = agent["id"].as_str().unwrap();
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_server_that_is_told_to_stop_does_not_wait_for_streams() {
    let data = folder();
    let server = Server::start(data.path());
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    let mut stream = lines(&server, &format!("{}?after=0", events(&company)), None);
    assert!(stream.any(|line| line.starts_with("data: ")));
    let begun = Instant::now();
    server.signal(Signal::SIGTERM);
    assert_eq!(stream.filter(|line| line.starts_with("data: ")).count(), 0);
    assert_eq!(server.wait().code(), Some(0));
    // Not as long as requests get to be answered, let alone runs to end.
    assert!(begun.elapsed() < Duration::from_secs(5), "it waited");
}

#[test]
fn the_output_of_a_run_is_streamed_to_its_end() {
    let data = folder();
    let server = Server::start(data.path());
    let go = data.path().join("go");
    let run = invoked(
        &server,
        data.path(),
        &format!(
            "echo begun; while [ ! -e {} ]; do sleep 0.05; done; echo done\n",
            go.display()
        ),
    );
    let mut stream = lines(
        &server,
        &format!("/api/heartbeat-runs/{run}/log/stream"),
        None,
    );
    assert!(stream.any(|line| line.contains("begun")));
    std::fs::write(go, "").unwrap();
    let rest: Vec<String> = stream.collect();
    assert!(rest.iter().any(|line| line.contains("done")), "{rest:?}");
    assert!(rest.iter().any(|line| line == "event: end"), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("succeeded")),
        "{rest:?}"
    );
}

#[test]
fn the_output_of_a_slow_run_is_followed_in_lines_of_json() {
    let data = folder();
    let server = Server::start(data.path());
    let [first, second] = ["first", "second"].map(|name| data.path().join(name));
    let wait = |for_it: &Path| format!("until [ -e {} ]; do sleep 0.05; done", for_it.display());
    let run = invoked(
        &server,
        data.path(),
        &format!(
            "echo begun; {}; echo 'é€😀 한국어' >&2; {}; echo done\n",
            wait(&first),
            wait(&second),
        ),
    );
    let log = format!("/api/heartbeat-runs/{run}/log");
    let parsed = |path: &str| {
        lines(&server, path, None).map(|line| serde_json::from_str::<Value>(&line).unwrap())
    };
    let mut stream = parsed(&format!("{log}/stream?format=ndjson"));
    let mut told = Vec::new();
    // Past the lines that only show that the stream lives.
    let mut next = || stream.find(|line| line["chunk"] != "" || line.get("complete").is_some());
    told.extend(next());
    std::fs::write(first, "").unwrap();
    told.extend(next());
    std::fs::write(second, "").unwrap();
    told.extend(next());
    let expected = [
        ("stdout", "begun\n", 0),
        ("stderr", "é€😀 한국어\n", 6),
        ("stdout", "done\n", 26),
    ];
    for (line, (name, chunk, seq)) in told.iter().zip(expected) {
        assert_eq!(
            (&line["stream"], &line["chunk"], &line["seq"]),
            (&json!(name), &json!(chunk), &json!(seq))
        );
    }
    assert!(told.is_sorted_by_key(|line| line["ts"].as_str().unwrap().to_owned()));
    let last = next().unwrap();
    assert_eq!(
        (&last["seq"], &last["complete"]),
        (&json!(31), &json!(true))
    );
    assert!(next().is_none());

    let rest: Vec<_> = parsed(&format!("{log}?format=ndjson&offset=6")).collect();
    assert_eq!(&rest[..2], &told[1..]);
    let plain = server.get(&log);
    for limit in 1..12 {
        let (mut read, mut offset) = (String::new(), 0);
        while offset < 31 {
            let query = format!("format=ndjson&offset={offset}&limitBytes={limit}");
            for line in parsed(&format!("{log}?{query}")) {
                read.push_str(line["chunk"].as_str().unwrap());
                offset = line["seq"].as_u64().unwrap();
            }
        }
        assert_eq!(json!(read), plain["content"], "by {limit}");
    }
}

#[test]
fn two_servers_on_one_database_tell_each_others_events() {
    let Some(cluster) = shared_cluster_url() else {
        return;
    };
    let database = database(&cluster);
    // What one of them seals the other opens.
    let key = "5a".repeat(32);
    let folders = [folder(), folder()];
    let (name, place) = attachments_in(folders[0].path());
    let key = [("WORKFORCE_MASTER_KEY", key.as_str()), (name, &place)];
    let start = |data: &tempfile::TempDir| {
        Server::start_with(data.path(), &["--database-url", database.url()], &key)
    };
    let [first, second] = [start(&folders[0]), start(&folders[1])];
    let company = first.post("/api/companies", &json!({ "name": "Acme" }));
    let cause = |server: &Server| {
        let issues = format!("/api/companies/{}/issues", company["id"].as_str().unwrap());
        server.post(&issues, &json!({ "title": "Work" }));
    };
    let path = events(&company);
    let mut of_second = numbers(lines(&second, &format!("{path}?after=0"), None));
    assert_eq!(of_second.next(), Some(1));
    cause(&first);
    assert_eq!((of_second.next(), of_second.next()), (Some(2), Some(3)));
    // The first server goes; its readers come back to the second one.
    let mut of_first = numbers(lines(&first, &path, Some("1")));
    assert_eq!(of_first.next(), Some(2));
    first.signal(Signal::SIGTERM);
    first.wait();
    cause(&second);
    let mut back = numbers(lines(&second, &path, Some("2")));
    let told: Vec<_> = (0..3).filter_map(|_| back.next()).collect();
    assert_eq!(told, [3, 4, 5]);
}
