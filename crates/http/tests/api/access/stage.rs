//! Where callers ask: two servers on one store, and two companies.

use serde_json::{Value, json};
use ureq::http::Request as HttpRequest;
use ureq::http::request::Builder;

use super::callers::{Caller, Outcome, Place};
use super::requests::Request;
use super::scene::Scene;
use crate::support::{Answer, Api, NOTHING, Twin, id};
use crate::uploads::{FORM, file, form};

/// The token that the server where everybody needs one was started with.
const START_TOKEN: &str = "the token that this server was started with";
/// As agent keys look, and none.
const NO_KEY: &str = "wfk_abcdefgh_0123456789012345678901234567890123456789012";

/// Everything that is asked, and who asks.
pub(super) struct Stage<'a> {
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
    pub(super) fn new(api: &'a Api) -> Self {
        let token = || api.post("/api/board-tokens", &json!({})).ok(201);
        let value = |made: &Value| made["token"].as_str().unwrap().to_owned();
        let (kept, revoked) = (token(), token());
        let path = format!("/api/board-tokens/{}", id(&revoked));
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

    /// Pauses the own company.
    pub(super) fn pause(&self) {
        let path = self.own.fill("/api/companies/{companyId}/pause");
        self.trusting.post(&path, &json!({})).ok(200);
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
    pub(super) fn send(
        &self,
        caller: Caller,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> Answer {
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
        answer_to(&self.trusting.client, request, body)
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
        let (kind, body) = written(request, at, self.sent);
        let answer = self.send(caller, request.method, &path, kind, &body);
        self.is_changed |= request.method != "GET" && answer.status < 300;
        answer
    }

    /// What comes of a request. One that surprises is sent once more, in a
    /// company that nothing was changed in.
    pub(super) fn outcome(
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

/// The answer to a request; of one that does not end the head alone.
pub(super) fn answer_to(client: &ureq::Agent, request: Builder, body: &[u8]) -> Answer {
    let sent = if body.is_empty() {
        client.run(request.body(()).unwrap())
    } else {
        client.run(request.body(body).unwrap())
    };
    let mut response = sent.unwrap_or_else(|error| panic!("no answer: {error}"));
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

/// The type and the bytes of what a request sends about a scene; `number` makes
/// names unique.
pub(super) fn written(request: &Request, at: &Scene, number: usize) -> (&'static str, Vec<u8>) {
    if request.is_upload {
        return (FORM, form(&[file("b.txt", b"hello")]));
    }
    let body = request.body.replace("{unique}", &number.to_string());
    ("application/json", at.fill(&body).into_bytes())
}

/// What came of a request. `besides` is the code of a refusal that has nothing
/// to do with who asks.
pub(super) fn outcome(answer: &Answer, besides: Option<&str>) -> Outcome {
    if (200..300).contains(&answer.status) {
        return Outcome::LetThrough;
    }
    let problem: Value = serde_json::from_str(&answer.text).unwrap_or_default();
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
