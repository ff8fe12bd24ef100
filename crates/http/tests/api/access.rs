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

    /// Makes the own company anew when something in it was changed.
    fn renew(&mut self) {
        if self.is_changed {
            self.own.end(self.trusting);
            self.own = Scene::new(self.trusting);
            self.is_changed = false;
        }
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

    /// Asks, and once more in a company that nothing was changed in when the
    /// answer surprises; the surprise that is left.
    fn check(
        &mut self,
        route: &Listed,
        request: &Request,
        caller: Caller,
        place: Place,
    ) -> Option<Surprise> {
        let expected = predicted(route, caller, place);
        let mut came = outcome(&self.ask(request, caller, place), request.besides);
        if came != expected && self.is_changed {
            self.renew();
            came = outcome(&self.ask(request, caller, place), request.besides);
        }
        (came != expected).then(|| Surprise {
            route: format!("{} ({})", route.name(), route.access),
            who: format!("{caller:?}, {place:?}"),
            expected,
            came,
        })
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

/// An answer that is not what the rule says.
struct Surprise {
    route: String,
    who: String,
    expected: Outcome,
    came: Outcome,
}

#[track_caller]
fn nothing_surprises(surprises: &[Surprise]) {
    let mut table = format!(
        "{:<80} {:<34} {:<24} came\n",
        "route (rule)", "caller, company", "expected"
    );
    for surprise in surprises {
        let Surprise {
            route,
            who,
            expected,
            came,
        } = surprise;
        table += &format!("{route:<80} {who:<34} {expected:<24} {came}\n");
    }
    assert!(
        surprises.is_empty(),
        "{} answers are not what the rules say:\n{table}",
        surprises.len()
    );
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

api_tests! {
    fn every_answer_is_what_the_rule_says(api) {
        let mut stage = Stage::new(api);
        let mut surprises = Vec::new();
        for (route, request) in asked() {
            stage.renew();
            let mut cases: Vec<(Caller, Place)> = Vec::new();
            for &caller in CALLERS {
                let places = Place::of(&route, caller);
                cases.extend(places.iter().map(|&place| (caller, place)));
            }
            // Who is refused asks first: afterwards something may be gone.
            cases.sort_by_key(|&(caller, place)| {
                predicted(&route, caller, place) == Outcome::LetThrough
            });
            for (caller, place) in cases {
                surprises.extend(stage.check(&route, request, caller, place));
            }
        }
        nothing_surprises(&surprises);
    }

    fn who_asks_is_settled_before_what_is_asked(api) {
        let stage = Stage::new(api);
        let mut surprises = Vec::new();
        for (route, request) in asked() {
            let places = route.path.split('/');
            let places: Vec<_> = places.map(|it| if it.starts_with('{') { "x" } else { it }).collect();
            let path = format!("{}?limit=x&cursor=x&path=..", places.join("/"));
            let body: &[u8] = if route.method == "GET" { b"" } else { b"{" };
            for &caller in CALLERS {
                let Some(expected) = settled(route.access, caller) else {
                    continue;
                };
                let kind = "application/json";
                let came = outcome(&stage.send(caller, request.method, &path, kind, body), None);
                if came != expected {
                    let route = format!("{} ({}), malformed", route.name(), route.access);
                    let who = format!("{caller:?}");
                    surprises.push(Surprise { route, who, expected, came });
                }
            }
        }
        nothing_surprises(&surprises);
    }
}
