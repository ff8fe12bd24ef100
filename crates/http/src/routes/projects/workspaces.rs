use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::projects::{self, CreateWorkspace, UpdateWorkspace};
use workforce_domain::Document;
use workforce_domain::change::Change;
use workforce_domain::id::{CompanyId, ProjectId, WorkspaceId};
use workforce_domain::project::Workspace;
use workforce_domain::text::{Label, Location, Name};
use workforce_domain::time::Timestamp;

use super::super::Done;
use super::TAG;
use crate::exchange::{Exchange, Incoming};
use crate::problem::Problem;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;
use crate::wire::given;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Board, projects::WORKSPACE, create)
        .add(__path_update, Access::Board, projects::WORKSPACE, update)
        .add(__path_delete, Access::Board, Codes::NONE, delete)
}

/// A workspace: a directory or repository that a project works in.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Workspace)]
pub(super) struct WorkspaceBody {
    /// Unique id.
    #[schema(value_type = schema::Id)]
    id: WorkspaceId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// Its project.
    #[schema(value_type = schema::Id)]
    project_id: ProjectId,
    /// Its name.
    #[schema(value_type = schema::Name)]
    name: Name,
    /// Its directory.
    #[schema(value_type = Option<schema::Location>)]
    cwd: Option<Location>,
    /// Its repository.
    #[schema(value_type = Option<schema::Location>)]
    repo_url: Option<Location>,
    /// Branch or ref to start from.
    #[schema(value_type = Option<schema::Label>)]
    repo_ref: Option<Label>,
    /// The branch that work is merged into.
    #[schema(value_type = Option<schema::Label>)]
    default_base_branch: Option<Label>,
    /// Whether runs of the project start in it; exactly one workspace is.
    pub(super) is_primary: bool,
    /// Anything the board keeps with it.
    #[schema(value_type = schema::Document)]
    metadata: Document,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = schema::Timestamp)]
    updated_at: Timestamp,
}

impl From<Workspace> for WorkspaceBody {
    fn from(workspace: Workspace) -> Self {
        Self {
            id: workspace.id,
            company_id: workspace.company,
            project_id: workspace.project,
            name: workspace.name,
            cwd: workspace.source.cwd().cloned(),
            repo_url: workspace.source.repo_url().cloned(),
            repo_ref: workspace.repo_ref,
            default_base_branch: workspace.default_base_branch,
            is_primary: workspace.is_primary,
            metadata: workspace.metadata,
            created_at: workspace.created_at,
            updated_at: workspace.updated_at,
        }
    }
}

/// A new workspace; needs at least one of `cwd` and `repoUrl`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateWorkspaceBody {
    /// Its name; taken from the directory or repository when left out.
    #[schema(value_type = Option<schema::Name>)]
    name: Option<Name>,
    /// Its directory.
    #[schema(value_type = Option<schema::Location>)]
    cwd: Option<Location>,
    /// Its repository.
    #[schema(value_type = Option<schema::Location>)]
    repo_url: Option<Location>,
    /// Branch or ref to start from.
    #[schema(value_type = Option<schema::Label>)]
    repo_ref: Option<Label>,
    /// The branch that work is merged into.
    #[schema(value_type = Option<schema::Label>)]
    default_base_branch: Option<Label>,
    /// Whether it takes the primary place; the first always does.
    is_primary: Option<bool>,
    /// Anything to keep with it.
    #[schema(value_type = Option<schema::Document>)]
    metadata: Option<Document>,
}

