use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use workforce_app::Context;
use workforce_app::approvals::{self, ApprovalError, ApprovalView, Decide, execution};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::port::{CarryOutError, Failure, Tx};

use super::bodies::ApprovalBody;
use super::{TAG, answer};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::request_context::{Request, RequestContext};
use crate::state::State;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_approve, Access::Board, execution::BEGIN, approve)
        .add(__path_reject, Access::Board, approvals::DECIDE, reject)
        .add(
            __path_request_revision,
            Access::Board,
            approvals::DECIDE,
            request_revision,
        )
        .add(
            __path_resubmit,
            Access::Requester,
            approvals::RESUBMIT,
            resubmit,
        )
        .add(__path_cancel, Access::Requester, approvals::CANCEL, cancel)
}

type Decision = fn(
    &mut dyn Tx,
    &Context<'_>,
    ApprovalId,
    Decide,
) -> Result<ApprovalView, Failure<ApprovalError>>;

async fn decide(rqctx: RequestContext, decision: Decision) -> HttpResponse {
    rqctx
        .write(
            decision_of,
            move |tx, ctx, (id, command)| decision(tx, ctx, *id, command.clone()),
            answer,
        )
        .await
}

fn decision_of(rq: &Request) -> Result<(ApprovalId, Decide), Problem> {
    let decide = Decide {
        seen: rq.if_match()?,
        ..rq.json::<Decide>()?
    };
    Ok((rq.id("approvalId")?, decide))
}

/// Agrees to an approval. It is decided exactly once: of two decisions at the
/// same time one is refused as `approval_not_pending`. What it asks for outside of
/// the store, such as a worktree, is done first. If that fails, the approval stays
/// undecided, and approving it again goes on where it failed. With `If-Match` nothing is
/// pushed but the work that the approval shows.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/approve", tag = TAG,
    operation_id = "approveApproval",
    params(
        ("If-Match" = Option<String>, Header,
            description = "The ETag of the approval as the caller has seen it."),
    ),
    request_body = Option<Decide>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn approve(rqctx: RequestContext) -> HttpResponse {
    let planned = rqctx
        .plan(decision_of, |reads, ctx, (id, command)| {
            let executed = execution::is_executed(reads, ctx, *id)?;
            Ok::<_, Failure<ApprovalError>>(executed.map(|it| (it, command.agreed_work())))
        })
        .await;
    let (rqctx, approval, agreed) = match planned {
        Ok((rqctx, Some((approval, agreed)))) => (rqctx, approval, agreed),
        Ok((rqctx, None)) => return decide(rqctx, approvals::approve).await,
        Err(answer) => return answer,
    };
    let begun = rqctx
        .write_part(decision_of, |tx, ctx, (id, command)| {
            execution::begin(tx, ctx, *id, command.clone())
        })
        .await;
    let rqctx = match begun {
        Ok((rqctx, ())) => rqctx,
        Err(answer) => return answer,
    };
    let governed = &rqctx.state.ports.governed;
    let carried_out = governed.carry_out(approval.scope(), approval.id, agreed);
    let carried_out = carried_out.await;
    let is_overtaken = matches!(carried_out, Err(CarryOutError::Overtaken));
    if let Err(error) = carried_out
        && !is_overtaken
    {
        return rqctx.refuse(Problem::not_carried_out(error));
    }
    rqctx
        .write(
            decision_of,
            move |tx, ctx, (id, _)| match is_overtaken {
                true => execution::overtaken(tx.reads(), ctx, *id),
                false => execution::executed(tx.reads(), ctx, *id),
            },
            answer,
        )
        .await
}

/// Refuses what an approval asks for.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/reject", tag = TAG,
    operation_id = "rejectApproval",
    params(
        ("If-Match" = Option<String>, Header,
            description = "The ETag of the approval as the caller has seen it."),
    ),
    request_body = Option<Decide>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn reject(rqctx: RequestContext) -> HttpResponse {
    decide(rqctx, approvals::reject).await
}

/// Asks for a change of what an approval is about.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/request-revision", tag = TAG,
    operation_id = "requestApprovalRevision",
    params(
        ("If-Match" = Option<String>, Header,
            description = "The ETag of the approval as the caller has seen it."),
    ),
    request_body = Option<Decide>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn request_revision(rqctx: RequestContext) -> HttpResponse {
    decide(rqctx, approvals::request_revision).await
}

#[derive(Deserialize, ToSchema)]
struct ResubmitBody {
    /// What it is about now; the present payload stays when left out.
    payload: Option<Document>,
}

/// Sends an approval again after the board asked for a change. Whoever asked
/// for it may, and the board.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/resubmit", tag = TAG,
    operation_id = "resubmitApproval",
    request_body = Option<ResubmitBody>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn resubmit(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| Ok((rq.id("approvalId")?, rq.json::<ResubmitBody>()?.payload));
    let planned = rqctx
        .plan(parse, |reads, ctx, (id, _)| {
            approvals::resubmitted_issue(reads, ctx, *id)
        })
        .await;
    let (rqctx, pushed) = match planned {
        Ok(planned) => planned,
        Err(answer) => return answer,
    };
    let mut work = None;
    if let Some(issue) = pushed {
        match work_to_show(&rqctx.state, issue.scope(), issue.id).await {
            Ok(shown) => work = shown,
            Err(problem) => return rqctx.refuse(problem),
        }
    }
    rqctx
        .write(
            parse,
            move |tx, ctx, (id, payload)| {
                approvals::resubmit(tx, ctx, *id, payload.clone(), work.as_deref())
            },
            answer,
        )
        .await
}

/// Brings the work of an issue together before it is shown to the board again: what there is to be
/// shown, or `None` where that is not known now.
///
/// # Errors
/// The store failed.
pub(crate) async fn work_to_show(
    state: &State,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<Vec<Value>>, Problem> {
    match state.ports.governed.sync(company, issue).await {
        Ok(shown) => Ok(Some(shown)),
        // Its agent was told, and says when it is done.
        Err(CarryOutError::Step(failure)) if failure.fault.is_for_agent() => Ok(Some(Vec::new())),
        // As while its agent works.
        Err(CarryOutError::Step(_) | CarryOutError::Overtaken) => Ok(None),
        Err(error @ CarryOutError::Store(_)) => Err(Problem::not_carried_out(error)),
    }
}

/// Withdraws an approval: whoever asked for it, or the board.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/cancel", tag = TAG,
    operation_id = "cancelApproval",
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn cancel(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("approvalId")
            },
            |tx, ctx, id| approvals::cancel(tx, ctx, *id),
            answer,
        )
        .await
}
