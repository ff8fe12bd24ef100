use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::secrets::{self, SecretUsage};
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::port::{RunSecret, SecretUser, VersionInfo};
use workforce_domain::text::Name;
use workforce_domain::time::Timestamp;

use super::super::Done;
use super::TAG;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_versions, Access::Board, Codes::NONE, versions)
        .add(
            __path_delete_version,
            Access::Board,
            secrets::DELETE_VERSION,
            delete_version,
        )
        .add(__path_usage, Access::Board, Codes::NONE, usage)
}

/// A version of a secret, without its value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretVersion)]
struct VersionBody {
    /// Its number, from 1 on.
    #[schema(minimum = 1)]
    version: i32,
    /// When it was made.
    created_at: Timestamp,
}

impl From<VersionInfo> for VersionBody {
    fn from(info: VersionInfo) -> Self {
        Self {
            version: info.version,
            created_at: info.created_at,
        }
    }
}

/// An agent that refers to a secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretUser)]
struct UserBody {
    /// The agent.
    agent_id: AgentId,
    /// Its name.
    agent_name: Name,
    /// The variable that refers to it.
    variable: String,
    /// The version it refers to; `null` for the newest.
    #[schema(minimum = 1)]
    pinned_version: Option<i32>,
}

impl From<SecretUser> for UserBody {
    fn from(user: SecretUser) -> Self {
        Self {
            agent_id: user.agent,
            agent_name: user.name,
            variable: user.variable,
            pinned_version: user.pinned,
        }
    }
}

/// A run that was given a secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretUse)]
struct UseBody {
    /// The run.
    run_id: RunId,
    /// The variable it was given in.
    variable: String,
    /// The version it was given; 0 when the value is kept elsewhere.
    #[schema(minimum = 0)]
    version: i32,
    /// When it was given.
    used_at: Timestamp,
}

impl From<RunSecret> for UseBody {
    fn from(used: RunSecret) -> Self {
        Self {
            run_id: used.run,
            variable: used.variable,
            version: used.version,
            used_at: used.used_at,
        }
    }
}

/// Who uses a secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretUsage)]
struct UsageBody {
    /// The agents that refer to it.
    agents: Vec<UserBody>,
    /// The last 100 times that a run was given it, newest first.
    runs: Vec<UseBody>,
}

impl From<SecretUsage> for UsageBody {
    fn from(usage: SecretUsage) -> Self {
        Self {
            agents: usage.agents.into_iter().map(Into::into).collect(),
            runs: usage.runs.into_iter().map(Into::into).collect(),
        }
    }
}

/// The versions of a secret, newest first, without their values.
#[utoipa::path(get, path = "/api/secrets/{secretId}/versions", tag = TAG,
    operation_id = "listSecretVersions",
    params(Paging),
    responses((status = 200, description = "The versions.", body = Vec<VersionBody>)))]
async fn versions(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("secretId")?, rq.page::<i32>()?)),
            |reads, ctx, (id, page)| secrets::versions(reads, ctx, *id, page),
            Reply::<Vec<VersionBody>>::page,
        )
        .await
}

/// Deletes an old version of a secret to which no agent is pinned.
#[utoipa::path(delete, path = "/api/secrets/{secretId}/versions/{version}", tag = TAG,
    operation_id = "deleteSecretVersion",
    params(
        ("version" = i32, Path, description = "The number of the version."),
    ),
    responses((status = 200, description = "It is deleted.", body = Done)))]
async fn delete_version(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let kind = "version of this secret";
                let version = rq.param("version", kind)?.parse::<i32>();
                let version = version.map_err(|_malformed| Problem::missing(kind))?;
                Ok((rq.id("secretId")?, version))
            },
            |tx, ctx, (id, version)| secrets::delete_version(tx, ctx, *id, *version),
            |()| Reply::ok(Done::OK),
        )
        .await
}

/// Who uses a secret: agents that refer to it, and runs that were given it.
#[utoipa::path(get, path = "/api/secrets/{secretId}/usage", tag = TAG,
    operation_id = "getSecretUsage",
    responses((status = 200, description = "Its use.", body = UsageBody)))]
async fn usage(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("secretId"),
            |reads, ctx, id| secrets::usage(reads, ctx, *id),
            |usage| Reply::ok(UsageBody::from(usage)),
        )
        .await
}
