//! The matrix of who may do what: every route, asked by every kind of caller
//! about its own company and about another one, against what the rule of the
//! route says (contract section 5).
//!
//! A new route needs a line in [`requests::REQUESTS`]; a new kind of object in
//! its path is made in [`Scene::new`]; a new rule says in `callers.rs` whom it
//! lets through.

mod callers;
mod requests;
mod scene;

use std::collections::{BTreeMap, BTreeSet};

use ureq::http::Request as HttpRequest;
use workforce_http::registry::Listed;

use crate::support::{Answer, Api, NOTHING, Twin, api_tests};
use crate::uploads::{FORM, file, form};
use callers::{CALLERS, Caller, Outcome, Place, predicted, settled};
use requests::{REQUESTS, Request};
use scene::Scene;

/// The token that the server where everybody needs one was started with.
const START_TOKEN: &str = "the token that this server was started with";
/// As agent keys look, and none.
const NO_KEY: &str = "wfk_abcdefgh_0123456789012345678901234567890123456789012";

/// Everything that is asked, and who asks.
struct Stage<'a> {
    /// The server where a request without a credential is the board's.
    trusting: &'a Api,
    /// The one on the same store where every request needs a credential.
    demanding: Twin,
    /// The company of the agents that ask.
    own: Scene,
    /// Only the board could change it, and that has no reason to ask here.
    other: Scene,
    /// Something in the own company was changed.
    is_changed: bool,
    board_token: String,
    revoked_board_token: String,
    /// How many requests were sent, which makes names unique.
    sent: usize,
}

impl<'a> Stage<'a> {
    fn new(api: &'a Api) -> Self {
        let token = || {
            api.post("/api/board-tokens", &serde_json::json!({}))
                .ok(201)
        };
        let value = |made: &serde_json::Value| made["token"].as_str().unwrap().to_owned();
        let (kept, revoked) = (token(), token());
        let path = format!("/api/board-tokens/{}", crate::support::id(&revoked));
        api.send("DELETE", &path, &[], b"").ok(200);
        Self {
            trusting: api,
            demanding: api.demanding(START_TOKEN),
            own: Scene::new(api),
            other: Scene::new(api),
            is_changed: false,
            board_token: value(&kept),
            revoked_board_token: value(&revoked),
            sent: 0,
        }
    }

    /// Makes the own company anew.
    fn renew(&mut self) {
        self.own.end(self.trusting);
        self.own = Scene::new(self.trusting);
        self.is_changed = false;
    }

    fn credential(&self, caller: Caller) -> Option<&str> {
        match caller {
            Caller::Nobody | Caller::NobodyWhereTrusted | Caller::RunHeaderWhereTrusted => None,
            Caller::BadCredential | Caller::BadCredentialWhereTrusted => Some(NO_KEY),
            Caller::StartToken => Some(START_TOKEN),
            Caller::BoardToken => Some(&self.board_token),
            Caller::RevokedBoardToken => Some(&self.revoked_board_token),
            agent => Some(self.own.credential(agent).unwrap()),
        }
    }

    /// The answer to a request; of one that does not end the head alone.
    fn send(&self, caller: Caller, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let base = if caller.is_where_trusted() {
            &self.trusting.base
        } else {
            &self.demanding.base
        };
        let mut request = HttpRequest::builder()
            .method(method)
            .uri(format!("{base}{path}"))
            .header("Content-Type", kind);
        if let Some(credential) = self.credential(caller) {
            request = request.header("Authorization", format!("Bearer {credential}"));
        }
        if caller == Caller::RunHeaderWhereTrusted {
            request = request.header("X-Service-Run-Id", NOTHING);
        }
        let client = &self.trusting.client;
        let sent = if body.is_empty() {
            client.run(request.body(()).unwrap())
        } else {
            client.run(request.body(body).unwrap())
        };
        let mut response = sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let headers = response.headers().clone();
        let ends = headers
            .get("content-type")
            .is_none_or(|kind| kind != "text/event-stream");
        Answer {
            status: response.status().as_u16(),
            text: if ends {
                response.body_mut().read_to_string().unwrap()
            } else {
                String::new()
            },
            headers,
        }
    }

    fn ask(&mut self, request: &Request, caller: Caller, place: Place) -> Answer {
        self.sent += 1;
        let at = match place {
            Place::Own => &self.own,
            Place::Other => &self.other,
        };
        let path = at.fill(request.address());
        assert!(
            !path.contains('{'),
            "there is nothing to put into {path}: make it in `Scene::new`, under that name"
        );
        let answer = if request.is_upload {
            let body = form(&[file("b.txt", b"hello")]);
            self.send(caller, request.method, &path, FORM, &body)
        } else {
            let unique = self.sent.to_string();
            let body = at.fill(&request.body.replace("{unique}", &unique));
            let kind = "application/json";
            self.send(caller, request.method, &path, kind, body.as_bytes())
        };
        self.is_changed |= request.method != "GET" && answer.status < 300;
        answer
    }

    /// What comes of a request. One that surprises is sent once more, in a
    /// company that nothing was changed in.
    fn outcome(
        &mut self,
        request: &Request,
        caller: Caller,
        place: Place,
        expected: &Outcome,
    ) -> Outcome {
        let came = outcome(&self.ask(request, caller, place), request.besides);
        if came == *expected || !self.is_changed {
            return came;
        }
        self.renew();
        outcome(&self.ask(request, caller, place), request.besides)
    }
}

/// What came of a request. `besides` is the code of a refusal that has nothing
/// to do with who asks.
fn outcome(answer: &Answer, besides: Option<&str>) -> Outcome {
    if (200..300).contains(&answer.status) {
        return Outcome::LetThrough;
    }
    let problem: serde_json::Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let code = problem["code"].as_str().unwrap_or("without a code");
    if Some(code) == besides {
        return Outcome::LetThrough;
    }
    let is_challenged = answer.header("www-authenticate") == Some("Bearer");
    let code = if is_challenged == (answer.status == 401) {
        code.to_owned()
    } else {
        format!("{code} with a wrong WWW-Authenticate")
    };
    Outcome::Refused(answer.status, code)
}

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
    fn every_reader_is_answered_as_the_rule_says(api) {
        every_answer_is_what_the_rule_says(api, |method| method == "GET");
    }

    fn every_change_is_answered_as_the_rule_says(api) {
        every_answer_is_what_the_rule_says(api, |method| method != "GET");
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
                surprises.compare(caller, about, &expected, &outcome(&answer, None));
            }
        }
        surprises.must_be_none();
    }
}
