//! The output of runs as it is written.

use serde_json::{Value, json};
use workforce_http::StreamLimits;
use workforce_testkit::store::TestStore;

use crate::sse::Stream;
use crate::support::{Api, NOTHING, api_tests, id};

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

/// A server on which each caller may have one stream.
fn narrow(store: TestStore) -> Api {
    let limits = StreamLimits {
        per_caller: 1,
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

api_tests! {
    fn output_is_told_as_it_is_written_until_the_run_ends(api) {
        let run = run(api);
        api.logs.resize(30);
        let mut stream = Stream::open(&api.base, &format!("{}/stream", log(&run)), &[]);
        let first = stream.next().unwrap();
        assert_eq!((first.event.as_str(), first.id.as_str()), ("log", "30"));
        assert_eq!(first.data, json!({
            "runId": run["id"], "offset": 0, "nextOffset": 30, "content": "0123456789".repeat(3),
        }));
        api.logs.resize(45);
        let next = stream.next().unwrap();
        assert_eq!((&next.data["offset"], &next.data["content"]), (&json!(30), &json!("012345678901234")));
        cancel(api, &run);
        let told = stream.rest();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].event.as_str(), told[0].id.as_str()), ("end", "45"));
        assert_eq!(told[0].data, json!({
            "runId": run["id"], "status": "cancelled", "errorCode": null, "totalBytes": 45,
        }));
    }

    fn a_reader_goes_on_where_it_was(api) {
        let run = run(api);
        cancel(api, &run);
        let accept = ("Accept", "text/event-stream");
        let address = format!("{}?offset=10", log(&run));
        let mut stream = Stream::open(&api.base, &address, &[accept]);
        assert_eq!(stream.next().unwrap().data["content"], "0123456789".repeat(9));
        assert_eq!(stream.next().unwrap().event, "end");
        assert_eq!(stream.next(), None);
        let back = [accept, ("Last-Event-ID", "95")];
        let mut stream = Stream::open(&api.base, &address, &back);
        assert_eq!(stream.next().unwrap().data["content"], "56789");
        let back = [accept, ("Last-Event-ID", "100")];
        assert_eq!(Stream::open(&api.base, &address, &back).rest().len(), 1);
        // Anything else is a piece as before.
        assert_eq!(api.get(&address).ok(200)["offset"], 10);
    }

    fn the_log_of_another_server_is_told_by_its_end(api) {
        let run = run(api);
        cancel(api, &run);
        api.logs.resize(0);
        // What the engine writes down at the end of a run it ran.
        api.store.execute(&format!(
            "UPDATE heartbeat_runs SET log_bytes = 50, log_tail = 'the end' WHERE id = '{}'",
            id(&run),
        ));
        let mut stream = Stream::open(&api.base, &format!("{}/stream", log(&run)), &[]);
        let tail = stream.next().unwrap();
        assert_eq!((tail.event.as_str(), &tail.data["content"]), ("log", &json!("the end")));
        let end = stream.next().unwrap();
        assert_eq!(end.event, "end");
        assert!(end.data["note"].as_str().unwrap().contains("another server"));
    }

    fn a_log_is_for_those_who_may_read_the_run(api) {
        let run = run(api);
        let stranger = api.key(&api.agent(&api.company("Other"), "Eve"));
        let address = format!("{}/stream", log(&run));
        api.bearing(&stranger).get(&address).problem(404, "not_found");
        api.get(&format!("/api/heartbeat-runs/{NOTHING}/log/stream")).problem(404, "not_found");
        api.get(&format!("{address}?offset=x")).problem(400, "invalid_request");
        let head = api.send("HEAD", &address, &[], b"");
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        api.state.streams().close();
        api.get(&address).problem(503, "server_stopping");
    }

    fn logs_count_among_the_streams_of_a_caller(api = narrow) {
        let run = run(api);
        let address = format!("{}/stream", log(&run));
        let mut first = Stream::open(&api.base, &address, &[]);
        assert!(first.next().is_some());
        let accept = [("Accept", "text/event-stream")];
        api.get(&address).problem(429, "too_many_streams");
        api.send("GET", &log(&run), &accept, b"").problem(429, "too_many_streams");
        api.state.streams().close();
        api.send("GET", &log(&run), &accept, b"").problem(503, "server_stopping");
    }
}
