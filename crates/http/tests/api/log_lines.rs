//! The output of runs as lines of JSON.

use std::io::{BufRead, BufReader, Lines, Read};
use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::Request;

use workforce_http::StreamLimits;
use workforce_testkit::store::TestStore;

use crate::described;
use crate::support::{Answer, Api, NOTHING, api_tests, id};

const NDJSON: &str = "application/x-ndjson";

/// A run that waits, of which the log is a hundred digits long.
fn run(api: &Api) -> Value {
    let ada = api.agent(&api.company("Acme"), "Ada");
    let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&ada));
    api.post(&invoke, &json!({})).ok(202)
}

fn log(run: &Value) -> String {
    format!("/api/heartbeat-runs/{}/log", id(run))
}

fn cancel(api: &Api, run: &Value) {
    let path = format!("/api/heartbeat-runs/{}/cancel", id(run));
    api.send("POST", &path, &[], b"").ok(200);
}

/// The lines of a piece.
#[track_caller]
fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some(NDJSON));
    assert!(answer.text.ends_with('\n'));
    let lines = answer.text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The lines without the instants that depend on when the test is executed.
fn timeless(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        let ts = line["ts"].as_str().unwrap();
        if !ts.starts_with("1970") {
            line.as_object_mut().unwrap().remove("ts");
        }
    }
    lines
}

/// An open stream of lines.
struct Following(Lines<BufReader<Box<dyn Read + Send + Sync>>>);

impl Following {
    #[track_caller]
    fn open(api: &Api, path: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        let request = Request::get(format!("{}{path}", api.base));
        let answer = config.new_agent().run(request.body(()).unwrap()).unwrap();
        assert_eq!(answer.headers()["content-type"], NDJSON);
        described::check("GET", path, answer.status().as_u16(), answer.headers(), b"");
        Self(BufReader::new(Box::new(answer.into_body().into_reader()) as Box<_>).lines())
    }

    fn next(&mut self) -> Option<Value> {
        let line = self.0.next()?.unwrap();
        Some(serde_json::from_str(&line).unwrap())
    }