impl CreateWorkspaceBody {
    pub(super) fn command(self) -> CreateWorkspace {
        CreateWorkspace {
            name: self.name,
            cwd: self.cwd,
            repo_url: self.repo_url,
            repo_ref: self.repo_ref,
            default_base_branch: self.default_base_branch,
            is_primary: self.is_primary.unwrap_or(false),
            metadata: self.metadata.unwrap_or_default(),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateWorkspaceBody {
    /// Its name.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = schema::Name)]
    name: Option<Name>,
    /// Its directory.
    #[serde(default)]
    #[schema(value_type = Option<schema::Location>)]
    cwd: Change<Location>,
    /// Its repository.
    #[serde(default)]
    #[schema(value_type = Option<schema::Location>)]
    repo_url: Change<Location>,
    /// Branch or ref to start from.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    repo_ref: Change<Label>,
    /// The branch that work is merged into.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    default_base_branch: Change<Label>,
    /// `true` takes the primary place; the primary workspace gives it up only
    /// to another.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = bool)]
    is_primary: Option<bool>,
    /// Anything to keep with it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Document>)]
    metadata: Change<Document>,
}

impl UpdateWorkspaceBody {
    fn command(self) -> UpdateWorkspace {
        UpdateWorkspace {
            name: self.name,
            cwd: self.cwd,
            repo_url: self.repo_url,
            repo_ref: self.repo_ref,
            default_base_branch: self.default_base_branch,
            is_primary: self.is_primary,
            metadata: self.metadata,
        }
    }
}

/// The workspaces of a project, the primary one first; at most 100 exist.
#[utoipa::path(get, path = "/api/projects/{projectId}/workspaces", tag = TAG,
    operation_id = "listWorkspaces",
    params(("projectId" = schema::Id, Path, description = "The project.")),
    responses((status = 200, description = "The workspaces.", body = Vec<WorkspaceBody>)))]
async fn list(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("projectId"),
            |reads, call, id| projects::workspaces(reads, call, *id),
            |found| {
                Reply::ok(
                    found
                        .into_iter()
                        .map(WorkspaceBody::from)
                        .collect::<Vec<_>>(),
                )
            },
        )
        .await
}

/// Adds a workspace to a project.
#[utoipa::path(post, path = "/api/projects/{projectId}/workspaces", tag = TAG,
    operation_id = "createWorkspace",
    params(("projectId" = schema::Id, Path, description = "The project.")),
    request_body = CreateWorkspaceBody,
    responses((status = 201, description = "The workspace.", body = WorkspaceBody)))]
async fn create(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("projectId")?,
                    rq.json::<CreateWorkspaceBody>()?.command(),
                ))
            },
            |tx, call, (id, command)| projects::create_workspace(tx, call, *id, command.clone()),
            |workspace| Reply::created(WorkspaceBody::from(workspace)),
        )
        .await
}

fn ids(rq: &Incoming) -> Result<(ProjectId, WorkspaceId), Problem> {
    Ok((rq.id("projectId")?, rq.id("workspaceId")?))
}

/// Changes a workspace. It must still have a directory or a repository
/// afterwards.
#[utoipa::path(patch, path = "/api/projects/{projectId}/workspaces/{workspaceId}", tag = TAG,
    operation_id = "updateWorkspace",
    params(
        ("projectId" = schema::Id, Path, description = "The project."),
        ("workspaceId" = schema::Id, Path, description = "The workspace."),
    ),
    request_body = UpdateWorkspaceBody,
    responses((status = 200, description = "The workspace.", body = WorkspaceBody)))]
async fn update(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| Ok((ids(rq)?, rq.json::<UpdateWorkspaceBody>()?.command())),
            |tx, call, ((project, id), command)| {
                projects::update_workspace(tx, call, *project, *id, command.clone())
            },
            |workspace| Reply::ok(WorkspaceBody::from(workspace)),
        )
        .await
}

/// Removes a workspace; the oldest remaining one takes the primary place.
#[utoipa::path(delete, path = "/api/projects/{projectId}/workspaces/{workspaceId}", tag = TAG,
    operation_id = "deleteWorkspace",
    params(
        ("projectId" = schema::Id, Path, description = "The project."),
        ("workspaceId" = schema::Id, Path, description = "The workspace."),
    ),
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            ids,
            |tx, call, (project, id)| projects::delete_workspace(tx, call, *project, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}
