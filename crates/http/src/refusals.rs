//! The machine codes that a route can answer with: those that follow from its
//! shape, and those that its use case adds.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use utoipa::openapi::path::HttpMethod;
use workforce_app::Code;

use crate::access::{Access, Subject};
use crate::precondition::IF_MATCH;
use crate::problem::catalogue;
use crate::registry::{self, Endpoint};
use crate::routes;

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
        codes: &[
            Code::InvalidRequest,
            Code::OriginForbidden,
            Code::RateLimited,
            Code::BodyTooLarge,
            Code::Internal,
            Code::Contended,
            Code::StoreUnavailable,
        ],
        applies: |_| true,
    },
    Common {
        routes: "Every route but the public ones",
        codes: &[
            Code::InvalidRunId,
            Code::CredentialMissing,
            Code::CredentialInvalid,
            Code::AgentInactive,
            Code::RunMismatch,
        ],
        applies: |endpoint| endpoint.access != Access::Public,
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
        routes: "A company in the path",
        codes: &[Code::CompanyForbidden],
        applies: |endpoint| Subject::of(&endpoint.path) == Subject::Company,
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
        routes: "Every method but GET",
        codes: &[Code::InvalidJson],
        applies: |endpoint| endpoint.method != HttpMethod::Get,
    },
    Common {
        routes: "Every method but GET, for agents",
        codes: &[Code::CompanyNotActive],
        applies: |endpoint| {
            endpoint.method != HttpMethod::Get
                && !matches!(endpoint.access, Access::Public | Access::Board)
        },
    },
    Common {
        routes: "POST",
        codes: &[Code::IdempotencyKeyReused, Code::RequestInProgress],
        applies: |endpoint| endpoint.method == HttpMethod::Post,
    },
];

/// The codes of the routes that say which they refuse with, by method and
/// path.
static DECLARED: LazyLock<HashMap<(String, String), BTreeSet<Code>>> = LazyLock::new(|| {
    let endpoints = routes::all();
    let declared = endpoints.endpoints().iter();
    declared
        .filter(|endpoint| endpoint.refuses.is_some())
        .map(|endpoint| {
            let method = registry::name(&endpoint.method).to_string();
            ((method, endpoint.path.clone()), codes(endpoint))
        })
        .collect()
});

/// Makes sure, where debug assertions are on, that a route answers with codes
/// of its description only.
pub(crate) fn assert_described(method: &str, path: Option<String>, code: Code) {
    if !cfg!(debug_assertions) {
        return;
    }
    let method = if method == "HEAD" { "GET" } else { method };
    if let Some(path) = path
        && let Some(codes) = DECLARED.get(&(method.to_owned(), path.clone()))
    {
        debug_assert!(
            codes.contains(&code),
            "{method} {path} answers {code}: name it in `refusing` where the route is registered"
        );
    }
}

/// Every code that an endpoint can answer with.
pub(crate) fn codes(endpoint: &Endpoint) -> BTreeSet<Code> {
    let mut codes: BTreeSet<Code> = COMMON
        .iter()
        .filter(|common| (common.applies)(endpoint))
        .flat_map(|common| common.codes)
        .copied()
        .collect();
    match endpoint.refuses {
        Some(own) => codes.extend(own),
        // Nobody said which, so it may be any that fits the method.
        None => codes.extend(catalogue().filter_map(|(code, entry)| {
            let status = entry.status.as_u16();
            (endpoint.method != HttpMethod::Get && matches!(status, 403 | 409 | 422))
                .then_some(code)
        })),
    }
    codes
}

/// The codes of an endpoint's use case that do not follow from its shape.
pub(crate) fn own(endpoint: &Endpoint) -> Option<Vec<Code>> {
    let follows: BTreeSet<Code> = COMMON
        .iter()
        .filter(|common| (common.applies)(endpoint))
        .flat_map(|common| common.codes)
        .copied()
        .collect();
    let own = endpoint.refuses?.iter().copied();
    Some(own.filter(|code| !follows.contains(code)).collect())
}