    fn rest(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// A server whose streams show at once that they live.
fn talkative(store: TestStore) -> Api {
    let limits = StreamLimits {
        keep_alive: Duration::from_millis(1),
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

api_tests! {
    fn a_log_is_read_in_lines_of_json(api) {
        let run = run(api);
        let path = format!("{}?format=ndjson", log(&run));
        let piece = api.get(&format!("{path}&offset=5&limitBytes=20"));
        assert_eq!(piece.header("cache-control"), Some("no-store"));
        let told = lines(&piece);
        assert_eq!(told[0]["ts"], run["createdAt"], "nothing was noted, and it has not started");
        assert_eq!(timeless(told), [
            json!({ "stream": "system", "chunk": "56789", "seq": 5 }),
            json!({ "ts": "1970-01-01T00:00:01.000Z", "stream": "stdout", "chunk": "0123456789", "seq": 10 }),
            json!({ "ts": "1970-01-01T00:00:02.000Z", "stream": "stderr", "chunk": "01234", "seq": 20 }),
            json!({ "stream": "system", "chunk": "", "seq": 25, "complete": false }),
        ]);
        let rest = lines(&api.get(&format!("{path}&offset=25&limitBytes=1048576")));
        assert_eq!(rest.len(), 9);
        assert_eq!((&rest[0]["seq"], &rest[8]["seq"]), (&json!(25), &json!(100)));
        assert_eq!(rest[8]["complete"], false, "the run has not ended");
        cancel(api, &run);
        assert_eq!(lines(&api.get(&path)).last().unwrap()["complete"], true);
        let beyond = lines(&api.get(&format!("{path}&offset=100")));
        assert_eq!(timeless(beyond), [
            json!({ "stream": "system", "chunk": "", "seq": 100, "complete": true }),
        ]);
        // A word for it in the query outweighs the header.
        let accept = [("Accept", "text/event-stream")];
        assert_eq!(lines(&api.send("GET", &path, &accept, b"")).len(), 11);
    }

    fn pieces_of_any_size_make_up_the_plain_log(api) {
        let run = run(api);
        let plain = api.get(&format!("{}?format=plain", log(&run))).ok(200);
        for limit in [1, 7, 10, 33, 100] {
            let (mut read, mut offset) = (String::new(), 0);
            while offset < 100 {
                let query = format!("format=ndjson&offset={offset}&limitBytes={limit}");
                let told = lines(&api.get(&format!("{}?{query}", log(&run))));
                for line in &told {
                    assert_eq!(line["seq"], read.len());
                    read.push_str(line["chunk"].as_str().unwrap());
                }
                offset = told.last().unwrap()["seq"].as_u64().unwrap();
            }
            assert_eq!(read, plain["content"].as_str().unwrap(), "by {limit}");
        }
    }

    fn lines_are_told_as_they_are_written_until_the_run_ends(api) {
        let run = run(api);
        api.logs.resize(15);
        let mut stream = Following::open(api, &format!("{}/stream?format=ndjson&offset=3", log(&run)));
        assert_eq!(stream.next().unwrap()["chunk"], "3456789");
        assert_eq!(stream.next().unwrap(), json!({
            "ts": "1970-01-01T00:00:01.000Z", "stream": "stdout", "chunk": "01234", "seq": 10,
        }));
        api.logs.resize(25);
        assert_eq!((stream.next().unwrap()["seq"].clone(), stream.next().unwrap()["seq"].clone()), (json!(15), json!(20)));
        cancel(api, &run);
        assert_eq!(timeless(stream.rest()), [
            json!({ "stream": "system", "chunk": "", "seq": 25, "complete": true }),
        ]);
    }

    fn a_stream_of_lines_shows_that_it_lives_by_lines_without_text(api = talkative) {
        let run = run(api);
        let mut stream = Following::open(api, &format!("{}/stream?format=ndjson&offset=95", log(&run)));
        assert_eq!(stream.next().unwrap()["chunk"], "56789");
        let alive = stream.next().unwrap();
        assert_eq!(timeless(vec![alive]), [json!({ "stream": "system", "chunk": "", "seq": 100 })]);
        api.state.streams().close();
        let rest = stream.rest();
        assert!(rest.iter().all(|line| line.get("complete").is_none()), "{rest:?}");
    }

    fn lines_of_a_log_of_another_server_are_those_of_its_end(api) {
        let run = run(api);
        cancel(api, &run);
        api.logs.resize(0);
        // What the engine writes down at the end of a run it ran.
        api.store.execute(&format!(
            "UPDATE heartbeat_runs SET log_bytes = 50, log_tail = 'the end' WHERE id = '{}'",
            id(&run),
        ));
        let plain = api.get(&log(&run)).ok(200);
        let expected = [
            json!({ "stream": "stdout", "chunk": plain["content"], "seq": 0 }),
            json!({ "stream": "system", "chunk": "", "seq": 0, "complete": false, "note": plain["note"] }),
        ];
        let told = lines(&api.get(&format!("{}?format=ndjson", log(&run))));
        assert_eq!(timeless(told), expected);
        let stream = Following::open(api, &format!("{}/stream?format=ndjson", log(&run)));
        assert_eq!(timeless(stream.rest()), expected);
        let later = lines(&api.get(&format!("{}?format=ndjson&offset=7", log(&run))));
        assert_eq!((later.len(), &later[0]["seq"]), (1, &json!(7)));
    }

    fn a_form_that_there_is_not_is_refused(api) {
        let run = run(api);
        let accept = [("Accept", "text/event-stream")];
        for query in ["format=xml", "format=NDJSON", "format=ndjson&format=plain"] {
            let piece = format!("{}?{query}", log(&run));
            let refused = [
                api.get(&piece),
                api.send("GET", &piece, &accept, b""),
                api.get(&format!("{}/stream?{query}", log(&run))),
            ];
            for answer in refused {
                let problem = answer.problem(400, "invalid_request");
                assert_eq!(problem["details"][0]["pointer"], "?format", "{problem}");
            }
        }
        for query in ["limitBytes=0", "limitBytes=99999999", "offset=-1", "offset=x"] {
            api.get(&format!("{}?format=ndjson&{query}", log(&run)))
                .problem(400, "invalid_request");
        }
        let elsewhere = format!("/api/heartbeat-runs/{NOTHING}/log?format=ndjson");
        api.get(&elsewhere).problem(404, "not_found");
        let stranger = api.key(&api.agent(&api.company("Other"), "Eve"));
        let address = format!("{}?format=ndjson", log(&run));
        api.bearing(&stranger).get(&address).problem(404, "not_found");
        let head = api.send("HEAD", &format!("{}/stream?format=ndjson", log(&run)), &[], b"");
        assert_eq!((head.header("content-type"), head.text.as_str()), (Some(NDJSON), ""));
    }
}
