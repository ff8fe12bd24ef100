use actix_web::HttpResponse;
use workforce_app::{Codes, companies};
use workforce_domain::id::CompanyId;

use super::{CompanyView, TAG};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::routes::Done;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_pause, Access::Board, companies::SWITCH, pause)
        .add(__path_resume, Access::Board, companies::SWITCH, resume)
        .add(__path_archive, Access::Board, Codes::NONE, archive)
        .add(__path_unarchive, Access::Board, Codes::NONE, unarchive)
        .add(__path_delete, Access::Board, companies::DELETE, delete)
}

/// Stops all work of a company. Its wakes are cancelled, its runs asked to
/// stop, and its agents can change nothing until it is resumed.
#[utoipa::path(post, path = "/api/companies/{companyId}/pause", tag = TAG,
    operation_id = "pauseCompany",
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn pause(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("companyId")
            },
            |tx, ctx, id| companies::pause(tx, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Lets a paused company work again, as far as its budget does.
#[utoipa::path(post, path = "/api/companies/{companyId}/resume", tag = TAG,
    operation_id = "resumeCompany",
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn resume(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("companyId")
            },
            |tx, ctx, id| companies::resume(tx, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Archives a company: nothing of it starts again, and it no longer shows in
/// lists.
#[utoipa::path(post, path = "/api/companies/{companyId}/archive", tag = TAG,
    operation_id = "archiveCompany",
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn archive(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("companyId")
            },
            |tx, ctx, id| companies::archive(tx, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Takes a company out of the archive. Nobody is woken for what lay there.
#[utoipa::path(post, path = "/api/companies/{companyId}/unarchive", tag = TAG,
    operation_id = "unarchiveCompany",
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn unarchive(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("companyId")
            },
            |tx, ctx, id| companies::unarchive(tx, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Deletes an archived company for good, with everything it has.
#[utoipa::path(delete, path = "/api/companies/{companyId}", tag = TAG,
    operation_id = "deleteCompany",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write_with_side_effect(
            |rq| rq.id::<CompanyId>("companyId"),
            |_reads, _call, _id| Ok(()),
            |_state, _id, ()| Ok(()),
            |tx, ctx, id, ()| companies::delete(tx, ctx, *id),
            |state, id, ()| {
                if let Err(error) = state.ports.logs.delete(*id) {
                    tracing::warn!(%error, cause = ?error, company = %id, "logs of a deleted company are still there");
                }
                Reply::ok(Done::OK)
            },
        )
        .await
}
