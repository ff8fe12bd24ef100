//! The matrix of who may do what: every route, asked by every kind of caller
//! about its own company and about another one, against what the rule of the
//! route says (docs/access.md#rights).
//!
//! A new route needs a line in [`requests::REQUESTS`]; a new kind of object in
//! its path is made in [`scene::Scene::new`]; a new rule says in `callers.rs` whom it
//! lets through.

mod callers;
mod changes;
mod requests;
mod scene;
mod stage;
mod store_faults;
mod undo;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

use workforce_http::registry::{Access, Listed, Subject};

use crate::support::{Api, NOTHING, api_tests};
use callers::{CALLERS, Caller, Outcome, Place, permitted, predicted, settled};
use requests::{REQUESTS, Request};
use stage::{Stage, outcome};

/// Answers that are not what the rules say: who got them, by route, company,
/// what was expected and what came.
#[derive(Default)]
struct Surprises(BTreeMap<[String; 4], Vec<String>>);

impl Surprises {
    /// Compares an answer with what was expected.
    fn compare(&mut self, caller: Caller, about: [&str; 2], expected: &Outcome, came: &Outcome) {
        if expected != came {
            let [route, company] = about.map(str::to_owned);
            let row = [route, company, expected.to_string(), came.to_string()];
            self.0.entry(row).or_default().push(format!("{caller:?}"));
        }
    }

    /// Fails with all of them in one table.
    #[track_caller]
    fn must_be_none(&self) {
        let heads = ["route (rule)", "company", "expected", "came"].map(str::to_owned);
        let heads = (&heads, &vec!["callers".to_owned()]);
        let rows = std::iter::once(heads).chain(&self.0);
        let rows = rows.map(|([route, company, expected, came], callers)| {
            let callers = callers.join(" ");
            format!("{route:<84} {company:<9} {expected:<24} {came:<24} {callers}\n")
        });
        let table: String = rows.collect();
        assert!(self.0.is_empty(), "not what the rules say:\n{table}");
    }
}

/// The routes, each with its request.
fn asked() -> Vec<(Listed, &'static Request)> {
    let requests: BTreeMap<String, &Request> = REQUESTS.iter().map(|it| (it.route(), it)).collect();
    let routes = workforce_http::routes::all().list().into_iter();
    routes
        .filter_map(|route| {
            let request = requests.get(&route.name())?;
            Some((route, *request))
        })
        .collect()
}

#[test]
fn every_route_is_asked() {
    let routes = workforce_http::routes::all().list();
    let routes: BTreeSet<String> = routes.iter().map(Listed::name).collect();
    let asked: BTreeSet<String> = REQUESTS.iter().map(Request::route).collect();
    let missing: Vec<_> = routes.difference(&asked).collect();
    assert!(
        missing.is_empty(),
        "nobody asks {missing:#?}: give each a line in `REQUESTS` (tests/api/access/requests.rs) \
         with the least body that succeeds"
    );
    let gone: Vec<_> = asked.difference(&routes).collect();
    assert!(gone.is_empty(), "there are no such routes: {gone:#?}");
    assert_eq!(asked.len(), REQUESTS.len(), "a route is asked twice");
}

/// A text with nothing in the places of the names.
fn about_nothing(text: &str) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) if is_name(name) => filled.extend([NOTHING, rest]),
            _ => filled.extend(["{", part]),
        }
    }
    filled
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The name of a route with its rule.
fn shown(route: &Listed) -> String {
    format!("{} ({})", route.name(), route.access)
}

