//! The machine codes that a route can answer with: those that follow from its
//! shape, and those that its use case adds.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use utoipa::openapi::path::HttpMethod;
use workforce_app::Code;

use crate::access_rules::{Access, Subject};
use crate::endpoints::{self, Endpoint};
use crate::precondition::IF_MATCH;
use crate::request_context::TICKET;
use crate::routes::{self, HEALTH_PATH};

/// Codes that come with a property of a route.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// The routes that have the property.
    pub routes: &'static str,
    /// The codes.
    pub codes: &'static [Code],
    applies: fn(&Endpoint) -> bool,
}

/// The codes that follow from the shape of a route, in the order of the
/// documentation.
pub const COMMON: &[Common] = &[
    Common {
        routes: "Every route",
        codes: &[Code::OriginForbidden, Code::Internal],
        applies: |_| true,
    },
    Common {
        routes: "Every route but `/api/health`",
        codes: &[Code::RateLimited],
        applies: |endpoint| endpoint.path != HEALTH_PATH,
    },
    Common {
        routes: "Every route but the public ones",
        codes: &[
            Code::InvalidRunId,
            Code::CredentialMissing,
            Code::CredentialInvalid,
            Code::AgentInactive,
            Code::RunMismatch,
            Code::Busy,
            Code::Contended,
            Code::StoreUnavailable,
            Code::StorageFull,
        ],
        applies: |endpoint| endpoint.access != Access::Public,
    },
    Common {
        routes: "Every route but those that receive or send a file",
        codes: &[
            Code::InvalidRequest,
            Code::UnknownField,
            Code::BodyTooLarge,
            Code::UnsupportedCoding,
            Code::Busy,
        ],
        applies: |endpoint| endpoint.reads_body,
    },
    Common {
        routes: "Every method but GET, and where a ticket is used up",
        codes: &[Code::OutcomeUnknown],
        applies: |endpoint| {
            endpoint.access != Access::Public
                && (endpoint.method != HttpMethod::Get || endpoint.takes(TICKET))
        },
    },
    Common {
        routes: "Rule `board`",
        codes: &[Code::BoardRequired],
        applies: |endpoint| endpoint.access == Access::Board,
    },
    Common {
        routes: "Rule `agent`",
        codes: &[Code::AgentRequired],
        applies: |endpoint| endpoint.access == Access::Agent,
    },
    Common {
        routes: "Rules that depend on the agent's place",
        codes: &[Code::Forbidden],
        applies: |endpoint| endpoint.access.depends_on_place(),
    },
    Common {
        routes: "A company in the path, and not the rule `board`",
        codes: &[Code::CompanyForbidden],
        applies: |endpoint| {
            endpoint.access != Access::Board && Subject::of(&endpoint.path) == Subject::Company
        },
    },
    Common {
        routes: "Anything in the path",
        codes: &[Code::NotFound],
        applies: |endpoint| Subject::of(&endpoint.path) != Subject::Instance,
    },
    Common {
        routes: "Lists in pages",
        codes: &[Code::InvalidCursor],
        applies: |endpoint| endpoint.takes("cursor"),
    },
    Common {
        routes: "Those that take `If-Match`",
        codes: &[Code::RevisionConflict],
        applies: |endpoint| endpoint.takes(IF_MATCH),
    },
    Common {
        routes: "POST, PUT and PATCH, but not of a file",
        codes: &[Code::InvalidJson],
        applies: |endpoint| {
            endpoint.reads_body && !matches!(endpoint.method, HttpMethod::Get | HttpMethod::Delete)
        },
    },
    Common {
        routes: "Every method but GET, for agents, except to report a cost",
        codes: &[Code::CompanyNotActive],
        applies: |endpoint| {
            endpoint.method != HttpMethod::Get
                && !matches!(endpoint.access, Access::Public | Access::Board)
                // What was spent in a company that stands still was spent.
                && endpoint.operation.operation_id.as_deref() != Some("reportCost")
        },
    },
    Common {
        routes: "POST",
        codes: &[Code::IdempotencyKeyReused, Code::RequestInProgress],
        applies: |endpoint| endpoint.method == HttpMethod::Post,
    },
];

/// The codes of each route, by method and path.
static DESCRIBED: LazyLock<HashMap<(String, String), BTreeSet<Code>>> = LazyLock::new(|| {
    let endpoints = routes::all();
    let described = endpoints.endpoints().iter().map(|endpoint| {
        let method = endpoints::name(&endpoint.method).to_string();
        ((method, endpoint.path.clone()), codes(endpoint))
    });
    described.collect()
});

/// Makes sure, where debug assertions are on, that a route answers with codes
/// of its description only.
pub(crate) fn assert_described(method: &str, path: Option<&str>, code: Code) {
    if !cfg!(debug_assertions) {
        return;
    }
    let method = if method == "HEAD" { "GET" } else { method };
    if let Some(path) = path
        && let Some(codes) = DESCRIBED.get(&(method.to_owned(), path.to_owned()))
    {
        debug_assert!(
            codes.contains(&code),
            "{method} {path} answers {code}: name it where the route is registered"
        );
    }
}

/// Every code that an endpoint can answer with.
pub(crate) fn codes(endpoint: &Endpoint) -> BTreeSet<Code> {
    let mut codes = common(endpoint);
    codes.extend(endpoint.refuses.all());
    codes
}

/// The codes of an endpoint's use case that do not follow from its shape.
pub(crate) fn own(endpoint: &Endpoint) -> Vec<Code> {
    let follows = common(endpoint);
    let own = endpoint.refuses.all().into_iter();
    own.filter(|code| !follows.contains(code)).collect()
}

fn common(endpoint: &Endpoint) -> BTreeSet<Code> {
    COMMON
        .iter()
        .filter(|common| (common.applies)(endpoint))
        .flat_map(|common| common.codes)
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workforce_domain::string_enum::StringEnum;

    #[test]
    fn every_code_is_one_that_some_route_answers_with() {
        let endpoints = routes::all();
        let mut answered: BTreeSet<Code> = endpoints.endpoints().iter().flat_map(codes).collect();
        // Those of paths and methods that there are not.
        answered.extend([Code::MethodNotAllowed, Code::RouteNotFound]);
        let never: Vec<_> = Code::ALL
            .iter()
            .filter(|code| !answered.contains(code))
            .collect();
        assert!(never.is_empty(), "no route answers with {never:?}");
    }
}
