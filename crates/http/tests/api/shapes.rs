//! What follows from the shape of a route, asked of every route there is: the errors that the
//! documentation does not repeat for each of them.

use std::num::NonZeroU32;

use serde_json::json;
use workforce_http::RateLimit;
use workforce_http::registry::{Access, Listed};
use workforce_testkit::store::TestStore;

use crate::described;
use crate::raw::{answer, begin};
use crate::readiness::{broken, crowded, unreachable};
use crate::secrets;
use crate::support::{Answer, Api, NOTHING, api_tests, id};

/// A route with its path about things that there are not.
struct Asked {
    route: Listed,
    path: String,
}

fn every_route() -> Vec<Asked> {
    let routes = workforce_http::routes::all().list().into_iter();
    routes
        .map(|route| {
            let places = route.path.split('/');
            let places: Vec<&str> = places
                .map(|place| {
                    if place.starts_with('{') {
                        NOTHING
                    } else {
                        place
                    }
                })
                .collect();
            Asked {
                path: places.join("/"),
                route,
            }
        })
        .collect()
}

impl Asked {
    fn send(&self, api: &Api, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        api.send(&self.route.method, &self.path, headers, body)
    }

    fn is(&self, method: &str) -> bool {
        self.route.method == method
    }

    /// Whether it receives or sends a file or a signed message, and so has rules of
    /// its own about bodies.
    fn moves_a_file(&self) -> bool {
        let path = &self.route.path;
        path.starts_with("/api/webhooks/")
            || path.ends_with("/content")
            || (self.is("POST") && path.ends_with("/attachments"))
    }

    /// Whether the document names a parameter of its query.
    fn takes(&self, name: &str) -> bool {
        let operation =
            &described::DOCUMENT["paths"][&self.route.path][self.route.method.to_lowercase()];
        operation["parameters"]
            .as_array()
            .is_some_and(|parameters| {
                let mut parameters = parameters.iter().map(described::resolved);
                parameters.any(|parameter| parameter["in"] == "query" && parameter["name"] == name)
            })
    }
}

/// A server on which a caller may ask about once a second.
fn sluggish(store: TestStore) -> Api {
    let limit = RateLimit {
        per_second: NonZeroU32::MIN,
        burst: NonZeroU32::MIN,
    };
    Api::adjusted(store, |state| state.with_rate_limit(limit))
}

/// Asks whatever needs the store of a server whose store fails. The metrics tell that it does.
fn every_route_with_a_credential_fails(api: &Api, status: u16, code: &str) {
    for asked in every_route() {
        if asked.route.access != Access::Public && asked.path != "/metrics" {
            asked.send(api, &[], b"").problem(status, code);
        }
    }
}

/// What is answered to a request that announces a body and sends none of it.
fn announced(api: &Api, asked: &Asked, length: usize) -> String {
    let (method, path) = (&asked.route.method, &asked.path);
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    answer(&mut begin(api, head.as_bytes()))
}

api_tests! {
    fn no_route_answers_to_another_host_or_page(api) {
        for asked in every_route() {
            let rebound = asked.send(api, &[("Host", "evil.example")], b"");
            rebound.problem(403, "origin_forbidden");
            if !asked.is("GET") {
                let foreign = asked.send(api, &[("Origin", "https://evil.example")], b"");
                foreign.problem(403, "origin_forbidden");
            }
        }
    }

    fn every_route_but_the_sign_of_life_counts_requests(api = sluggish) {
        for asked in every_route() {
            if asked.path == "/api/health" {
                asked.send(api, &[], b"").ok(200);
                continue;
            }
            let mut answers = (0..500).map(|_| asked.send(api, &[], b""));
            let refused = answers.find(|answer| answer.status == 429);
            refused.unwrap().problem(429, "rate_limited");
        }
    }

    fn every_route_with_a_credential_reads_the_run_header(api) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("X-Service-Run-Id", "x")];
        for asked in every_route() {
            if asked.route.access != Access::Public {
                asked.send(api, &headers, b"").problem(400, "invalid_run_id");
            }
        }
    }

    fn no_route_takes_another_run_for_that_of_the_token(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        api.post(&format!("/api/agents/{}/wakeup", id(&ada)), &json!({})).ok(202);
        let (_run, token) = secrets::start(api, &json!({}));
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("X-Service-Run-Id", NOTHING)];
        for asked in every_route() {
            if asked.route.access != Access::Public {
                asked.send(api, &headers, b"").problem(403, "run_mismatch");
            }
        }
    }

    fn every_body_of_json_is_read_as_such(api) {
        for asked in every_route() {
            let changes = ["POST", "PUT", "PATCH"].iter().any(|method| asked.is(method));
            if changes && !asked.moves_a_file() {
                asked.send(api, &[], b"{").problem(400, "invalid_json");
            }
        }
    }

    fn no_route_takes_a_body_that_is_too_long(api) {
        for asked in every_route() {
            // What a WebSocket brings is bounded frame by frame.
            let opens_socket = asked.route.path.ends_with("/ws");
            if !asked.moves_a_file() && !opens_socket {
                let answer = announced(api, &asked, 3 * 1024 * 1024);
                assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
                assert!(answer.contains(r#""code":"body_too_large""#), "{answer}");
            }
        }
    }

    fn every_list_knows_its_cursors_and_its_limit(api) {
        let mut lists = 0;
        for mut asked in every_route() {
            if !asked.takes("cursor") {
                continue;
            }
            lists += 1;
            let path = asked.path.clone();
            for (query, code) in [("cursor=x", "invalid_cursor"), ("limit=0", "invalid_request")] {
                asked.path = format!("{path}?{query}");
                // Events come as a list to those who ask for JSON.
                let accept = [("Accept", "application/json")];
                asked.send(api, &accept, b"").problem(400, code);
            }
        }
        assert!(lists > 20, "{lists}");
    }

    fn every_route_tells_when_the_store_does_not_answer(api = unreachable) {
        every_route_with_a_credential_fails(api, 503, "store_unavailable");
    }

    fn every_route_tells_when_too_much_happens_at_once(api = crowded) {
        every_route_with_a_credential_fails(api, 503, "contended");
    }

    fn no_route_hides_a_fault_of_the_store(api = broken) {
        every_route_with_a_credential_fails(api, 500, "internal");
    }
}
