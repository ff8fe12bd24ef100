use actix_web::HttpResponse;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::compaction::{DEFAULT_LIMIT, LONGEST_LIMIT, SHORTEST_LIMIT};
use workforce_app::conventions::{self, ConventionsView, ReplaceConventions, UpdateConventions};
use workforce_domain::conventions::{Compact, CompactSource};
use workforce_domain::id::ProjectId;
use workforce_domain::text::{CompactContext, Description};
use workforce_domain::time::Timestamp;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(
            __path_replace,
            Access::ProjectLead,
            conventions::WRITE,
            replace,
        )
        .add(
            __path_update,
            Access::ProjectLead,
            conventions::WRITE,
            update,
        )
        .add(__path_compact, Access::ProjectLead, Codes::NONE, compact)
}

/// What the agents of a project are told before they work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectConventions)]
struct ConventionsBody {
    /// The project.
    project_id: ProjectId,
    /// Background and context of the project.
    backstory: Description,
    /// The rules, in Markdown.
    conventions_md: Description,
    /// The short form, which agents are told where there is one.
    compact_context: Option<CompactContext>,
    /// Who wrote the short form.
    compact_source: Option<CompactSource>,
    /// Whether the conventions changed since the short form was written. A
    /// generated one is made anew before an agent is told it.
    compact_stale: bool,
    /// Further sources: any JSON; an empty list when there are none.
    extra_references: Value,
    /// When they last changed; `null` before the first time.
    updated_at: Option<Timestamp>,
}

impl From<ConventionsView> for ConventionsBody {
    fn from(view: ConventionsView) -> Self {
        let ConventionsView {
            conventions,
            compact_stale,
        } = view;
        let source = |compact: &Compact| compact.origin.source();
        Self {
            project_id: conventions.project,
            backstory: conventions.backstory,
            conventions_md: conventions.conventions_md,
            compact_source: conventions.compact.as_ref().map(source),
            compact_context: conventions.compact.map(|compact| compact.text),
            compact_stale,
            extra_references: conventions.extra_references,
            updated_at: conventions.updated_at,
        }
    }
}

/// The conventions of a project; empty ones before anybody wrote any.
#[utoipa::path(get, path = "/api/projects/{projectId}/conventions", tag = TAG,
    operation_id = "getProjectConventions",
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("projectId"),
            |reads, ctx, id| conventions::get(reads, ctx, *id),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

/// Writes the conventions of a project in place of those it has. What is left
/// out is emptied, and the short form goes with the text it stood for. The
/// board, the lead of the project, and a ceo.
#[utoipa::path(put, path = "/api/projects/{projectId}/conventions", tag = TAG,
    operation_id = "replaceProjectConventions",
    request_body = ReplaceConventions,
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn replace(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("projectId")?, rq.json::<ReplaceConventions>()?)),
            |tx, ctx, (id, command)| conventions::replace(tx, ctx, *id, command.clone()),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

/// Changes some of the conventions of a project. The board, the lead of the
/// project, and a ceo.
#[utoipa::path(patch, path = "/api/projects/{projectId}/conventions", tag = TAG,
    operation_id = "updateProjectConventions",
    request_body = UpdateConventions,
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("projectId")?, rq.json::<UpdateConventions>()?)),
            |tx, ctx, (id, command)| conventions::update(tx, ctx, *id, command.clone()),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

/// Sums the conventions of a project up and keeps the short form. It is an
/// extract of the rules that say most, the same for the same text every time.
/// The board, the lead of the project, and a ceo.
#[utoipa::path(post, path = "/api/projects/{projectId}/conventions/compact", tag = TAG,
    operation_id = "compactProjectConventions",
    params(
        ("maxChars" = Option<u16>, Query, minimum = 400, maximum = 8000, nullable = false,
            description = "The bound of the short form in characters; 2000 when left out."),
    ),
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn compact(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                Ok((rq.id("projectId")?, max_chars(rq)?))
            },
            |tx, ctx, (id, max_chars)| conventions::compact(tx, ctx, *id, *max_chars),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

fn max_chars(rq: &Request) -> Result<usize, Problem> {
    let form = format!("a whole number from {SHORTEST_LIMIT} to {LONGEST_LIMIT}");
    match rq.query()?.value::<usize>("maxChars", &form)? {
        None => Ok(DEFAULT_LIMIT),
        Some(limit) if (SHORTEST_LIMIT..=LONGEST_LIMIT).contains(&limit) => Ok(limit),
        Some(_) => Err(fault("maxChars", &format!("must be {form}"))),
    }
}
