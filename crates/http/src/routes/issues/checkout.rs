use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::issues::{self, CheckOut, IssueView};
use workforce_domain::id::AgentId;
use workforce_domain::issue::IssueStatus;

use super::super::issue_ref;
use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(
            __path_check_out,
            Access::Itself,
            issues::CHECK_OUT,
            check_out,
        )
        .add(__path_release, Access::Anyone, issues::RELEASE, release)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CheckOutBody {
    /// The agent that is to own it; the caller itself when left out.
    agent_id: Option<AgentId>,
    /// The statuses to check out from; `todo`, `backlog` and `blocked` when
    /// left out.
    #[schema(min_items = 1)]
    expected_statuses: Option<Vec<IssueStatus>>,
}

impl CheckOutBody {
    fn command(self) -> Result<CheckOut, Problem> {
        if self.expected_statuses.as_ref().is_some_and(Vec::is_empty) {
            let message = "must name at least one status";
            return Err(Problem::at(Code::InvalidJson, "/expectedStatuses", message));
        }
        Ok(CheckOut {
            agent: self.agent_id,
            expected: self.expected_statuses,
        })
    }
}

/// Assigns an issue to an agent and moves it to in_progress. Both are one step
/// that only one caller wins. For the agent that owns it already this succeeds.
/// Never repeat a 409.
#[utoipa::path(post, path = "/api/issues/{issueId}/checkout", tag = TAG,
    operation_id = "checkOutIssue",
    request_body = Option<CheckOutBody>,
    responses((status = 200, description = "The issue.", body = IssueView)))]
async fn check_out(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json::<CheckOutBody>()?.command()?)),
            |tx, ctx, (issue, command)| issues::check_out(tx, ctx, issue, command.clone()),
            Reply::ok,
        )
        .await
}

/// Gives an issue back. From in_progress it returns to todo and to nobody, in
/// any other status only the hold on it ends.
#[utoipa::path(post, path = "/api/issues/{issueId}/release", tag = TAG,
    operation_id = "releaseIssue",
    responses((status = 200, description = "The issue.", body = IssueView)))]
async fn release(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                issue_ref(rq)
            },
            |tx, ctx, issue| issues::release(tx, ctx, issue),
            Reply::ok,
        )
        .await
}
