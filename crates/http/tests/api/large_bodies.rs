//! Bodies that take much memory until they are whole, or when they are read (docs/access.md#requests).

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_http::SlotLimits;
use workforce_testkit::store::TestStore;

use crate::event_streams::eventually;
use crate::raw::{answer, begin};
use crate::support::{Api, Webhooks, api_tests, closed, id};

/// More than anybody may send.
const LARGE: usize = 100_000;
/// What a body of which a part is sent says of its length.
const WHOLE: usize = 10 * LARGE;

/// A server that takes one large body at a time and lets others wait but shortly.
fn crowded(store: TestStore) -> Api {
    taking(store, 1, 1)
}

/// A server that takes one large body at a time from each caller.
fn unfair(store: TestStore) -> Api {
    taking(store, 2, 1)
}

fn taking(store: TestStore, at_once: usize, per_caller: usize) -> Api {
    let limits = SlotLimits {
        at_once,
        per_caller,
        patience: Duration::from_millis(200),
    };
    Api::adjusted(store, |state| state.with_large_bodies(limits))
}

fn large_company(name: &str) -> Value {
    json!({ "name": name, "description": "x".repeat(LARGE) })
}

/// An object with so many small parts, which nobody reads.
fn of_parts(mut body: Value, parts: usize) -> Value {
    body["parts"] = vec![json!({ "": 0 }); parts].into();
    body
}

/// Sends half of a large body. `headers` end with line breaks.
fn half(api: &Api, path: &str, headers: &str) -> TcpStream {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {WHOLE}\r\n{headers}\r\n"
    );
    let mut sent = head.into_bytes();
    sent.resize(sent.len() + WHOLE / 2, b'x');
    begin(api, &sent)
}

/// Sends the same as the board, and waits until it has its place.
fn half_of_board(api: &Api) -> TcpStream {
    let stream = half(api, "/api/companies", "");
    eventually("it has its place", || {
        api.post("/api/companies", &large_company("Early")).status == 503
    });
    stream
}

api_tests! {
    fn large_bodies_are_bounded_and_small_ones_are_not(api = crowded) {
        let company = api.company("Acme");
        let ada = api.key(&api.agent(&company, "Ada"));
        let stream = half_of_board(api);
        api.post("/api/companies", &large_company("Board"))
            .problem(503, "busy");
        let issue = json!({ "title": "Step", "description": "x".repeat(LARGE) });
        let path = format!("/api/companies/{}/issues", id(&company));
        api.bearing(&ada).send("POST", &path, &issue).problem(503, "busy");
        api.company("Small");
        drop(stream);
        eventually("the place is free", || {
            api.post("/api/companies", &large_company("Late")).status != 503
        });
        api.bearing(&ada).send("POST", &path, &issue).ok(201);
    }

    fn no_caller_keeps_out_all_others(api = unfair) {
        let company = api.company("Acme");
        let ada = api.key(&api.agent(&company, "Ada"));
        let _stream = half_of_board(api);
        let issue = json!({ "title": "Step", "description": "x".repeat(LARGE) });
        let path = format!("/api/companies/{}/issues", id(&company));
        api.bearing(&ada).send("POST", &path, &issue).ok(201);
        api.post(&path, &issue).problem(503, "busy");
    }

    fn nobody_without_a_credential_has_a_place(api = crowded) {
        let strangers: Vec<_> = (0..8)
            .map(|_| half(api, "/api/companies", "Authorization: Bearer nonsense\r\n"))
            .collect();
        for number in 0..3 {
            let name = format!("Acme {number}");
            api.post("/api/companies", &large_company(&name)).ok(201);
        }
        drop(strangers);
    }

    fn a_large_body_without_a_credential_is_told_so(api = closed) {
        for headers in ["", "Authorization: Bearer nonsense\r\n"] {
            let mut stream = half(api, "/api/companies", headers);
            stream.write_all(&[b'x'; WHOLE / 2]).unwrap();
            let answer = answer(&mut stream);
            assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
            assert!(answer.contains("\"credential_"), "{answer}");
        }
    }

    fn who_does_not_go_on_with_a_large_body_is_answered(api = closed) {
        let answer = answer(&mut half(api, "/api/companies", ""));
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }

    fn all_messages_of_forges_share_the_places_of_one_caller(api = unfair) {
        let path = "/api/webhooks/github";
        let signed = [("X-Hub-Signature-256", Webhooks::SIGNATURE)];
        let large = vec![b' '; LARGE];
        let _stream = half(api, path, "");
        let send = |body: &[u8]| api.send("POST", path, &signed, body);
        eventually("it has its place", || send(&large).status == 503);
        for path in [path, "/api/webhooks/gitlab", "/api/webhooks/gitea"] {
            api.send("POST", path, &[], &large).problem(503, "busy");
        }
        send(b"{}").ok(202);
        api.post("/api/companies", &large_company("Board")).ok(201);
    }

    fn a_body_of_too_many_parts_is_too_large(api) {
        let company = json!({ "name": "Acme" });
        let path = "/api/companies";
        api.post(path, &of_parts(company.clone(), 200_000)).problem(413, "body_too_large");
        api.post(path, &of_parts(company, 100_000)).ok(201);
    }

    fn what_is_done_outside_of_the_database_takes_no_room_from_writes(api) {
        let company = api.company("Acme");
        let of_company = |what: &str| format!("/api/companies/{}/{what}", id(&company));
        // More than half of the room.
        let goal = of_parts(json!({ "title": "Elsewhere", "level": "company" }), 100_000);
        let check = of_parts(json!({ "adapterType": "claude_local" }), 100_000);
        api.adapters.hold();
        std::thread::scope(|scope| {
            let checked = scope.spawn(|| api.post(&of_company("adapter-check"), &check).ok(200));
            eventually("it is asked", || api.adapters.asked().len() == 1);
            let made = api.post(&of_company("goals"), &goal);
            api.adapters.let_go();
            made.ok(201);
            assert_eq!(checked.join().unwrap()["ok"], true);
        });
    }

    fn a_body_of_chunks_is_too_large_when_it_gets_so(api) {
        let head = "POST /api/companies HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut stream = begin(api, head.as_bytes());
        let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        for _ in 0..33 {
            stream.write_all(&chunk).unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
        let answer = answer(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("\"body_too_large\""), "{answer}");
    }
}
