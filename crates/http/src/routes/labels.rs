use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::labels::{self, CreateLabel, UpdateLabel};
use workforce_domain::label::IssueLabel;
use workforce_domain::port::LabelCursor;

use super::Done;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;

const TAG: &str = "Labels";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Manager, labels::NAME, create)
        .add(__path_update, Access::Manager, labels::NAME, update)
        .add(__path_delete, Access::Manager, Codes::NONE, delete)
}

/// Labels of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/labels", tag = TAG,
    operation_id = "listLabels",
    params(Paging),
    responses((status = 200, description = "The labels.", body = Vec<IssueLabel>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<LabelCursor>()?)),
            |reads, ctx, (company, page)| labels::list(reads, ctx, *company, page),
            Reply::<Vec<IssueLabel>>::page,
        )
        .await
}

/// Makes a label. For the board, the ceo, and agents to whom others report.
#[utoipa::path(post, path = "/api/companies/{companyId}/labels", tag = TAG,
    operation_id = "createLabel",
    request_body = CreateLabel,
    responses((status = 201, description = "The label.", body = IssueLabel)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateLabel>()?)),
            |tx, ctx, (company, command)| labels::create(tx, ctx, *company, command.clone()),
            Reply::created,
        )
        .await
}

/// Changes a label. For whoever may make one.
#[utoipa::path(patch, path = "/api/labels/{labelId}", tag = TAG, operation_id = "updateLabel",
    request_body = UpdateLabel,
    responses((status = 200, description = "The label.", body = IssueLabel)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("labelId")?, rq.json::<UpdateLabel>()?)),
            |tx, ctx, (id, command)| labels::update(tx, ctx, *id, command.clone()),
            Reply::ok,
        )
        .await
}

/// Deletes a label and takes it off every issue. For whoever may make one.
#[utoipa::path(delete, path = "/api/labels/{labelId}", tag = TAG, operation_id = "deleteLabel",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("labelId"),
            |tx, ctx, id| labels::delete(tx, ctx, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}
