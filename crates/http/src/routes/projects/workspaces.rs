use actix_web::HttpResponse;
use workforce_app::projects::{
    self, AdoptAddress, AdoptedAddress, CreateWorkspace, UpdateWorkspace,
};
use workforce_app::{Code, Codes};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::port::{Failure, RemoteAddresses};
use workforce_domain::project::Workspace;

use super::super::Done;
use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::state::State;

/// What the adoption of an address is refused with.
const ADOPT: Codes = Codes::of(&[
    Code::GitFailed,
    Code::GitRemoteFailed,
    Code::WorkspaceMissing,
    Code::WorkspaceUnavailable,
]);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Board, projects::WORKSPACE, create)
        .add(__path_update, Access::Board, projects::WORKSPACE, update)
        .add(__path_delete, Access::Board, projects::DELETE, delete)
        .add(__path_adopt, Access::Board, ADOPT, adopt)
}

/// The workspaces of a project, the primary one first; at most 100 exist.
#[utoipa::path(get, path = "/api/projects/{projectId}/workspaces", tag = TAG,
    operation_id = "listWorkspaces",
    responses((status = 200, description = "The workspaces.", body = Vec<Workspace>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("projectId"),
            |reads, ctx, id| projects::workspaces(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Adds a workspace to a project.
#[utoipa::path(post, path = "/api/projects/{projectId}/workspaces", tag = TAG,
    operation_id = "createWorkspace",
    request_body = CreateWorkspace,
    responses((status = 201, description = "The workspace.", body = Workspace)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("projectId")?, rq.json::<CreateWorkspace>()?)),
            |tx, ctx, (id, command)| projects::create_workspace(tx, ctx, *id, command.clone()),
            Reply::created,
        )
        .await
}

fn ids(rq: &Request) -> Result<(ProjectId, WorkspaceId), Problem> {
    Ok((rq.id("projectId")?, rq.id("workspaceId")?))
}

/// Changes a workspace. It must still have a directory or a repository
/// afterwards.
#[utoipa::path(patch, path = "/api/projects/{projectId}/workspaces/{workspaceId}", tag = TAG,
    operation_id = "updateWorkspace",
    request_body = UpdateWorkspace,
    responses((status = 200, description = "The workspace.", body = Workspace)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((ids(rq)?, rq.json::<UpdateWorkspace>()?)),
            |tx, ctx, ((project, id), command)| {
                projects::update_workspace(tx, ctx, *project, *id, command.clone())
            },
            Reply::ok,
        )
        .await
}

/// Removes a workspace; the oldest remaining one takes the primary place.
#[utoipa::path(delete, path = "/api/projects/{projectId}/workspaces/{workspaceId}", tag = TAG,
    operation_id = "deleteWorkspace",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            ids,
            |tx, ctx, (project, id)| projects::delete_workspace(tx, ctx, *project, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}

/// The addresses that a ticket of a workspace would get now.
///
/// # Errors
/// The step that failed.
pub(crate) async fn addresses(
    state: &State,
    company: CompanyScope,
    workspace: WorkspaceId,
) -> Result<Option<RemoteAddresses>, Problem> {
    let found = state.ports.governed.addresses(company, workspace).await;
    found.map_err(Problem::not_carried_out)
}

fn adoption(rq: &Request) -> Result<((ProjectId, WorkspaceId), AdoptAddress), Problem> {
    Ok((ids(rq)?, rq.json()?))
}

/// Has the tickets of a workspace take over its address.
///
/// A ticket keeps the address that its repository had when its worktree was made. Where the
/// repository moved and `repoUrl` was changed, this gives it to all worktrees of the workspace, and
/// says what changes; `dryRun` only says it.
#[utoipa::path(post,
    path = "/api/projects/{projectId}/workspaces/{workspaceId}/adopt-address", tag = TAG,
    operation_id = "adoptWorkspaceAddress",
    request_body = Option<AdoptAddress>,
    responses((status = 200, description = "What changes.", body = AdoptedAddress)))]
async fn adopt(rqctx: RequestContext) -> HttpResponse {
    let looked = rqctx
        .preflight(adoption, |reads, ctx, ((project, id), _)| {
            match projects::workspace_to_adopt(reads, ctx, *project, *id) {
                Ok(workspace) => Ok(Some(workspace)),
                // The call itself refuses it, once it knows that this is no repetition.
                Err(Failure::Refused(_)) => Ok(None),
                Err(failure) => Err(failure),
            }
        })
        .await;
    let (rqctx, workspace) = match looked {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    let addresses = match workspace {
        None => None,
        Some(workspace) => match addresses(&rqctx.state, workspace.scope(), workspace.id).await {
            Ok(addresses) => addresses,
            Err(problem) => return rqctx.refuse(problem),
        },
    };
    rqctx
        .write(
            adoption,
            move |tx, ctx, ((project, id), command)| {
                projects::adopt_address(tx, ctx, *project, *id, addresses.as_ref(), *command)
            },
            Reply::ok,
        )
        .await
}
