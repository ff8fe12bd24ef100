//! The routes, one module per resource: request bodies, answers, handlers.

mod activity;
mod agents;
mod approvals;
mod attachments;
mod board_sessions;
mod board_tokens;
mod companies;
mod costs;
mod dashboard;
mod events;
mod goals;
mod health;
mod issues;
mod labels;
mod projects;
mod runs;
mod secrets;
mod webhooks;

pub(crate) use agents::{
    CheckAdapterBody, CreateAgentBody, PutFileBody, UpdateAgentBody, check_adapter, instructions,
};
pub(crate) use approvals::work_to_show;
pub(crate) use attachments::{add as add_attachment, remove as remove_attachment};
pub(crate) use events::stream_kept_alive as stream_events;
pub(crate) use health::{HEALTH_PATH, readiness};
pub(crate) use projects::addresses;
pub(crate) use runs::log_piece;
pub(crate) use secrets::CreateSecretBody;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use workforce_app::{Context, issues as issue_cases};
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Reads, StoreError};

use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::request_context::Request;

/// Every route of the server.
pub fn all() -> Endpoints {
    let resources = [
        health::register,
        board_sessions::register,
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
        webhooks::register,
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
fn issue_ref(rq: &Request) -> Result<IssueRef, Problem> {
    const KIND: &str = "issue";
    IssueRef::parse(rq.param("issueId", KIND)?).ok_or_else(|| Problem::missing(KIND))
}

/// The id of the issue that a list asks for. One that does not exist has an id
/// that nothing is found under.
fn issue_filter(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    named: Option<&IssueRef>,
) -> Result<Option<IssueId>, StoreError> {
    let id = named
        .map(|issue| issue_cases::id_of(reads, ctx, issue))
        .transpose()?;
    Ok(id.map(|id| id.unwrap_or(IssueId::from(Uuid::nil()))))
}
