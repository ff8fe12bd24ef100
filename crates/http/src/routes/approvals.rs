mod actions;
mod bodies;
mod comments;
mod hires;

use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::approvals::{self, ApprovalView, SubmitApproval};
use workforce_app::issues::IssueView;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ApprovalHistoryEntry;
use workforce_domain::id::{ApprovalId, CompanyId};
use workforce_domain::port::{ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor};

use super::issue_ref;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::precondition;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
pub(crate) use actions::work_to_show;
use bodies::ApprovalBody;

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

/// Asks the board for an approval. While one of the same type about the same
/// issue is undecided, that one is answered, with 200.
#[utoipa::path(post, path = "/api/companies/{companyId}/approvals", tag = TAG,
    operation_id = "createApproval",
    request_body = SubmitApproval,
    responses(
        (status = 201, description = "The approval.", body = ApprovalBody),
        (status = 200, description = "The approval that is undecided already.",
            body = ApprovalBody),
    ))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| {
        Ok((
            rq.id::<CompanyId>("companyId")?,
            rq.json::<SubmitApproval>()?,
        ))
    };
    let planned = rqctx
        .plan(parse, |reads, ctx, (company, command)| {
            approvals::pushed_issue(reads, ctx, *company, command)
        })
        .await;
    let (rqctx, pushed) = match planned {
        Ok(planned) => planned,
        Err(answer) => return answer,
    };
    let mut work = Vec::new();
    if let Some(issue) = pushed {
        let governed = &rqctx.state.ports.governed;
        match governed.sync(issue.scope(), issue.id).await {
            Ok(shown) => work = shown,
            Err(error) => return rqctx.refuse(Problem::not_carried_out(error)),
        }
    }
    rqctx
        .write(
            parse,
            move |tx, ctx, (company, command)| {
                let work = work.clone();
                let command = SubmitApproval {
                    work,
                    ..command.clone()
                };
                approvals::submit(tx, ctx, *company, command)
            },
            |filed| {
                let tag = precondition::tag(filed.view.approval.revision);
                let body = ApprovalBody::from(filed.view);
                let reply = match filed.existing {
                    true => Reply::ok(body),
                    false => Reply::created(body),
                };
                reply.tagged(tag)
            },
        )
        .await
}

/// One approval with its history. An undecided plan tells what approving it would
/// find.
#[utoipa::path(get, path = "/api/approvals/{approvalId}", tag = TAG,
    operation_id = "getApproval",
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| rq.id("approvalId");
    let looked = rqctx
        .preflight(parse, |reads, ctx, id| {
            approvals::undecided_plan(reads, ctx, *id)
        })
        .await;
    let (rqctx, plan) = match looked {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    let preflight = match plan {
        None => None,
        Some(plan) => {
            let governed = &rqctx.state.ports.governed;
            match governed.preflight(plan.scope(), plan.id).await {
                Ok(found) => Some(found),
                Err(error) => return rqctx.refuse(error.into()),
            }
        }
    };
    rqctx
        .read(
            parse,
            |reads, ctx, id| approvals::get(reads, ctx, *id),
            move |view| {
                let reply = answer(view);
                Reply {
                    body: reply.body.with_preflight(preflight.clone()),
                    ..reply
                }
            },
        )
        .await
}

fn answer(view: ApprovalView) -> Reply<ApprovalBody> {
    let tag = precondition::tag(view.approval.revision);
    Reply::ok(ApprovalBody::from(view)).tagged(tag)
}

/// What happened to an approval, oldest first. Every payload that was submitted
/// is told.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/history", tag = TAG,
    operation_id = "listApprovalHistory",
    params(Paging),
    responses((status = 200, description = "The history.", body = Vec<ApprovalHistoryEntry>)))]
async fn history(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("approvalId")?, rq.page::<ApprovalHistoryCursor>()?)),
            |reads, ctx, (id, page)| approvals::history(reads, ctx, *id, page),
            Reply::<Vec<ApprovalHistoryEntry>>::page,
        )
        .await
}

/// The issues that an approval is linked to, the one it is about first.
#[utoipa::path(get, path = "/api/approvals/{approvalId}/issues", tag = TAG,
    operation_id = "listApprovalIssues",
    responses((status = 200, description = "The issues.", body = Vec<IssueView>)))]
async fn issues(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("approvalId"),
            |reads, ctx, id| approvals::issues(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Approvals that are linked to an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/approvals", tag = TAG,
    operation_id = "listIssueApprovals",
    params(
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
