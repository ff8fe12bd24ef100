use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Call;
use workforce_app::approvals::{self, ApprovalError, ApprovalView, Decide};
use workforce_domain::Document;
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::text::DecisionNote;

use super::TAG;
use super::bodies::ApprovalBody;
use crate::exchange::Exchange;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_approve, Access::Board, approvals::DECIDE, approve)
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

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DecisionBody {
    /// Why, or what the board adds; whoever asked is told.
    #[schema(value_type = Option<schema::DecisionNote>)]
    decision_note: Option<DecisionNote>,
    /// Approves a plan even where the state of the source repository would
    /// forbid it. Recorded, and without effect on other decisions.
    force: Option<bool>,
}

type Decision =
    fn(&mut dyn Tx, &Call<'_>, ApprovalId, Decide) -> Result<ApprovalView, Failure<ApprovalError>>;

async fn decide(exchange: Exchange, decision: Decision) -> HttpResponse {
    exchange
        .write(
            |rq| {
                let body = rq.json::<DecisionBody>()?;
                let command = Decide {
                    note: body.decision_note,
                    force: body.force.unwrap_or(false),
                };
                Ok((rq.id("approvalId")?, command))
            },
            move |tx, call, (id, command)| decision(tx, call, *id, command.clone()),
            |view| Reply::ok(ApprovalBody::from(view)),
        )
        .await
}

/// Agrees to an approval. It is decided exactly once: of two decisions at the
/// same time one is refused as `approval_not_pending`.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/approve", tag = TAG,
    operation_id = "approveApproval",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    request_body = Option<DecisionBody>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn approve(exchange: Exchange) -> HttpResponse {
    decide(exchange, approvals::approve).await
}

/// Refuses what an approval asks for.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/reject", tag = TAG,
    operation_id = "rejectApproval",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    request_body = Option<DecisionBody>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn reject(exchange: Exchange) -> HttpResponse {
    decide(exchange, approvals::reject).await
}

/// Asks for a change of what an approval is about.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/request-revision", tag = TAG,
    operation_id = "requestApprovalRevision",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    request_body = Option<DecisionBody>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn request_revision(exchange: Exchange) -> HttpResponse {
    decide(exchange, approvals::request_revision).await
}

#[derive(Deserialize, ToSchema)]
struct ResubmitBody {
    /// What it is about now; the present payload stays when left out.
    #[schema(value_type = Option<schema::Document>)]
    payload: Option<Document>,
}

/// Sends an approval again after the board asked for a change. Whoever asked
/// for it may, and the board.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/resubmit", tag = TAG,
    operation_id = "resubmitApproval",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    request_body = Option<ResubmitBody>,
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn resubmit(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| Ok((rq.id("approvalId")?, rq.json::<ResubmitBody>()?.payload)),
            |tx, call, (id, payload)| approvals::resubmit(tx, call, *id, payload.clone()),
            |view| Reply::ok(ApprovalBody::from(view)),
        )
        .await
}

/// Withdraws an approval: whoever asked for it, or the board.
#[utoipa::path(post, path = "/api/approvals/{approvalId}/cancel", tag = TAG,
    operation_id = "cancelApproval",
    params(("approvalId" = schema::Id, Path, description = "The approval.")),
    responses((status = 200, description = "The approval.", body = ApprovalBody)))]
async fn cancel(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("approvalId")
            },
            |tx, call, id| approvals::cancel(tx, call, *id),
            |view| Reply::ok(ApprovalBody::from(view)),
        )
        .await
}
