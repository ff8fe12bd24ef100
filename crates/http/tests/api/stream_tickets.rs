//! Tickets that open streams of events in the place of a credential.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::port::Clock;
use workforce_http::Ports;
use workforce_testkit::ports;
use workforce_testkit::store::{TestStore, postgres_store};
use workforce_testkit::world::SettableClock;

use crate::event_streams::eventually;
use crate::sse::Stream;
use crate::support::{Api, Bearing, api_tests, id};
use crate::ws::{Refusal, Socket};

/// The token that [`guarded`] was started with.
const START: &str = "open-sesame-open-sesame";

/// A server where every request needs a credential.
fn guarded(store: TestStore) -> Api {
    let auth = AuthPolicy::token(ports::tokens().digest(START));
    Api::authenticating(store, auth)
}

/// A company of a guarded server.
fn founded(board: &Bearing<'_>, name: &str) -> Value {
    let body = json!({ "name": name, "requireBoardApprovalForNewAgents": false });
    board.post("/api/companies", &body).ok(201)
}

/// An agent of it.
fn hired(board: &Bearing<'_>, company: &Value) -> Value {
    let agents = format!("/api/companies/{}/agents", id(company));
    let body = json!({ "name": "Ada", "role": "engineer" });
    board.post(&agents, &body).ok(201)
}

/// A key of an agent, and its path.
fn key_of(board: &Bearing<'_>, agent: &Value) -> (String, String) {
    let keys = format!("/api/agents/{}/keys", id(agent));
    let made = board.post(&keys, &json!({})).ok(201);
    let path = format!("{keys}/{}", id(&made));
    (made["key"].as_str().unwrap().to_owned(), path)
}

/// A server and its clock.
struct Clocked {
    api: Api,
    clock: SettableClock,
}

impl Clocked {
    fn new(store: TestStore) -> Self {
        let clock = SettableClock::default();
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let api = Api::through(store, |ports, _home| Ports {
            clock: shared,
            ..ports
        });
        Self { api, clock }
    }
}

fn tickets(company: &Value) -> String {
    format!("/api/companies/{}/events/tickets", id(company))
}

fn ticket(by: &Bearing<'_>, company: &Value) -> String {
    let made = by.post(&tickets(company), &Value::Null).ok(201);
    made["ticket"].as_str().unwrap().to_owned()
}

/// The address of the stream that a ticket opens.
fn stream(company: &Value, ticket: &str) -> String {
    format!(
        "/api/companies/{}/events?after=0&ticket={ticket}",
        id(company)
    )
}

/// The same over a WebSocket.
fn socket(company: &Value, ticket: &str) -> String {
    format!(
        "/api/companies/{}/events/ws?after=0&ticket={ticket}",
        id(company)
    )
}

#[track_caller]
fn refused(base: &str, path: &str) -> Refusal {
    Socket::ask(base, path, &[]).err().unwrap()
}

