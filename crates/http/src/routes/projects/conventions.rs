use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::compaction::{DEFAULT_LIMIT, LONGEST_LIMIT, SHORTEST_LIMIT};
use workforce_app::conventions::{self, ConventionsView, ReplaceConventions, UpdateConventions};
use workforce_domain::change::Change;
use workforce_domain::conventions::{Compact, CompactSource, Conventions};
use workforce_domain::id::ProjectId;
use workforce_domain::text::{CompactContext, Description};
use workforce_domain::time::Timestamp;

use super::TAG;
use crate::exchange::{Exchange, Incoming};
use crate::problem::Problem;
use crate::query::fault;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;

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
    #[schema(value_type = schema::Id)]
    project_id: ProjectId,
    /// Background and context of the project.
    #[schema(value_type = schema::Description)]
    backstory: Description,
    /// The rules, in Markdown.
    #[schema(value_type = schema::Description)]
    conventions_md: Description,
    /// The short form, which agents are told where there is one.
    #[schema(value_type = Option<schema::CompactContext>)]
    compact_context: Option<CompactContext>,
    /// Who wrote the short form.
    #[schema(value_type = Option<schema::CompactSource>)]
    compact_source: Option<CompactSource>,
    /// Whether the conventions changed since the short form was written. A
    /// generated one is made anew before an agent is told it.
    compact_stale: bool,
    /// Further sources: any JSON; an empty list when there are none.
    extra_references: Value,
    /// When they last changed; `null` before the first time.
    #[schema(value_type = Option<schema::Timestamp>)]
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
    params(("projectId" = schema::Id, Path, description = "The project.")),
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn get(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("projectId"),
            |reads, call, id| conventions::get(reads, call, *id),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReplaceConventionsBody {
    /// Background and context of the project; empty when left out.
    #[schema(value_type = Option<schema::Description>)]
    backstory: Option<Description>,
    /// The rules, in Markdown; empty when left out.
    #[schema(value_type = Option<schema::Description>)]
    conventions_md: Option<Description>,
    /// Further sources: any JSON, at most 64 KiB; none when left out.
    extra_references: Option<Value>,
}

impl ReplaceConventionsBody {
    fn command(self) -> ReplaceConventions {
        ReplaceConventions {
            backstory: self.backstory.unwrap_or_default(),
            conventions_md: self.conventions_md.unwrap_or_default(),
            extra_references: self
                .extra_references
                .unwrap_or_else(Conventions::no_references),
        }
    }
}

/// Writes the conventions of a project in place of those it has. What is left
/// out is emptied, and the short form goes with the text it stood for. The
/// board, the lead of the project, and a ceo.
#[utoipa::path(put, path = "/api/projects/{projectId}/conventions", tag = TAG,
    operation_id = "replaceProjectConventions",
    params(("projectId" = schema::Id, Path, description = "The project.")),
    request_body = ReplaceConventionsBody,
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn replace(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("projectId")?,
                    rq.json::<ReplaceConventionsBody>()?.command(),
                ))
            },
            |tx, call, (id, command)| conventions::replace(tx, call, *id, command.clone()),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateConventionsBody {
    /// Background and context of the project.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    backstory: Change<Description>,
    /// The rules, in Markdown.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    conventions_md: Change<Description>,
    /// A short form by hand; `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<schema::CompactContext>)]
    compact_context: Change<CompactContext>,
    /// Further sources, in place of the present ones: any JSON, at most 64 KiB.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    extra_references: Change<Value>,
}

impl UpdateConventionsBody {
    fn command(self) -> UpdateConventions {
        UpdateConventions {
            backstory: self.backstory,
            conventions_md: self.conventions_md,
            compact_context: self.compact_context,
            extra_references: self.extra_references,
        }
    }
}

/// Changes some of the conventions of a project. The board, the lead of the
/// project, and a ceo.
#[utoipa::path(patch, path = "/api/projects/{projectId}/conventions", tag = TAG,
    operation_id = "updateProjectConventions",
    params(("projectId" = schema::Id, Path, description = "The project.")),
    request_body = UpdateConventionsBody,
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn update(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("projectId")?,
                    rq.json::<UpdateConventionsBody>()?.command(),
                ))
            },
            |tx, call, (id, command)| conventions::update(tx, call, *id, command.clone()),
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
        ("projectId" = schema::Id, Path, description = "The project."),
        ("maxChars" = Option<u16>, Query, minimum = 400, maximum = 8000, nullable = false,
            description = "The bound of the short form in characters; 2000 when left out."),
    ),
    responses((status = 200, description = "The conventions.", body = ConventionsBody)))]
async fn compact(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                Ok((rq.id("projectId")?, max_chars(rq)?))
            },
            |tx, call, (id, max_chars)| conventions::compact(tx, call, *id, *max_chars),
            |view| Reply::ok(ConventionsBody::from(view)),
        )
        .await
}

fn max_chars(rq: &Incoming) -> Result<usize, Problem> {
    let form = format!("a whole number from {SHORTEST_LIMIT} to {LONGEST_LIMIT}");
    match rq.query()?.value::<usize>("maxChars", &form)? {
        None => Ok(DEFAULT_LIMIT),
        Some(limit) if (SHORTEST_LIMIT..=LONGEST_LIMIT).contains(&limit) => Ok(limit),
        Some(_) => Err(fault("maxChars", &format!("must be {form}"))),
    }
}
