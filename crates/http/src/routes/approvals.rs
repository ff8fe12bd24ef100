mod actions;
mod bodies;
mod comments;
mod hires;

use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::approvals::{self, SubmitApproval};
use workforce_domain::Document;
use workforce_domain::approval::ApprovalType;
use workforce_domain::id::{AgentId, ApprovalId};
use workforce_domain::port::{ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor};

use super::issue_ref;
use super::issues::IssueBody;
use crate::paging::Paging;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::schema;
use bodies::{ApprovalBody, ApprovalHistoryBody};

const TAG: &str = "Approvals";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, approvals::SUBMIT, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_history, Access::Anyone, Codes::NONE, history)
        .add(__path_issues, Access::Anyone, Codes::NONE, issues)
        .add(__path_of_issue, Access::Anyone, Codes::NONE, of_issue);
    hires::register(comments::register(actions::register(endpoints)))
}

/// Approvals of a company, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/approvals", tag = TAG,
    operation_id = "listApprovals",
    params(
        ("companyId" = schema::Id, Path, description = "The company."),
        ("status" = Option<String>, Query,
            description = "Statuses, separated by commas; `resubmitted` for those that wait for \
                the board once more."),
        ("type" = Option<String>, Query, description = "Types, separated by commas."),
        Paging,
    ),
    responses((status = 200, description = "The approvals.", body = Vec<ApprovalBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let query = rq.query()?;
                let filter = ApprovalFilter {
                    standings: query.words("status")?,
                    types: query.words("type")?,
                };
                Ok((rq.id("companyId")?, filter, rq.page::<ApprovalCursor>()?))
            },
            |reads, ctx, (company, filter, page)| {
                approvals::list(reads, ctx, *company, filter, page)
            },
            Reply::<Vec<ApprovalBody>>::page,
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SubmitApprovalBody {
    /// What the board is asked to agree to.
    #[serde(rename = "type")]
    #[schema(value_type = schema::ApprovalType)]
    kind: ApprovalType,
    /// For whom the board asks. An agent asks for itself, and may leave it out.
    #[schema(value_type = Option<schema::Id>)]
    requested_by_agent_id: Option<AgentId>,
    /// What it is about, by its type; at most 64 KiB of JSON. `issueId` names
    /// the issue that it is about in the first place.
    #[schema(value_type = Option<schema::Document>)]
    payload: Option<Document>,
    /// Further issues, by id or identifier.
    issue_ids: Option<Vec<String>>,
}

impl SubmitApprovalBody {
    fn command(self) -> SubmitApproval {
        SubmitApproval {
            kind: self.kind,
            requested_by: self.requested_by_agent_id,
            payload: self.payload.unwrap_or_default(),
            issues: self.issue_ids.unwrap_or_default(),
        }
    }
}

/// Asks the board for an approval. While one of the same type about the same
/// issue is undecided, that one is answered, with 200.
#[utoipa::path(post, path = "/api/companies/{companyId}/approvals", tag = TAG,
    operation_id = "createApproval",
    params(("companyId" = schema::Id, Path, description = "The company.")),
    request_body = SubmitApprovalBody,
    responses(
        (status = 201, description = "The approval.", body = ApprovalBody),
        (status = 200, description = "The approval that is undecided already.",
            body = ApprovalBody),
    ))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    rq.json::<SubmitApprovalBody>()?.command(),
                ))
            },
            |tx, ctx, (company, command)| approvals::submit(tx, ctx, *company, command.clone()),
            |filed| {
                let existing = filed.existing;
                let body = ApprovalBody::from(filed.view);
                if existing {
                    Reply::ok(body)
                } else {
                    Reply::created(body)
                }
            },
        )
        .await
}

/// One approval with its history.
#[utoipa::path(get, path = "/api/approvals/{approvalId}", tag = TAG,
    operation_id = "getApproval",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("approvalId"),
            |reads, ctx, id| approvals::get(reads, ctx, *id),
            |view| Reply::ok(ApprovalBody::from(view)),
        )
        .await
}

/// What happened to an approval, oldest first, with every payload that was
/// submitted.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/history", tag = TAG,
    operation_id = "listApprovalHistory",
    params(("approvalId" = schema::Id, Path, description = "The approval."), Paging),
    responses((status = 200, description = "The history.", body = Vec<ApprovalHistoryBody>)))]
async fn history(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("approvalId")?, rq.page::<ApprovalHistoryCursor>()?)),
            |reads, ctx, (id, page)| approvals::history(reads, ctx, *id, page),
            Reply::<Vec<ApprovalHistoryBody>>::page,
        )
        .await
}

/// The issues that an approval is linked to, the one it is about first.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/issues", tag = TAG,
    operation_id = "listApprovalIssues",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    responses((status = 200, description = "The issues.", body = Vec<IssueBody>)))]
async fn issues(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("approvalId"),
            |reads, ctx, id| approvals::issues(reads, ctx, *id),
            |views| Reply::ok(views.into_iter().map(IssueBody::from).collect::<Vec<_>>()),
        )
        .await
}

/// Approvals that are linked to an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/approvals", tag = TAG,
    operation_id = "listIssueApprovals",
    params(
        ("issueId" = String, Path, description = "The issue, by id or identifier."),
        Paging,
    ),
    responses((status = 200, description = "The approvals.", body = Vec<ApprovalBody>)))]
async fn of_issue(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<ApprovalId>()?)),
            |reads, ctx, (issue, page)| approvals::of_issue(reads, ctx, issue, page),
            Reply::<Vec<ApprovalBody>>::page,
        )
        .await
}
