//! Events over a WebSocket.

use std::time::Duration;

use serde_json::{Value, json};
use workforce_http::StreamLimits;
use workforce_testkit::store::TestStore;

use crate::event_streams::{eventually, impatient, narrow, publish};
use crate::support::{Api, NOTHING, api_tests, id};
use crate::ws::{PING, Socket, TEXT, numbers};

fn path(company: &Value, query: &str) -> String {
    format!("/api/companies/{}/events/ws{query}", id(company))
}

fn open(api: &Api, company: &Value, query: &str) -> Socket {
    Socket::open(&api.base, &path(company, query), &[])
}

/// A server that shows often that its streams live.
fn talkative(store: TestStore) -> Api {
    let limits = StreamLimits {
        keep_alive: Duration::from_millis(50),
        ..StreamLimits::default()
    };
    Api::adjusted(store, |state| state.with_stream_limits(limits))
}

api_tests! {
    fn a_socket_tells_what_happened_and_what_happens(api) {
        let company = api.company("Acme");
        publish(api, &company, 3, 10);
        let mut socket = open(api, &company, "?after=0");
        let position = socket.message().unwrap();
        assert_eq!((&position["type"], &position["id"]), (&json!("position"), &json!(0)));
        let mut told = socket.take(4);
        publish(api, &company, 2, 10);
        told.extend(socket.take(2));
        let list = format!("/api/companies/{}/events", id(&company));
        let listed = api.send("GET", &list, &[("Accept", "application/json")], b"").ok(200);
        assert_eq!(Value::from(told), listed);
    }

    fn a_socket_that_comes_back_misses_nothing_and_gets_nothing_twice(api) {
        let company = api.company("Acme");
        const LAST: i64 = 1 + 200;
        std::thread::scope(|threads| {
            threads.spawn(|| (0..200).for_each(|_| publish(api, &company, 1, 10)));
            let (mut seen, mut socket) = (0, open(api, &company, "?after=0"));
            while seen < LAST {
                assert_eq!(numbers(&socket.take(1)), [seen + 1]);
                seen += 1;
                if seen % 37 == 0 {
                    socket = open(api, &company, &format!("?after={seen}"));
                }
            }
        });
    }

    fn a_socket_begins_with_what_happens_next_and_knows_where_that_is(api = talkative) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "?types=activity.logged");
        assert_eq!(socket.message().unwrap()["id"], 1);
        // What is left out moves the position all the same.
        publish(api, &company, 2, 10);
        let moved = socket.message().unwrap();
        assert_eq!((&moved["type"], &moved["id"]), (&json!("position"), &json!(3)));
        assert_eq!((&moved["companyId"], &moved["payload"]), (&company["id"], &json!({})));
        api.agent(&company, "Ada");
        assert_eq!(socket.take(1)[0]["type"], "activity.logged");
    }

    fn a_socket_is_told_what_it_lost(api) {
        let company = api.company("Acme");
        publish(api, &company, 2, 10);
        let mut socket = open(api, &company, "?after=900");
        let told = socket.take(4);
        assert_eq!(told[0]["type"], "reset");
        assert_eq!(told[0]["payload"], json!({ "after": 900, "oldestId": 1, "latestId": 3 }));
        assert_eq!(numbers(&told), [0, 1, 2, 3]);
    }

    fn what_is_no_websocket_is_refused(api) {
        let company = api.company("Acme");
        let refused = api.get(&path(&company, ""));
        refused.problem(426, "upgrade_required");
        assert_eq!(refused.header("upgrade"), Some("websocket"));
        let ask = |path: &str| Socket::ask(&api.base, path, &[]).err().unwrap();
        ask(&path(&company, "?after=x")).is(400, "invalid_request");
        ask(&path(&company, "?types=x")).is(400, "invalid_request");
        ask(&path(&json!({ "id": NOTHING }), "")).is(404, "not_found");
        let key = api.key(&api.agent(&company, "Ada"));
        let bearer = format!("Bearer {key}");
        let ask = |path: &str, credential| {
            Socket::ask(&api.base, path, &[("Authorization", credential)]).err().unwrap()
        };
        ask(&path(&company, ""), "Bearer wfk_x").is(401, "credential_invalid");
        ask(&path(&api.company("Bee"), ""), &bearer).is(403, "company_forbidden");
        assert_eq!(api.state.streams().open(), 0);
    }

    fn pages_of_other_sites_open_no_socket(api) {
        let company = api.company("Acme");
        let ask = |origin: &str| Socket::ask(&api.base, &path(&company, ""), &[("Origin", origin)]);
        for foreign in ["https://evil.example", "http://localhost:5173", "null"] {
            ask(foreign).err().unwrap().is(403, "origin_forbidden");
        }
        for own in [&*api.base, "https://board.example"] {
            assert!(ask(own).is_ok(), "{own}");
        }
    }

    fn a_socket_ends_with_the_credential_that_opened_it(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let made = api.post(&format!("/api/agents/{}/keys", id(&ada)), &json!({})).ok(201);
        let bearer = format!("Bearer {}", made["key"].as_str().unwrap());
        let headers = [("Authorization", &*bearer)];
        let mut socket = Socket::open(&api.base, &path(&company, ""), &headers);
        socket.message().unwrap();
        let key = format!("/api/agents/{}/keys/{}", id(&ada), id(&made));
        api.send("DELETE", &key, &[], b"").ok(200);
        assert_eq!(socket.end(), (1008, "credential_invalid".to_owned()));
        eventually("its place is free", || api.state.streams().open() == 0);
    }

    fn a_socket_ends_with_its_company(api) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "");
        socket.message().unwrap();
        let own = format!("/api/companies/{}", id(&company));
        api.send("POST", &format!("{own}/archive"), &[], b"").ok(200);
        api.send("DELETE", &own, &[], b"").ok(200);
        assert_eq!(socket.end(), (1008, "not_found".to_owned()));
    }

    fn a_server_that_stops_closes_its_sockets_and_opens_none(api) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "");
        socket.message().unwrap();
        api.state.streams().close();
        assert_eq!(socket.end(), (1001, "the server stops".to_owned()));
        let refused = Socket::ask(&api.base, &path(&company, ""), &[]).err().unwrap();
        refused.is(503, "server_stopping");
    }

    fn sockets_and_streams_share_the_places(api = narrow) {
        let company = api.company("Acme");
        let mut first = open(api, &company, "");
        let _second = open(api, &company, "");
        let refused = Socket::ask(&api.base, &path(&company, ""), &[]).err().unwrap();
        refused.is(429, "too_many_streams");
        let stream = format!("/api/companies/{}/events", id(&company));
        api.get(&stream).problem(429, "too_many_streams");
        // It says goodbye in the way it was told.
        first.close(4321);
        assert_eq!(first.end(), (4321, String::new()));
        eventually("a place is free", || api.state.streams().open() == 1);
    }

    fn a_socket_whose_reader_vanishes_gives_its_place_back(api) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "");
        socket.message().unwrap();
        assert_eq!(api.state.streams().open(), 1);
        drop(socket);
        eventually("its place is free", || api.state.streams().open() == 0);
    }

    fn what_a_reader_says_is_ignored_within_bounds(api) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "");
        for text in ["hello", "{\"subscribe\":true}", ""] {
            socket.text(text);
        }
        socket.text(&"x".repeat(4096));
        socket.say(PING, b"there?");
        publish(api, &company, 1, 10);
        assert_eq!(numbers(&socket.take(1)), [2]);
        publish(api, &company, 1, 10);
        socket.take(1);
        assert_eq!(socket.pongs, [b"there?"]);
        socket.text(&"x".repeat(4097));
        assert_eq!(socket.end().0, 1009);

        let mut loud = open(api, &company, "");
        for _ in 0..200 {
            loud.text("hello");
        }
        assert_eq!(loud.end().0, 1008);

        // A frame is refused by its head: the rest of it never comes.
        let mut endless = open(api, &company, "");
        endless.send(&[0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(endless.end().0, 1009);

        let mut garbled = open(api, &company, "");
        garbled.say(TEXT, &[0xff, 0xfe]);
        assert_eq!(garbled.end().0, 1007);

        let mut wrong = open(api, &company, "");
        wrong.say(3, b"no such kind");
        assert_eq!(wrong.end().0, 1002);
        eventually("their places are free", || api.state.streams().open() == 0);
    }

    fn a_socket_whose_reader_takes_nothing_is_dropped(api = impatient) {
        let company = api.company("Acme");
        let mut slow = open(api, &company, "?after=0");
        assert_eq!(numbers(&slow.take(1)), [1]);
        // More than any buffer in between holds.
        for _ in 0..10 {
            publish(api, &company, 40, 100_000);
        }
        eventually("it is dropped", || api.state.streams().dropped() == 1);
        let mut seen = Vec::new();
        while let Some(message) = slow.message() {
            seen.extend(numbers(&[message]));
        }
        let last = 1 + seen.len() as i64;
        assert!(last < 400, "it was dropped");
        let mut back = open(api, &company, &format!("?after={last}"));
        seen.extend(numbers(&back.take(401 - last as usize)));
        assert_eq!(seen, (2..=401).collect::<Vec<i64>>());
    }

    fn a_silent_socket_is_pinged(api = talkative) {
        let company = api.company("Acme");
        let mut socket = open(api, &company, "");
        socket.message().unwrap();
        assert_eq!(socket.frame(), Some((PING, Vec::new())));
    }
}
