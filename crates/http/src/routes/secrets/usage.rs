use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::secrets::{self, SecretUsage};
use workforce_domain::port::VersionInfo;

use super::super::Done;
use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
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

/// The versions of a secret, newest first, without their values.
#[utoipa::path(get, path = "/api/secrets/{secretId}/versions", tag = TAG,
    operation_id = "listSecretVersions",
    params(Paging),
    responses((status = 200, description = "The versions.", body = Vec<VersionInfo>)))]
async fn versions(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("secretId")?, rq.page::<i32>()?)),
            |reads, ctx, (id, page)| secrets::versions(reads, ctx, *id, page),
            Reply::<Vec<VersionInfo>>::page,
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
    responses((status = 200, description = "Its use.", body = SecretUsage)))]
async fn usage(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("secretId"),
            |reads, ctx, id| secrets::usage(reads, ctx, *id),
            Reply::ok,
        )
        .await
}
