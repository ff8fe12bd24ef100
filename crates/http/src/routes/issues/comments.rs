use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::issues::{self, AddComment};
use workforce_domain::actor::ActorKind;
use workforce_domain::id::{AgentId, CommentId, CompanyId, IssueId, RunId, UserId};
use workforce_domain::issue::Comment;
use workforce_domain::page::Order;
use workforce_domain::port::CommentCursor;
use workforce_domain::text::CommentBody;
use workforce_domain::time::Timestamp;

use super::super::issue_ref;
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
        .add(__path_add, Access::Anyone, issues::ADD_COMMENT, add)
}

/// A comment on an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Comment)]
pub(super) struct CommentedBody {
    /// Unique id.
    id: CommentId,
    /// Its company.
    company_id: CompanyId,
    /// The issue.
    issue_id: IssueId,
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

impl From<Comment> for CommentedBody {
    fn from(comment: Comment) -> Self {
        Self {
            id: comment.id,
            company_id: comment.company,
            issue_id: comment.issue,
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

/// Comments on an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/comments", tag = TAG,
    operation_id = "listIssueComments",
    params(
        ("order" = Option<String>, Query,
            description = "`asc` for the oldest first, `desc` for the newest first."),
        Paging,
    ),
    responses((status = 200, description = "The comments.", body = Vec<CommentedBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, order(rq)?, rq.page::<CommentCursor>()?)),
            |reads, ctx, (issue, order, page)| issues::comments(reads, ctx, issue, *order, page),
            Reply::<Vec<CommentedBody>>::page,
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
    responses((status = 201, description = "The comment.", body = CommentedBody)))]
async fn add(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json::<AddComment>()?)),
            |tx, ctx, (issue, command)| issues::add_comment(tx, ctx, issue, command.clone()),
            |comment| Reply::created(CommentedBody::from(comment)),
        )
        .await
}
