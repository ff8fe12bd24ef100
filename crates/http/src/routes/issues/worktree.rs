use actix_web::HttpResponse;
use workforce_app::Failure;
use workforce_app::approvals::ApprovalError;
use workforce_app::tickets::{self, WorktreeView};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::execution_workspace::{DiffRequest, WorktreeDiff};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::issue::IssueRef;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::routes::issue_ref;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::Anyone, tickets::LOOK, get)
        .add(__path_diff, Access::Anyone, tickets::LOOK, diff)
}

type Asked = (IssueRef, Option<ExecutionWorkspaceId>);

fn asked(rq: &Request) -> Result<Asked, Problem> {
    let named = rq.query()?.id("executionWorkspaceId")?;
    Ok((issue_ref(rq)?, named))
}

/// The worktree that an issue is worked on in, and what lies there now.
#[utoipa::path(get, path = "/api/issues/{issueId}/workspace", tag = TAG,
    operation_id = "getIssueWorkspace",
    params(
        ("executionWorkspaceId" = Option<ExecutionWorkspaceId>, Query,
            description = "Another worktree of the same ticket."),
    ),
    responses((status = 200, description = "The worktree.", body = WorktreeView)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    let looked = rqctx
        .preflight(asked, |reads, ctx, (issue, named)| {
            tickets::worktree::<ApprovalError>(reads, ctx, issue, *named)
        })
        .await;
    let (rqctx, view) = match looked {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    let (company, id) = (view.record.scope(), view.record.id);
    let state = if view.is_ready() {
        match rqctx.state.ports.governed.inspect(company, id).await {
            Ok(state) => Some(state),
            Err(error) => return rqctx.refuse(Problem::not_carried_out(error)),
        }
    } else {
        None
    };
    rqctx
        .read(
            asked,
            |reads, ctx, (issue, named)| {
                tickets::worktree::<ApprovalError>(reads, ctx, issue, *named)
            },
            move |view| {
                Reply::ok(WorktreeView {
                    state: state.clone(),
                    ..view
                })
            },
        )
        .await
}

/// What the worktree of an issue changes of its base branch.
#[utoipa::path(get, path = "/api/issues/{issueId}/workspace/diff", tag = TAG,
    operation_id = "getIssueWorkspaceDiff",
    params(
        ("executionWorkspaceId" = Option<ExecutionWorkspaceId>, Query,
            description = "Another worktree of the same ticket."),
        ("committed" = Option<bool>, Query,
            description = "Whether what is not committed is left out."),
        ("limitBytes" = Option<u64>, Query, minimum = 0, maximum = 1_048_576,
            description = "The patch has at most so many bytes, 262144 when unsaid."),
    ),
    responses((status = 200, description = "The differences.", body = WorktreeDiff)))]
async fn diff(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| {
        let query = rq.query()?;
        let form = "a whole number of bytes";
        let bytes: Option<usize> = query.value("limitBytes", form)?;
        let bytes = bytes.unwrap_or(DiffRequest::USUAL_BYTES);
        if bytes > DiffRequest::MAX_BYTES {
            let most = format!("must be at most {}", DiffRequest::MAX_BYTES);
            return Err(fault("limitBytes", &most));
        }
        let request = DiffRequest {
            patch_bytes: bytes,
            committed_only: query.flag("committed", false)?,
        };
        Ok((asked(rq)?, request))
    };
    let looked = rqctx
        .preflight(parse, |reads, ctx, ((issue, named), request)| {
            let view = tickets::worktree(reads, ctx, issue, *named)?;
            Ok::<_, Failure<ApprovalError>>((view, *request))
        })
        .await;
    let (rqctx, (view, request)) = match looked {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    let (company, id) = (view.record.scope(), view.record.id);
    let found = match rqctx.state.ports.governed.diff(company, id, request).await {
        Ok(found) => found,
        Err(error) => return rqctx.refuse(Problem::not_carried_out(error)),
    };
    rqctx
        .read(
            asked,
            |reads, ctx, (issue, named)| {
                tickets::worktree::<ApprovalError>(reads, ctx, issue, *named)
            },
            move |_view| Reply::ok(found.clone()),
        )
        .await
}
