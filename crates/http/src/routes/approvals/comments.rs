use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::mentions::Commented;
use workforce_app::{Codes, approvals};
use workforce_domain::approval::ApprovalComment;
use workforce_domain::page::Order;
use workforce_domain::port::ApprovalCommentCursor;
use workforce_domain::text::CommentBody;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_add, Access::Anyone, Codes::NONE, add)
}

/// Comments on an approval, oldest first.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/comments", tag = TAG,
    operation_id = "listApprovalComments",
    params(
        ("order" = Option<String>, Query,
            description = "`asc` for the oldest first, `desc` for the newest first."),
        Paging,
    ),
    responses((status = 200, description = "The comments.", body = Vec<ApprovalComment>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let page = rq.page::<ApprovalCommentCursor>()?;
                Ok((rq.id("approvalId")?, order(rq)?, page))
            },
            |reads, ctx, (id, order, page)| approvals::comments(reads, ctx, *id, *order, page),
            Reply::<Vec<ApprovalComment>>::page,
        )
        .await
}

fn order(rq: &Request) -> Result<Order, Problem> {
    match rq.query()?.text("order")? {
        None | Some("asc") => Ok(Order::Ascending),
        Some("desc") => Ok(Order::Descending),
        Some(_) => Err(fault("order", "must be asc or desc")),
    }
}

#[derive(Deserialize, ToSchema)]
struct AddApprovalCommentBody {
    /// What it says, in Markdown. `@name` mentions an agent and wakes it.
    body: CommentBody,
}

/// Comments on an approval.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/comments", tag = TAG,
    operation_id = "addApprovalComment",
    request_body = AddApprovalCommentBody,
    responses((status = 201, description = "The comment.",
        body = Commented<ApprovalComment>)))]
async fn add(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let body = rq.json::<AddApprovalCommentBody>()?.body;
                Ok((rq.id("approvalId")?, body))
            },
            |tx, ctx, (id, body)| approvals::add_comment(tx, ctx, *id, body.clone()),
            Reply::created,
        )
        .await
}
