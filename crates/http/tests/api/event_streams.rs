//! How streams of events begin and end: without gaps under load, across servers, and no longer
//! than whoever reads may read.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use workforce_domain::activity::{Event, EventKind};
use workforce_domain::port::Failure;
use workforce_domain::time::Timestamp;
use workforce_http::StreamLimits;
use workforce_testkit::store::{TestStore, postgres_store};

use crate::sse::Stream;
use crate::support::{Api, api_tests, id};

/// Nothing in these tests takes nearly so long.
const PATIENCE: Duration = Duration::from_secs(20);

fn path(company: &Value) -> String {
    format!("/api/companies/{}/events", id(company))
}

fn read(base: &str, company: &Value, key: &str, query: &str) -> Stream {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    Stream::open(base, &format!("{}{query}", path(company)), &headers)
}

fn numbers(events: &[crate::sse::Message]) -> Vec<i64> {
    events.iter().map(crate::sse::Message::number).collect()
}

/// Publishes `count` events with so much text in each, in one transaction.
pub(crate) fn publish(api: &Api, company: &Value, count: usize, length: usize) {
    let company = id(company).parse().unwrap();
    let mut payload = Map::new();
    payload.insert("text".into(), Value::from("x".repeat(length)));
    let published: Result<(), Failure<Infallible>> = api.store.write(|tx| {
        for _ in 0..count {
            tx.journal().event(Event {
                company,
                kind: EventKind::BudgetAlert,
                payload: payload.clone().into(),
                created_at: Timestamp::from_micros(1),
            });
        }
        Ok(())
    });
    published.unwrap();
}