api_tests! {
    fn a_ticket_opens_one_stream(api = guarded) {
        let board = api.bearing(START);
        let company = founded(&board, "Acme");
        let made = board.post(&tickets(&company), &json!({})).ok(201);
        let value = made["ticket"].as_str().unwrap();
        assert!(value.starts_with("wft_") && value.len() == 56, "{value}");
        assert!(made["expiresAt"].is_string() && made.as_object().unwrap().len() == 2);

        let mut opened = Stream::open(&api.base, &stream(&company, value), &[]);
        assert_eq!(opened.next().unwrap().number(), 1);
        api.get(&stream(&company, value)).problem(401, "credential_invalid");
        refused(&api.base, &socket(&company, value)).is(401, "credential_invalid");

        let second = ticket(&board, &company);
        let mut opened = Socket::open(&api.base, &socket(&company, &second), &[]);
        assert_eq!(opened.take(1)[0]["id"], 1);
        refused(&api.base, &socket(&company, &second)).is(401, "credential_invalid");
        api.get(&stream(&company, &second)).problem(401, "credential_invalid");
        api.get(&stream(&company, "")).problem(401, "credential_invalid");
        api.get(&stream(&company, &value.replace("wft", "wfk"))).problem(401, "credential_invalid");
    }

    fn a_ticket_is_good_for_a_minute(clocked = Clocked::new) {
        let Clocked { api, clock } = clocked;
        let company = api.company("Acme");
        let made = || api.post(&tickets(&company), &json!({})).ok(201);
        let (first, second) = (made(), made());
        assert_eq!(first["expiresAt"], "2026-03-10T12:01:00.000Z");
        let value = |made: &Value| made["ticket"].as_str().unwrap().to_owned();
        clock.set(SettableClock::START.plus(Duration::from_millis(59_999)));
        drop(Stream::open(&api.base, &stream(&company, &value(&first)), &[]));
        clock.set(SettableClock::START.plus(Duration::from_secs(60)));
        api.get(&stream(&company, &value(&second))).problem(401, "credential_invalid");
        refused(&api.base, &socket(&company, &value(&second))).is(401, "credential_invalid");
    }

    fn one_of_many_who_use_a_ticket_at_once_wins(api = guarded) {
        let board = api.bearing(START);
        let company = founded(&board, "Acme");
        let path = socket(&company, &ticket(&board, &company));
        let outcomes: Vec<_> = std::thread::scope(|threads| {
            let users: Vec<_> = (0..8)
                .map(|_| threads.spawn(|| Socket::ask(&api.base, &path, &[])))
                .collect();
            users.into_iter().map(|user| user.join().unwrap()).collect()
        });
        let refusals: Vec<_> = outcomes.iter().filter_map(|it| it.as_ref().err()).collect();
        assert_eq!(refusals.len(), 7);
        refusals.iter().for_each(|refusal| refusal.is(401, "credential_invalid"));
    }

    fn a_ticket_is_for_one_company(api = guarded) {
        let board = api.bearing(START);
        let (company, other) = (founded(&board, "Acme"), founded(&board, "Bee"));
        let (key, _) = key_of(&board, &hired(&board, &company));
        let ada = api.bearing(&key);
        for by in [&board, &ada] {
            let strayed = ticket(by, &company);
            api.get(&stream(&other, &strayed)).problem(403, "company_forbidden");
            let strayed = ticket(by, &company);
            refused(&api.base, &socket(&other, &strayed)).is(403, "company_forbidden");
        }
        ada.post(&tickets(&other), &json!({})).problem(403, "company_forbidden");
    }

    fn a_ticket_is_worth_what_its_credential_is_worth(api = guarded) {
        let board = api.bearing(START);
        let company = founded(&board, "Acme");
        let agent = hired(&board, &company);
        let (key, key_path) = key_of(&board, &agent);
        let ada = api.bearing(&key);
        let [one, two, unused] = [0; 3].map(|_| ticket(&ada, &company));
        let mut opened = Stream::open(&api.base, &stream(&company, &one), &[]);
        let mut over_socket = Socket::open(&api.base, &socket(&company, &two), &[]);
        board.send("DELETE", &key_path, &Value::Null).ok(200);
        let told = opened.rest();
        assert_eq!(told.last().unwrap().data["payload"]["action"], "agent.key_revoked");
        assert_eq!(over_socket.end(), (1008, "credential_invalid".to_owned()));
        api.get(&stream(&company, &unused)).problem(401, "credential_invalid");

        let (key, _) = key_of(&board, &agent);
        let unused = ticket(&api.bearing(&key), &company);
        board.post(&format!("/api/agents/{}/terminate", id(&agent)), &json!({})).ok(200);
        refused(&api.base, &socket(&company, &unused)).is(401, "agent_inactive");

        let made = board.post("/api/board-tokens", &json!({})).ok(201);
        let other = api.bearing(made["token"].as_str().unwrap());
        let (one, unused) = (ticket(&other, &company), ticket(&other, &company));
        drop(Socket::open(&api.base, &socket(&company, &one), &[]));
        board.send("DELETE", &format!("/api/board-tokens/{}", id(&made)), &Value::Null).ok(200);
        refused(&api.base, &socket(&company, &unused)).is(401, "credential_invalid");
        eventually("their places are free", || api.state.streams().open() == 0);
    }

    fn a_ticket_is_no_credential_anywhere_else(api) {
        let company = api.company("Acme");
        let made = api.post(&tickets(&company), &json!({})).ok(201);
        let value = made["ticket"].as_str().unwrap();
        let own = format!("/api/companies/{}", id(&company));
        // Not even where a request without anything is the board's.
        let anywhere = format!("{own}?ticket={value}");
        api.get(&anywhere).problem(401, "credential_invalid");
        api.send("PATCH", &anywhere, &[], br#"{"name":"X"}"#).problem(401, "credential_invalid");
        let list = format!("{own}/events?ticket={value}");
        api.send("GET", &list, &[("Accept", "application/json")], b"")
            .problem(401, "credential_invalid");
        api.bearing(value).get(&own).problem(401, "credential_invalid");
        // Nor beside another one.
        let key = api.key(&api.agent(&company, "Ada"));
        api.bearing(&key).get(&stream(&company, value)).problem(401, "credential_invalid");
        // None of them has used it up.
        drop(Stream::open(&api.base, &stream(&company, value), &[]));
    }

    fn a_caller_has_so_many_tickets_waiting(api) {
        let company = api.company("Acme");
        let one = ticket(&api.bearing(&api.key(&api.agent(&company, "Ada"))), &company);
        let mut last = String::new();
        for _ in 0..64 {
            let made = api.post(&tickets(&company), &json!({})).ok(201);
            last = made["ticket"].as_str().unwrap().to_owned();
        }
        let refused = api.post(&tickets(&company), &json!({}));
        refused.problem(429, "too_many_streams");
        assert_eq!(refused.header("retry-after"), Some("1"));
        // Each caller has its own.
        drop(Stream::open(&api.base, &stream(&company, &one), &[]));
        drop(Stream::open(&api.base, &stream(&company, &last), &[]));
        api.post(&tickets(&company), &json!({})).ok(201);
    }

    fn a_ticket_of_the_start_token_is_no_other_start_tokens(api) {
        let company = api.company("Acme");
        let (first, second) = (api.demanding(START), api.demanding("another-start-token-00"));
        let of_board = api.post(&tickets(&company), &json!({})).ok(201);
        let of_board = of_board["ticket"].as_str().unwrap();
        // Nobody is the board there without a credential.
        refused(&first.base, &socket(&company, of_board)).is(401, "credential_invalid");
        let made = first.ask("POST", &tickets(&company), START);
        let of_start = made["ticket"].as_str().unwrap();
        refused(&second.base, &socket(&company, of_start)).is(401, "credential_invalid");
        refused(&api.base, &socket(&company, of_start)).is(401, "credential_invalid");
        drop(Socket::open(&first.base, &socket(&company, of_start), &[]));
    }

    fn a_repeated_request_gets_the_same_ticket(api = guarded) {
        let board = api.bearing(START);
        let company = founded(&board, "Acme");
        let key = [("Idempotency-Key", "k")];
        let made = || board.send_with("POST", &tickets(&company), &key, &json!({})).ok(201);
        let first = made();
        assert_eq!(made(), first);
        let value = first["ticket"].as_str().unwrap();
        drop(Socket::open(&api.base, &socket(&company, value), &[]));
    }

    fn a_ticket_belongs_to_the_credential_that_asked(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let key = [("Idempotency-Key", "k")];
        let [one, other] = [api.key(&ada), api.key(&ada)];
        let ask = |key_of_ada: &str| {
            let caller = api.bearing(key_of_ada);
            caller.send_with("POST", &tickets(&company), &key, &json!({}))
        };
        let first = ask(&one).ok(201);
        ask(&other).problem(422, "idempotency_key_reused");
        assert_eq!(ask(&one).ok(201), first);
    }

    fn a_ticket_in_the_wrong_place_is_refused_in_every_spelling(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/issues", id(&company));
        let issue = json!({ "title": "Step" });
        for query in ["ticket=bad", "ticket=", "ticket=bad&x=%00", "x=%00&ticket=bad", "ticket=%00"] {
            let asked = api.post(&format!("{path}?{query}"), &issue);
            asked.problem(401, "credential_invalid");
        }
        api.post(&format!("{path}?tickets=1"), &issue).ok(201);
    }
}

#[test]
fn a_ticket_of_one_server_opens_a_stream_of_another() {
    let Some(store) = postgres_store() else {
        return;
    };
    let first = Api::on(store);
    let second = first.twin();
    let company = first.company("Acme");
    let made = first.post(&tickets(&company), &json!({})).ok(201);
    let path = socket(&company, made["ticket"].as_str().unwrap());
    let mut opened = Socket::open(&second.base, &path, &[]);
    assert_eq!(opened.take(1)[0]["id"], 1);
    refused(&first.base, &path).is(401, "credential_invalid");
}
