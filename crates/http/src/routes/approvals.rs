mod actions;
mod bodies;
mod comments;
mod hires;

use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::approvals::{self, FileApproval};
use workforce_domain::Document;
use workforce_domain::approval::ApprovalType;
use workforce_domain::id::{AgentId, ApprovalId};
use workforce_domain::port::{ApprovalFilter, ApprovalHistoryKey, ApprovalKey};

use super::issue_ref;
use super::issues::IssueBody;
use crate::exchange::Exchange;
use crate::paging::Paging;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;
use bodies::{ApprovalBody, ApprovalHistoryBody};

const TAG: &str = "Approvals";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, approvals::FILE, create)
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
async fn list(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| {
                let query = rq.query()?;
                let filter = ApprovalFilter {
                    standings: query.words("status")?,
                    types: query.words("type")?,
                };
                Ok((rq.id("companyId")?, filter, rq.page::<ApprovalKey>()?))
            },
            |reads, call, (company, filter, page)| {
                approvals::list(reads, call, *company, filter, page)
            },
            Reply::<Vec<ApprovalBody>>::page,
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FileApprovalBody {
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

impl FileApprovalBody {
    fn command(self) -> FileApproval {
        FileApproval {
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
    request_body = FileApprovalBody,
    responses(
        (status = 201, description = "The approval.", body = ApprovalBody),
        (status = 200, description = "The approval that is undecided already.",
            body = ApprovalBody),
    ))]
async fn create(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    rq.json::<FileApprovalBody>()?.command(),
                ))
            },
            |tx, call, (company, command)| approvals::file(tx, call, *company, command.clone()),
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
async fn get(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("approvalId"),
            |reads, call, id| approvals::get(reads, call, *id),
            |view| Reply::ok(ApprovalBody::from(view)),
        )
        .await
}

/// What happened to an approval, oldest first. Every payload that was submitted
/// is told.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/history", tag = TAG,
    operation_id = "listApprovalHistory",
    params(("approvalId" = schema::Id, Path, description = "The approval."), Paging),
    responses((status = 200, description = "The history.", body = Vec<ApprovalHistoryBody>)))]
async fn history(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| Ok((rq.id("approvalId")?, rq.page::<ApprovalHistoryKey>()?)),
            |reads, call, (id, page)| approvals::history(reads, call, *id, page),
            Reply::<Vec<ApprovalHistoryBody>>::page,
        )
        .await
}

/// The issues that an approval is linked to, the one it is about first.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/issues", tag = TAG,
    operation_id = "listApprovalIssues",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    responses((status = 200, description = "The issues.", body = Vec<IssueBody>)))]
async fn issues(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("approvalId"),
            |reads, call, id| approvals::issues(reads, call, *id),
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
async fn of_issue(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<ApprovalId>()?)),
            |reads, call, (issue, page)| approvals::of_issue(reads, call, issue, page),
            Reply::<Vec<ApprovalBody>>::page,
        )
        .await
}