#[track_caller]
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server that soon drops whoever takes nothing.
pub(crate) fn impatient(store: TestStore) -> Api {
    let limits = StreamLimits {
        patience: Duration::from_secs(1),
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

/// A server with few places for readers.
pub(crate) fn narrow(store: TestStore) -> Api {
    let limits = StreamLimits {
        in_all: 3,
        per_caller: 2,
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

api_tests! {
    fn nothing_is_missed_or_repeated_by_readers_that_come_while_much_happens(api) {
        let company = api.company("Acme");
        const EACH: usize = 125;
        const WRITERS: usize = 4;
        let last = 1 + (EACH * WRITERS) as i64;
        std::thread::scope(|threads| {
            for _ in 0..WRITERS {
                threads.spawn(|| (0..EACH).for_each(|_| publish(api, &company, 1, 10)));
            }
            for reader in 0..6 {
                let company = &company;
                threads.spawn(move || {
                    let mut seen = 0;
                    let mut stream = Stream::open(&api.base, &format!("{}?after=0", path(company)), &[]);
                    while seen < last {
                        let next = stream.next().unwrap().number();
                        assert_eq!(next, seen + 1);
                        seen = next;
                        // Some of them lose the connection now and then.
                        if reader % 2 == 0 && seen % 97 == 0 {
                            let back = [("Last-Event-ID", &*seen.to_string())];
                            stream = Stream::open(&api.base, &path(company), &back);
                        }
                    }
                });
            }
        });
    }

    fn a_stream_ends_with_the_credential_that_opened_it(api) {
        let company = api.company("Acme");
        let [ada, bob] = ["Ada", "Bob"].map(|name| api.agent(&company, name));
        let made = api.post(&format!("/api/agents/{}/keys", id(&ada)), &json!({})).ok(201);
        let mut of_ada = read(&api.base, &company, made["key"].as_str().unwrap(), "?after=0");
        let mut of_bob = read(&api.base, &company, &api.key(&bob), "?after=0");
        let one = format!("/api/agents/{}/keys/{}", id(&ada), id(&made));
        api.send("DELETE", &one, &[], b"").ok(200);
        let told = of_ada.rest();
        assert_eq!(told.last().unwrap().data["payload"]["action"], "agent.key_revoked");
        api.post(&format!("/api/agents/{}/terminate", id(&bob)), &json!({})).ok(200);
        let told = of_bob.rest();
        assert_eq!(told.last().unwrap().data["payload"]["action"], "agent.terminated");
        eventually("their places are free", || api.state.streams().open() == 0);
    }

    fn a_stream_ends_with_its_company(api) {
        let company = api.company("Acme");
        let mut stream = Stream::open(&api.base, &format!("{}?after=0", path(&company)), &[]);
        let own = format!("/api/companies/{}", id(&company));
        api.send("POST", &format!("{own}/archive"), &[], b"").ok(200);
        let archived = stream.take(2);
        assert_eq!(archived[1].data["payload"]["action"], "company.archived");
        api.send("DELETE", &own, &[], b"").ok(200);
        assert_eq!(stream.rest(), []);
    }

    fn a_server_that_stops_ends_its_streams_and_opens_none(api) {
        let company = api.company("Acme");
        let mut stream = Stream::open(&api.base, &path(&company), &[]);
        stream.block().unwrap();
        api.state.streams().close();
        assert_eq!(stream.rest(), []);
        let answer = api.get(&path(&company));
        let problem = answer.problem(503, "server_stopping");
        assert_eq!(problem["retryable"], true);
        assert_eq!(answer.header("retry-after"), Some("1"));
        api.send("GET", &path(&company), &[("Accept", "application/json")], b"").ok(200);
    }

    fn a_reader_that_takes_nothing_is_dropped_and_goes_on_where_it_was(api = impatient) {
        let company = api.company("Acme");
        let address = format!("{}?after=0", path(&company));
        let mut slow = Stream::open(&api.base, &address, &[]);
        assert_eq!(slow.next().unwrap().number(), 1);
        // More than any buffer in between holds.
        for _ in 0..10 {
            publish(api, &company, 40, 100_000);
        }
        // Other readers do not notice.
        let mut quick = Stream::open(&api.base, &address, &[]);
        assert_eq!(numbers(&quick.take(401)), (1..=401).collect::<Vec<i64>>());
        eventually("it is dropped", || api.state.streams().dropped() == 1);
        let metrics = api.get("/metrics").text;
        assert!(
            metrics.contains("\nworkforce_streams_dropped_total 1\n"),
            "{metrics}"
        );
        let first = slow.rest();
        assert!(first.len() < 400, "it was dropped");
        let back = [("Last-Event-ID", slow.last_id.as_deref().unwrap())];
        let mut slow = Stream::open(&api.base, &path(&company), &back);
        let mut seen = numbers(&first);
        seen.extend(numbers(&slow.take(400 - first.len())));
        assert_eq!(seen, (2..=401).collect::<Vec<i64>>());
    }

    fn the_number_of_streams_is_bounded(api = narrow) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let first = Stream::open(&api.base, &path(&company), &[]);
        let _second = Stream::open(&api.base, &path(&company), &[]);
        let refused = api.get(&path(&company));
        refused.problem(429, "too_many_streams");
        assert_eq!(refused.header("retry-after"), Some("1"));
        let _third = read(&api.base, &company, &key, "");
        api.bearing(&key)
            .get(&path(&company))
            .problem(429, "too_many_streams");
        drop(first);
        // The server notices that a reader is gone when it has something to tell.
        publish(api, &company, 1, 10);
        eventually("a place is free", || api.state.streams().open() < 3);
    }
}

#[test]
fn what_one_server_causes_another_tells() {
    let Some(store) = postgres_store() else {
        return;
    };
    let first = Api::on(store);
    let second = first.twin();
    let company = first.company("Acme");
    let address = format!("{}?after=0", path(&company));
    let mut stream = Stream::open(&second.base, &address, &[]);
    let mut seen = numbers(&stream.take(1));
    for round in 0..5_usize {
        publish(&first, &company, 20, 10);
        let expected = 1 + 20 * (round + 1);
        // Lost in the middle of it, and back at the other server, or at the same.
        seen.extend(numbers(&stream.take(7)));
        let last = stream.last_id.clone().unwrap();
        let base = if round % 2 == 0 {
            &first.base
        } else {
            &second.base
        };
        stream = Stream::open(base, &path(&company), &[("Last-Event-ID", &last)]);
        seen.extend(numbers(&stream.take(expected - seen.len())));
    }
    assert_eq!(seen, (1..=101).collect::<Vec<i64>>());
}
