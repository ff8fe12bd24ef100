use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::{Codes, approvals};
use workforce_domain::actor::ActorKind;
use workforce_domain::approval::ApprovalComment;
use workforce_domain::id::{AgentId, ApprovalCommentId, ApprovalId, CompanyId, RunId, UserId};
use workforce_domain::page::Order;
use workforce_domain::port::ApprovalCommentCursor;
use workforce_domain::text::CommentBody;
use workforce_domain::time::Timestamp;

use super::TAG;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::fault;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_add, Access::Anyone, Codes::NONE, add)
}

/// A comment on an approval.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalComment)]
struct ApprovalCommentBody {
    /// Unique id.
    id: ApprovalCommentId,
    /// Its company.
    company_id: CompanyId,
    /// The approval.
    approval_id: ApprovalId,
    /// What kind of actor wrote it.
    author_type: ActorKind,
    /// Who wrote it: the agent's id, `system`, or of the board `local-board`,
    /// `start-token`, `token:ID` or a user's id.
    author_id: String,
    /// The agent that wrote it.
    author_agent_id: Option<AgentId>,
    /// The person that wrote it.
    author_user_id: Option<UserId>,
    /// The run it was written in.
    created_by_run_id: Option<RunId>,
    /// What it says, in Markdown.
    body: CommentBody,
    /// The agents it mentions.
    mentions: Vec<AgentId>,
    /// When it was written.
    created_at: Timestamp,
    /// The same instant: comments do not change.
    updated_at: Timestamp,
}

impl From<ApprovalComment> for ApprovalCommentBody {
    fn from(comment: ApprovalComment) -> Self {
        Self {
            id: comment.id,
            company_id: comment.company,
            approval_id: comment.approval,
            author_type: comment.author.kind(),
            author_id: comment.author.name(),
            author_agent_id: comment.author.agent(),
            author_user_id: comment.author.user(),
            created_by_run_id: comment.run,
            body: comment.body,
            mentions: comment.mentions,
            created_at: comment.created_at,
            updated_at: comment.created_at,
        }
    }
}

/// Comments on an approval, oldest first.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/comments", tag = TAG,
    operation_id = "listApprovalComments",
    params(
        ("order" = Option<String>, Query,
            description = "`asc` for the oldest first, `desc` for the newest first."),
        Paging,
    ),
    responses((status = 200, description = "The comments.", body = Vec<ApprovalCommentBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let page = rq.page::<ApprovalCommentCursor>()?;
                Ok((rq.id("approvalId")?, order(rq)?, page))
            },
            |reads, ctx, (id, order, page)| approvals::comments(reads, ctx, *id, *order, page),
            Reply::<Vec<ApprovalCommentBody>>::page,
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
    responses((status = 201, description = "The comment.", body = ApprovalCommentBody)))]
async fn add(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let body = rq.json::<AddApprovalCommentBody>()?.body;
                Ok((rq.id("approvalId")?, body))
            },
            |tx, ctx, (id, body)| approvals::add_comment(tx, ctx, *id, body.clone()),
            |comment| Reply::created(ApprovalCommentBody::from(comment)),
        )
        .await
}
