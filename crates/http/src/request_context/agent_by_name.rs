//! The name of an agent where its id belongs.

use std::str::FromStr;

use serde_json::{Value, json};
use workforce_app::agents::{self, Place};
use workforce_app::authenticate::Authenticated;
use workforce_app::{Code, Signal};
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Failure, Reads};
use workforce_domain::time::Timestamp;

use super::{Request, RequestContext};
use crate::body;
use crate::problem::Problem;

/// The longest text that is looked up.
const MAX_NAME: usize = 200;

impl RequestContext {
    /// A fault of the input. Where it has the name of an agent in the place of an id, it tells the
    /// id.
    pub(super) fn told_by_name(
        &self,
        reads: &mut dyn Reads,
        caller: &Authenticated,
        now: Timestamp,
        problem: &Problem,
    ) -> Failure<Problem> {
        let Some((pointer, name)) = self.request.agent_by_name(problem) else {
            return Failure::Refused(problem.clone());
        };
        let signal = Signal::default();
        let ctx = self.context(caller, now, &signal);
        let place = self.request.place();
        match agents::called(reads, &ctx, place.as_ref(), &name) {
            Err(error) => Failure::Store(error),
            Ok(None) => Failure::Refused(problem.clone()),
            Ok(Some(id)) => {
                let message = format!("must be an id; the agent called {name} has {id}");
                let fault = json!([{ "pointer": pointer, "message": message, "didYouMean": id }]);
                let told = Problem::new(problem.code(), format!("{pointer}: {message}"));
                Failure::Refused(told.with(fault))
            }
        }
    }
}

impl Request {
    /// Where the id of an agent should be, and the text that is there.
    fn agent_by_name(&self, problem: &Problem) -> Option<(String, String)> {
        let pointer = problem.pointer()?;
        let field = pointer.trim_start_matches(['?', '/']);
        let is_of_agent = field.ends_with("gentId") || field == "reportsTo";
        let text = match problem.code() {
            Code::InvalidJson if is_of_agent => {
                let body: Value = body::parse(&self.body).ok()?;
                body.get(field)?.as_str()?.to_owned()
            }
            Code::InvalidRequest if is_of_agent => self.query().ok()?.text(field).ok()??.to_owned(),
            _ => return None,
        };
        (text.len() <= MAX_NAME).then(|| (pointer.to_owned(), text))
    }

    /// What the path names.
    fn place(&self) -> Option<Place> {
        fn named<I: FromStr>(request: &Request, name: &str) -> Option<I> {
            request.param(name, name).ok()?.parse().ok()
        }
        let issue = || IssueRef::parse(self.param("issueId", "issue").ok()?);
        named(self, "companyId")
            .map(Place::Company)
            .or_else(|| issue().map(Place::Issue))
            .or_else(|| named(self, "agentId").map(Place::Agent))
            .or_else(|| named(self, "projectId").map(Place::Project))
    }
}