/// Asks the routes with these methods.
fn every_answer_is_what_the_rule_says(api: &Api, is_asked: fn(&str) -> bool) {
    let mut stage = Stage::new(api);
    let mut surprises = Surprises::default();
    for (route, request) in asked() {
        if !is_asked(&route.method) {
            continue;
        }
        let mut cases = Vec::new();
        for &caller in CALLERS {
            for &place in Place::of(&route, caller) {
                cases.push((caller, place, predicted(&route, caller, place)));
            }
        }
        // Who is refused asks first: afterwards something may be gone.
        cases.sort_by_key(|(_, _, expected)| *expected == Outcome::LetThrough);
        for (caller, place, expected) in cases {
            let came = stage.outcome(request, caller, place, &expected);
            let about = [&*shown(&route), place.name()];
            surprises.compare(caller, about, &expected, &came);
        }
    }
    surprises.must_be_none();
}

api_tests! {
    fn every_get_is_answered_as_the_rule_says(api) {
        every_answer_is_what_the_rule_says(api, |method| method == "GET");
    }

    fn every_post_is_answered_as_the_rule_says(api) {
        every_answer_is_what_the_rule_says(api, |method| method == "POST");
    }

    fn every_other_change_is_answered_as_the_rule_says(api) {
        every_answer_is_what_the_rule_says(api, |method| !matches!(method, "GET" | "POST"));
    }

    fn who_asks_is_settled_before_what_is_asked(api) {
        let stage = Stage::new(api);
        let mut surprises = Surprises::default();
        for (route, request) in asked() {
            let places = route.path.split('/');
            let places = places.map(|place| if place.starts_with('{') { "x" } else { place });
            let path = places.collect::<Vec<_>>().join("/") + "?limit=x&cursor=x&path=..";
            let body: &[u8] = if request.method == "GET" { b"" } else { b"{" };
            for &caller in CALLERS {
                let Some(expected) = settled(route.access, caller) else {
                    continue;
                };
                let kind = "application/json";
                let answer = stage.send(caller, request.method, &path, kind, body);
                let about = [&*shown(&route), "malformed"];
                let besides = request.besides.filter(|_| request.is_signed());
                surprises.compare(caller, about, &expected, &outcome(&answer, besides));
            }
        }
        surprises.must_be_none();
    }

    fn what_is_not_there_is_told_by_every_route(api) {
        let stage = Stage::new(api);
        let mut surprises = Surprises::default();
        for (route, request) in asked() {
            if route.subject == Subject::Instance {
                continue;
            }
            let [path, body] = [request.address(), request.body].map(about_nothing);
            let (caller, kind) = (Caller::NobodyWhereTrusted, "application/json");
            let answer = stage.send(caller, request.method, &path, kind, body.as_bytes());
            let expected = Outcome::Refused(404, "not_found".to_owned());
            let about = [&*shown(&route), "none"];
            surprises.compare(caller, about, &expected, &outcome(&answer, None));
        }
        surprises.must_be_none();
    }

    fn agents_change_nothing_in_a_company_that_stands_still(api) {
        let mut stage = Stage::new(api);
        stage.pause();
        let mut surprises = Surprises::default();
        for (route, request) in asked() {
            let board = route.access == Access::Board;
            // What was spent before is told all the same.
            let is_report = route.name() == "POST /api/companies/{companyId}/cost-events";
            if route.method == "GET" || board || is_report || request.is_signed() {
                continue;
            }
            let caller = permitted(route.access);
            let expected = Outcome::Refused(409, "company_not_active".to_owned());
            let came = stage.outcome(request, caller, Place::Own, &expected);
            surprises.compare(caller, [&*shown(&route), "its own"], &expected, &came);
        }
        surprises.must_be_none();
    }

    fn every_post_knows_its_key(api) {
        let keyed = |path: &str, key: &str, body: &str| {
            api.send("POST", path, &[("Idempotency-Key", key)], body.as_bytes())
        };
        keyed("/api/companies", "k", r#"{"name":"The first"}"#).ok(201);
        for request in REQUESTS {
            if request.method == "POST" && !request.is_upload && !request.is_signed() {
                let [path, body] = [request.address(), request.body].map(about_nothing);
                keyed(&path, "k", &body).problem(422, "idempotency_key_reused");
                keyed(&path, &"k".repeat(201), &body).problem(400, "invalid_request");
            }
        }
    }
}
