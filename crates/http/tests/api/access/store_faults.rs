//! A store that fails at any one of the calls that a request makes: every route says that the
//! server failed, writes nothing, and answers when it is asked again.

use std::sync::Arc;

use serde_json::json;
use ureq::http::Request as HttpRequest;
use workforce_http::Ports;
use workforce_http::registry::{Access, Listed};
use workforce_testkit::contents::Contents;
use workforce_testkit::failing::{FailedAt, FailingStore};
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use super::asked;
use super::callers::{Caller, permitted};
use super::requests::Request;
use super::scene::Scene;
use super::stage::{answer_to, written};
use crate::support::{Answer, Api};

/// No route asks its store nearly so often.
const CALLS: usize = 300;

/// Their answers go on after they have begun.
const STREAMS: [&str; 2] = [
    "/api/companies/{companyId}/events",
    "/api/heartbeat-runs/{runId}/log/stream",
];

/// A server on a store that fails.
struct Fallible {
    api: Api,
    store: Arc<FailingStore>,
    scene: Scene,
    board_token: String,
    /// How many routes were asked, which makes names unique.
    asked: usize,
    /// What is not as it should be.
    surprises: Vec<String>,
}

/// What is asked before a route, so that it has something to do.
fn preparations(route: &Listed) -> &'static [&'static str] {
    match &*route.name() {
        "POST /api/agents/{agentId}/resume" => &["/api/agents/{agentId}/pause"],
        "POST /api/companies/{companyId}/resume" => &["/api/companies/{companyId}/pause"],
        "POST /api/companies/{companyId}/unarchive" | "DELETE /api/companies/{companyId}" => {
            &["/api/companies/{companyId}/archive"]
        }
        _ => &[],
    }
}

/// Somebody whom a route lets through, and who has to be looked up for it.
fn asker(route: &Listed) -> Caller {
    if route.name() == "POST /api/issues/{issueId}/release" {
        Caller::WorkerInItsRun
    } else if route.access == Access::Board {
        Caller::BoardToken
    } else {
        permitted(route.access)
    }
}

impl Fallible {
    fn new(store: TestStore) -> Self {
        let mut failing = None;
        let api = Api::through(store, |ports, _home| {
            let store = FailingStore::over(Arc::clone(&ports.store));
            failing = Some(Arc::clone(&store));
            Ports { store, ..ports }
        });
        let token = api.post("/api/board-tokens", &json!({})).ok(201);
        Self {
            store: failing.unwrap(),
            scene: Scene::new(&api),
            board_token: token["token"].as_str().unwrap().to_owned(),
            api,
            asked: 0,
            surprises: Vec::new(),
        }
    }

    fn ask(&self, request: &Request, caller: Caller) -> Answer {
        let path = self.scene.fill(request.address());
        let (kind, body) = written(request, &self.scene, self.asked);
        let credential = match caller {
            Caller::BoardToken => self.board_token.as_str(),
            agent => self.scene.credential(agent).unwrap(),
        };
        let mut sent = HttpRequest::builder()
            .method(request.method)
            .uri(format!("{}{path}", self.api.base))
            .header("Content-Type", kind)
            .header("Authorization", format!("Bearer {credential}"));
        if request.method == "POST" && !request.is_upload {
            // The same each time: what failed keeps no answer.
            sent = sent.header("Idempotency-Key", format!("key {}", self.asked));
        }
        answer_to(&self.api.client, sent, &body)
    }

    /// Asks a route with a fault at the first call, at the second, and so on, until it answers
    /// without one; how many calls the store was asked.
    fn try_all_calls(&mut self, route: &Listed, request: &Request) -> usize {
        self.asked += 1;
        if route.name() == "DELETE /api/companies/{companyId}" {
            self.scene.end(&self.api);
        }
        for path in preparations(route) {
            self.api.post(&self.scene.fill(path), &json!({})).ok(200);
        }
        let caller = asker(route);
        let mut before = Contents::of(&self.api.store);
        let signals = self.api.signals.count();
        for call in 1..CALLS {
            self.store.fail_at(call);
            let answer = self.ask(request, caller);
            let failed_at = self.store.heal();
            let at = format!("{} at call {call} ({failed_at:?})", route.name());
            // What a stream reads after its head is not what its head says.
            let is_stream = answer.header("content-type") == Some("text/event-stream");
            let Some(failed_at) = failed_at.filter(|_| !is_stream) else {
                if !is_good(&answer, request) {
                    let (status, text) = (answer.status, &answer.text);
                    self.surprises.push(format!("{at}: {status} {text}"));
                }
                return call - 1;
            };
            if let Some(surprise) = wrong(&answer, route, failed_at) {
                self.surprises.push(format!("{at}: {surprise}"));
            }
            let after = Contents::of(&self.api.store);
            for row in before.differences(&after) {
                self.surprises.push(format!("{at} changed {row}"));
            }
            before = after;
            if self.api.signals.count() != signals {
                self.surprises.push(format!("{at} told the engine"));
            }
        }
        panic!("{} never gets through", route.name());
    }

