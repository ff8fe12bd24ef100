//! Live events: replay, what comes next, filters, and the list for those who ask
//! (docs/events.md#resuming).

use std::convert::Infallible;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::Failure;
use workforce_domain::time::Timestamp;
use workforce_http::StreamLimits;
use workforce_testkit::store::TestStore;

use crate::sse::Stream;
use crate::support::{Api, NOTHING, api_tests, id};

fn path(company: &Value) -> String {
    format!("/api/companies/{}/events", id(company))
}

fn stream(api: &Api, company: &Value, query: &str) -> Stream {
    Stream::open(&api.base, &format!("{}{query}", path(company)), &[])
}

/// Causes two events.
fn cause(api: &Api, company: &Value, title: &str) -> Value {
    api.issue(company, &json!({ "title": title }))
}

/// Keeps only the latest events of every company.
fn forget_all_but(api: &Api, keep: i64) {
    let forgotten: Result<usize, Failure<Infallible>> = api.store.write(|tx| {
        Ok(tx.engine_mut().delete_events(
            InstanceScope::SYSTEM,
            Timestamp::from_micros(0),
            keep,
            1000,
        )?)
    });
    forgotten.unwrap();
}

const AS_JSON: [(&str, &str); 1] = [("Accept", "application/json")];

/// A server whose silent streams show often that they live.
fn lively(store: TestStore) -> Api {
    let limits = StreamLimits {
        keep_alive: Duration::from_millis(50),
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

api_tests! {
    fn what_happened_is_told_again_and_then_what_happens(api) {
        let company = api.company("Acme");
        let mut stream = stream(api, &company, "?after=0");
        assert_eq!(stream.headers["cache-control"], "no-store, no-transform");
        assert_eq!(stream.headers["x-accel-buffering"], "no");
        assert!(!stream.headers.contains_key("content-encoding"));
        let first = stream.next().unwrap();
        assert_eq!((first.id.as_str(), first.event.as_str()), ("1", "activity.logged"));
        assert_eq!(first.data["id"], 1);
        assert_eq!(first.data["companyId"], company["id"]);
        assert_eq!(first.data["type"], "activity.logged");
        assert!(first.data["createdAt"].is_string());
        assert_eq!(first.data["payload"]["action"], "company.created");
        let issue = cause(api, &company, "Work");
        let live = stream.take(2);
        assert_eq!((live[0].number(), live[1].number()), (2, 3));
        assert_eq!((live[0].event.as_str(), live[1].event.as_str()), ("issue.updated", "activity.logged"));
        assert_eq!(live[0].data["payload"]["entityId"], issue["id"]);
    }

    fn a_stream_without_a_number_begins_with_what_happens_next(api) {
        let company = api.company("Acme");
        cause(api, &company, "Before");
        let mut stream = stream(api, &company, "");
        let beginning = stream.block().unwrap();
        assert_eq!(beginning, ["retry: 2000", "id: 3", ": connected"]);
        cause(api, &company, "After");
        assert_eq!(stream.next().unwrap().number(), 4);
    }

    fn a_reader_comes_back_with_the_id_it_has_seen(api) {
        let company = api.company("Acme");
        for title in ["One", "Two"] {
            cause(api, &company, title);
        }
        let back = |last: &str| {
            let address = format!("{}?after=0", path(&company));
            Stream::open(&api.base, &address, &[("Last-Event-ID", last)])
        };
        assert_eq!(back("3").next().unwrap().number(), 4);
        // An empty one says nothing.
        assert_eq!(back("").next().unwrap().number(), 1);
        for wrong in ["x", "-1", "1.5", "9223372036854775808"] {
            let answer = api.send("GET", &path(&company), &[("Last-Event-ID", wrong)], b"");
            answer.problem(400, "invalid_request");
        }
    }

    fn only_the_kinds_that_are_asked_for_are_sent(api) {
        let company = api.company("Acme");
        let mut stream = stream(api, &company, "?after=0&types=issue.updated,%20agent.status");
        let ada = api.agent(&company, "Ada");
        cause(api, &company, "Work");
        api.post(&format!("/api/agents/{}/pause", id(&ada)), &json!({})).ok(200);
        let kinds: Vec<_> = stream.take(2).into_iter().map(|event| event.event).collect();
        assert_eq!(kinds, ["issue.updated", "agent.status"]);
        api.get(&format!("{}?types=nonsense", path(&company))).problem(400, "invalid_request");
    }

    fn whoever_lost_events_is_told_to_look_anew(api) {
        let company = api.company("Acme");
        for title in ["One", "Two", "Three"] {
            cause(api, &company, title);
        }
        forget_all_but(api, 2);
        let mut lost = stream(api, &company, "?after=2");
        let reset = lost.next().unwrap();
        assert_eq!((reset.event.as_str(), reset.id.as_str()), ("reset", "5"));
        assert_eq!(reset.data["type"], "reset");
        assert_eq!(reset.data["payload"], json!({ "after": 2, "oldestId": 6, "latestId": 7 }));
        assert_eq!(lost.take(2).iter().map(|event| event.number()).collect::<Vec<_>>(), [6, 7]);
        // Who has seen everything has lost nothing, and who asks for everything gets what is kept.
        for (query, first) in [("?after=5", 6), ("?after=0", 6)] {
            assert_eq!(stream(api, &company, query).next().unwrap().number(), first);
        }
        // A number that was never given out is of another database.
        assert_eq!(stream(api, &company, "?after=8").next().unwrap().event, "reset");
        forget_all_but(api, 0);
        let mut empty = stream(api, &company, "?after=7");
        cause(api, &company, "Four");
        assert_eq!(empty.next().unwrap().number(), 8);
    }

    fn a_list_of_events_ends_and_can_be_asked_for_again(api) {
        let company = api.company("Acme");
        for title in ["One", "Two", "Three"] {
            cause(api, &company, title);
        }
        let list = |query: &str| api.send("GET", &format!("{}{query}", path(&company)), &AS_JSON, b"");
        let numbers = |answer: &Value| -> Vec<i64> {
            answer.as_array().unwrap().iter().map(|event| event["id"].as_i64().unwrap()).collect()
        };
        let all = list("");
        assert_eq!(numbers(&all.ok(200)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((all.header("x-last-event-id"), all.header("x-next-cursor")), (Some("7"), None));
        let first = list("?after=1&limit=4");
        assert_eq!(numbers(&first.ok(200)), [2, 3, 4, 5]);
        let cursor = first.header("x-next-cursor").unwrap();
        assert_eq!(numbers(&list(&format!("?after=1&limit=4&cursor={cursor}")).ok(200)), [6, 7]);
        let filtered = list("?types=issue.updated&limit=3");
        assert_eq!(numbers(&filtered.ok(200)), [2]);
        assert_eq!(filtered.header("x-last-event-id"), Some("3"));
        let none = list("?after=7");
        assert_eq!(none.ok(200), json!([]));
        assert_eq!(none.header("x-last-event-id"), Some("7"));
        for wrong in ["?after=x", "?after=-1", "?limit=0", "?limit=501", "?cursor=x"] {
            assert_eq!(list(wrong).status, 400, "{wrong}");
        }
        forget_all_but(api, 2);
        let problem = list("?after=3").problem(410, "events_expired");
        assert_eq!(problem["details"], json!({ "after": 3, "oldestId": 6, "latestId": 7 }));
        list("?after=8").problem(410, "events_expired");
        assert_eq!(numbers(&list("?after=5").ok(200)), [6, 7]);
    }

    fn events_are_for_those_who_may_read_the_company(api) {
        let (own, other) = (api.company("Own"), api.company("Other"));
        let key = api.key(&api.agent(&own, "Ada"));
        for accept in ["application/json", "text/event-stream"] {
            let accept = [("Accept", accept)];
            let answer = api.bearing(&key).send_with("GET", &path(&other), &accept, &Value::Null);
            answer.problem(403, "company_forbidden");
            let nowhere = format!("/api/companies/{NOTHING}/events");
            api.send("GET", &nowhere, &accept, b"").problem(404, "not_found");
            let unknown = [accept[0], ("Authorization", "Bearer wfk_x_y")];
            api.send("GET", &path(&own), &unknown, b"").problem(401, "credential_invalid");
            // A credential in the address is none, and changes nothing for who has another.
            let in_address = format!("{}?token={key}&access_token={key}", path(&other));
            let answer = api.bearing(&key).send_with("GET", &in_address, &accept, &Value::Null);
            answer.problem(403, "company_forbidden");
        }
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str())];
        let mut stream = Stream::open(&api.base, &format!("{}?after=0", path(&own)), &headers);
        assert_eq!(stream.next().unwrap().number(), 1);
        let head = api.send("HEAD", &path(&own), &[], b"");
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    }

    fn a_silent_stream_shows_that_it_lives(api = lively) {
        let company = api.company("Acme");
        let mut stream = stream(api, &company, "?types=agent.status");
        assert_eq!(stream.last_id.as_deref(), None);
        stream.block().unwrap();
        assert_eq!(stream.block().unwrap(), [": keep-alive"]);
        // What was left out is not looked at again by whoever comes back.
        cause(api, &company, "Work");
        while stream.last_id.as_deref() != Some("3") {
            stream.block().unwrap();
        }
        assert_eq!(stream.block().unwrap(), [": keep-alive"]);
    }
}
