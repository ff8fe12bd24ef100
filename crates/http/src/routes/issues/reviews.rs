use actix_web::HttpResponse;
use workforce_app::issues::{self, SubmitReview, SubmittedReview};

use super::super::issue_ref;
use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_submit, Access::Anyone, issues::SUBMIT_REVIEW, submit)
}

/// Reviews an issue, with remarks on lines of files.
///
/// `approved` and `changes_requested` are for whoever may change the issue, and move it as a
/// PATCH with `done` and `in_progress` does; it must be in review. `commented` is for anyone of
/// the company. Each agent that is concerned is woken once, with all that the review tells it.
#[utoipa::path(post, path = "/api/issues/{issueId}/reviews", tag = TAG,
    operation_id = "submitIssueReview",
    request_body = SubmitReview,
    responses((status = 201, description = "The review.", body = SubmittedReview)))]
async fn submit(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json::<SubmitReview>()?)),
            |tx, ctx, (issue, command)| issues::submit_review(tx, ctx, issue, command.clone()),
            Reply::created,
        )
        .await
}