    fn try_all(&mut self, is_asked: impl Fn(usize, &Listed) -> bool) {
        let mut calls = 0;
        let mut all = asked();
        // What a stream still reads must not meet the fault of another route.
        all.sort_by_key(|(route, _)| STREAMS.contains(&&*route.path));
        for (number, (route, request)) in all.into_iter().enumerate() {
            if !is_asked(number, &route) {
                continue;
            }
            calls += self.try_all_calls(&route, request);
            if request.method != "GET" {
                self.scene.end(&self.api);
                self.scene = Scene::new(&self.api);
            }
        }
        assert!(calls > 0, "the store was never asked");
        let surprises = self.surprises.join("\n");
        assert!(surprises.is_empty(), "after faults:\n{surprises}");
    }
}

/// Whether this is what the route answers when nothing fails.
fn is_good(answer: &Answer, request: &Request) -> bool {
    (200..300).contains(&answer.status)
        || (request.method == "GET" || request.is_signed())
            && request.besides.is_some_and(|code| has_code(answer, code))
        || has_code(answer, "key_rotation_unavailable")
}

fn has_code(answer: &Answer, code: &str) -> bool {
    !answer.text.is_empty() && answer.json()["code"] == code
}

/// What is wrong with the answer to a request that met a fault.
fn wrong(answer: &Answer, route: &Listed, failed_at: FailedAt) -> Option<String> {
    // Whoever asks was found out: then the rest is told, and that the store failed.
    if route.path == "/metrics" && answer.text.contains("\nworkforce_store_up 0\n") {
        return None;
    }
    let (status, code) = match failed_at {
        FailedAt::Beginning => (503, "store_unavailable"),
        FailedAt::Part if route.path == "/api/health/ready" => (503, "store_unavailable"),
        FailedAt::Part => (500, "internal"),
        FailedAt::Commit => (503, "contended"),
    };
    let is_told = answer.status == status
        && answer.header("content-type") == Some("application/problem+json")
        && has_code(answer, code);
    (!is_told).then(|| format!("{} {}", answer.status, answer.text))
}

#[test]
fn no_read_answers_what_it_could_not_read() {
    Fallible::new(sqlite_store()).try_all(|_, route| route.method == "GET");
}

#[test]
fn no_post_about_agents_and_approvals_is_carried_out_in_part() {
    let about =
        |path: &str| path.starts_with("/api/agents/") || path.starts_with("/api/approvals/");
    Fallible::new(sqlite_store()).try_all(|_, it| it.method == "POST" && about(&it.path));
}

#[test]
fn no_post_about_companies_is_carried_out_in_part() {
    let about = |path: &str| path.starts_with("/api/companies");
    Fallible::new(sqlite_store()).try_all(|_, it| it.method == "POST" && about(&it.path));
}

#[test]
fn no_post_about_anything_else_is_carried_out_in_part() {
    const OTHERS: [&str; 3] = ["/api/agents/", "/api/approvals/", "/api/companies"];
    let about = |path: &str| !OTHERS.iter().any(|other| path.starts_with(other));
    Fallible::new(sqlite_store()).try_all(|_, it| it.method == "POST" && about(&it.path));
}

#[test]
fn no_other_change_is_carried_out_in_part() {
    let is_other = |method: &str| !matches!(method, "GET" | "POST");
    Fallible::new(sqlite_store()).try_all(|_, it| is_other(&it.method));
}

/// It is about what stands above both databases, so that some routes are enough here.
mod postgres {
    use super::*;

    #[test]
    fn some_routes_are_not_carried_out_in_part() {
        if let Some(store) = postgres_store() {
            Fallible::new(store).try_all(|number, _| number % 9 == 4);
        }
    }
}
