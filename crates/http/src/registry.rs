//! The routes as tests and documentation list them.

use utoipa::openapi::path::Operation;
use workforce_app::Code;

pub use crate::access_rules::{Access, Subject};
use crate::endpoints::{self, Endpoints};
use crate::refusals;
pub use crate::refusals::{COMMON, Common};

/// A route as tests and documentation list it.
#[derive(Clone, PartialEq)]
pub struct Listed {
    /// Its path, with parameters in braces.
    pub path: String,
    /// Its method in upper case.
    pub method: String,
    /// Who may call it.
    pub access: Access,
    /// What its path leads to.
    pub subject: Subject,
    /// Every code that it refuses with.
    pub codes: Vec<Code>,
    /// Those that its use case adds to what follows from the route's shape
    /// ([`COMMON`]).
    pub refuses: Vec<Code>,
    /// What it takes and answers, as its handler says.
    pub operation: Operation,
}

impl Listed {
    /// The method and the path.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// What it does, in a few words.
    pub fn summary(&self) -> &str {
        self.operation.summary.as_deref().unwrap_or_default()
    }

    /// The statuses with which it says that something was done.
    pub fn succeeds(&self) -> Vec<u16> {
        let statuses = self.operation.responses.responses.keys();
        statuses
            .filter_map(|status| status.parse().ok())
            .filter(|status| *status < 400)
            .collect()
    }
}

impl Endpoints {
    /// The registered routes, by path and method.
    pub fn list(&self) -> Vec<Listed> {
        let mut list: Vec<_> = self
            .endpoints()
            .iter()
            .map(|endpoint| Listed {
                path: endpoint.path.clone(),
                method: endpoints::name(&endpoint.method).to_string(),
                access: endpoint.access,
                subject: Subject::of(&endpoint.path),
                codes: refusals::codes(endpoint).into_iter().collect(),
                refuses: refusals::own(endpoint),
                operation: endpoint.operation.clone(),
            })
            .collect();
        list.sort_by(|a, b| (&a.path, &a.method).cmp(&(&b.path, &b.method)));
        list
    }
}
