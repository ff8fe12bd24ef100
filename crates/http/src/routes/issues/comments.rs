use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::issues::{self, AddComment};
use workforce_app::mentions::Commented;
use workforce_domain::issue::Comment;
use workforce_domain::page::Order;
use workforce_domain::port::CommentCursor;

use super::super::issue_ref;
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
        .add(__path_add, Access::Anyone, issues::ADD_COMMENT, add)
}

/// Comments on an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/comments", tag = TAG,
    operation_id = "listIssueComments",
    params(
        ("order" = Option<String>, Query,
            description = "`asc` for the oldest first, `desc` for the newest first."),
        Paging,
    ),
    responses((status = 200, description = "The comments.", body = Vec<Comment>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, order(rq)?, rq.page::<CommentCursor>()?)),
            |reads, ctx, (issue, order, page)| issues::comments(reads, ctx, issue, *order, page),
            Reply::<Vec<Comment>>::page,
        )
        .await
}

fn order(rq: &Request) -> Result<Order, Problem> {
    match rq.query()?.text("order")? {
        None | Some("desc") => Ok(Order::Descending),
        Some("asc") => Ok(Order::Ascending),
        Some(_) => Err(fault("order", "must be asc or desc")),
    }
}

/// Comments on an issue.
#[utoipa::path(post, path = "/api/issues/{issueId}/comments", tag = TAG,
    operation_id = "addIssueComment",
    request_body = AddComment,
    responses((status = 201, description = "The comment.", body = Commented<Comment>)))]
async fn add(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json::<AddComment>()?)),
            |tx, ctx, (issue, command)| issues::add_comment(tx, ctx, issue, command.clone()),
            Reply::created,
        )
        .await
}
