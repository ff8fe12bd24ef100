use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::labels::{self, CreateLabel, UpdateLabel};
use workforce_domain::id::{CompanyId, LabelId};
use workforce_domain::label::IssueLabel;
use workforce_domain::port::LabelCursor;
use workforce_domain::text::{Color, LabelName};
use workforce_domain::time::Timestamp;

use super::Done;
use crate::paging::Paging;
use crate::registry::{Access, Endpoints};
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

/// A label of a company's issues.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IssueLabel)]
pub(super) struct LabelBody {
    /// Unique id.
    pub(super) id: LabelId,
    /// Its company.
    company_id: CompanyId,
    /// Its name; names of a company differ in more than case.
    name: LabelName,
    /// Colour of its badge.
    color: Color,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl From<IssueLabel> for LabelBody {
    fn from(label: IssueLabel) -> Self {
        Self {
            id: label.id,
            company_id: label.company,
            name: label.name,
            color: label.color,
            created_at: label.created_at,
            updated_at: label.updated_at,
        }
    }
}

/// Labels of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/labels", tag = TAG,
    operation_id = "listLabels",
    params(Paging),
    responses((status = 200, description = "The labels.", body = Vec<LabelBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<LabelCursor>()?)),
            |reads, ctx, (company, page)| labels::list(reads, ctx, *company, page),
            Reply::<Vec<LabelBody>>::page,
        )
        .await
}

/// Makes a label. For the board, the ceo, and agents to whom others report.
#[utoipa::path(post, path = "/api/companies/{companyId}/labels", tag = TAG,
    operation_id = "createLabel",
    request_body = CreateLabel,
    responses((status = 201, description = "The label.", body = LabelBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateLabel>()?)),
            |tx, ctx, (company, command)| labels::create(tx, ctx, *company, command.clone()),
            |label| Reply::created(LabelBody::from(label)),
        )
        .await
}

/// Changes a label. For whoever may make one.
#[utoipa::path(patch, path = "/api/labels/{labelId}", tag = TAG, operation_id = "updateLabel",
    request_body = UpdateLabel,
    responses((status = 200, description = "The label.", body = LabelBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("labelId")?, rq.json::<UpdateLabel>()?)),
            |tx, ctx, (id, command)| labels::update(tx, ctx, *id, command.clone()),
            |label| Reply::ok(LabelBody::from(label)),
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
