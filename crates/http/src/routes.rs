//! The routes, one module per resource: request bodies, answers, handlers.

mod activity;
mod agents;
mod approvals;
mod attachments;
mod board_tokens;
mod companies;
mod costs;
mod dashboard;
pub(crate) mod events;
mod goals;
mod health;
mod issues;
mod labels;
mod projects;
mod runs;
mod secrets;

use serde::Serialize;
use utoipa::ToSchema;
use workforce_domain::issue::IssueRef;

use crate::exchange::Incoming;
use crate::problem::Problem;
use crate::registry::Endpoints;

/// Every route of the server.
pub fn all() -> Endpoints {
    let resources = [
        health::register,
        board_tokens::register,
        companies::register,
        dashboard::register,
        agents::register,
        goals::register,
        projects::register,
        issues::register,
        labels::register,
        approvals::register,
        attachments::register,
        costs::register,
        runs::register,
        secrets::register,
        activity::register,
        events::register,
    ];
    resources
        .into_iter()
        .fold(Endpoints::new(), |endpoints, register| register(endpoints))
}

/// The answer where nothing is left to show.
#[derive(Serialize, ToSchema)]
struct Done {
    /// Always true.
    ok: bool,
}

impl Done {
    const OK: Self = Self { ok: true };
}

/// The issue a path names, by id or identifier.
fn issue_ref(rq: &Incoming) -> Result<IssueRef, Problem> {
    const KIND: &str = "issue";
    IssueRef::parse(rq.param("issueId", KIND)?).ok_or_else(|| Problem::missing(KIND))
}
