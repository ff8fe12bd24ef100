use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
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
use crate::schema;
use crate::wire::non_null;

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
    #[schema(value_type = schema::Id)]
    pub(super) id: LabelId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// Its name; names of a company differ in more than case.
    #[schema(value_type = schema::LabelName)]
    name: LabelName,
    /// Colour of its badge.
    #[schema(value_type = schema::Color)]
    color: Color,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = schema::Timestamp)]
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
    params(("companyId" = schema::Id, Path, description = "The company."), Paging),
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

#[derive(Deserialize, ToSchema)]
struct CreateLabelBody {
    /// Its name.
    #[schema(value_type = schema::LabelName)]
    name: LabelName,
    /// Colour of its badge.
    #[schema(value_type = schema::Color)]
    color: Color,
}

impl CreateLabelBody {
    fn command(self) -> CreateLabel {
        CreateLabel {
            name: self.name,
            color: self.color,
        }
    }
}

/// Makes a label. For the board, the ceo, and agents to whom others report.
#[utoipa::path(post, path = "/api/companies/{companyId}/labels", tag = TAG,
    operation_id = "createLabel",
    params(("companyId" = schema::Id, Path, description = "The company.")),
    request_body = CreateLabelBody,
    responses((status = 201, description = "The label.", body = LabelBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateLabelBody>()?.command())),
            |tx, ctx, (company, command)| labels::create(tx, ctx, *company, command.clone()),
            |label| Reply::created(LabelBody::from(label)),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
struct UpdateLabelBody {
    /// Its name.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::LabelName)]
    name: Option<LabelName>,
    /// Colour of its badge.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Color)]
    color: Option<Color>,
}

impl UpdateLabelBody {
    fn command(self) -> UpdateLabel {
        UpdateLabel {
            name: self.name,
            color: self.color,
        }
    }
}

/// Changes a label. For whoever may make one.
#[utoipa::path(patch, path = "/api/labels/{labelId}", tag = TAG, operation_id = "updateLabel",
    params(("labelId" = schema::Id, Path, description = "The label.")),
    request_body = UpdateLabelBody,
    responses((status = 200, description = "The label.", body = LabelBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("labelId")?, rq.json::<UpdateLabelBody>()?.command())),
            |tx, ctx, (id, command)| labels::update(tx, ctx, *id, command.clone()),
            |label| Reply::ok(LabelBody::from(label)),
        )
        .await
}

/// Deletes a label and takes it off every issue. For whoever may make one.
#[utoipa::path(delete, path = "/api/labels/{labelId}", tag = TAG, operation_id = "deleteLabel",
    params(("labelId" = schema::Id, Path, description = "The label.")),
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
