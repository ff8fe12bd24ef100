mod conventions;
mod workspaces;

pub(crate) use workspaces::addresses;

use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::projects::{self, ProjectRef, ProjectView};
use workforce_domain::id::CompanyId;
use workforce_domain::port::ProjectCursor;

use super::Done;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use workforce_app::projects::{CreateProject, UpdateProject};

const TAG: &str = "Projects";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, projects::CREATE, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_update, Access::Anyone, projects::UPDATE, update)
        .add(__path_delete, Access::Board, projects::DELETE, delete);
    conventions::register(workspaces::register(endpoints))
}

/// Projects of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/projects", tag = TAG,
    operation_id = "listProjects",
    params(Paging),
    responses((status = 200, description = "The projects.", body = Vec<ProjectView>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<ProjectCursor>()?)),
            |reads, ctx, (company, page)| projects::list(reads, ctx, *company, page),
            Reply::<Vec<ProjectView>>::page,
        )
        .await
}

/// Makes a project, seeded with a workspace if one is given.
#[utoipa::path(post, path = "/api/companies/{companyId}/projects", tag = TAG,
    operation_id = "createProject",
    request_body = CreateProject,
    responses((status = 201, description = "The project.", body = ProjectView)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateProject>()?)),
            |tx, ctx, (company, command)| projects::create(tx, ctx, *company, command.clone()),
            Reply::created,
        )
        .await
}

/// One project with its goals and workspaces.
#[utoipa::path(get, path = "/api/projects/{projectId}", tag = TAG, operation_id = "getProject",
    params(("projectId" = String, Path, description = "The project, by id or short name."),
        ("companyId" = Option<CompanyId>, Query,
            description = "The company in which a short name is looked up."),
    ),
    responses((status = 200, description = "The project.", body = ProjectView)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            named,
            |reads, ctx, project| projects::get(reads, ctx, project),
            Reply::ok,
        )
        .await
}

fn named(rq: &Request) -> Result<ProjectRef, Problem> {
    let text = rq.param("projectId", "project")?;
    if let Ok(id) = text.parse() {
        return Ok(ProjectRef::Id(id));
    }
    let company = rq.query()?.id("companyId")?;
    Ok(ProjectRef::UrlKey {
        key: text.to_owned(),
        company,
    })
}

/// Changes a project.
#[utoipa::path(patch, path = "/api/projects/{projectId}", tag = TAG,
    operation_id = "updateProject",
    request_body = UpdateProject,
    responses((status = 200, description = "The project.", body = ProjectView)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("projectId")?, rq.json::<UpdateProject>()?)),
            |tx, ctx, (id, command)| projects::update(tx, ctx, *id, command.clone()),
            Reply::ok,
        )
        .await
}

/// Deletes a project with its workspaces. Its issues stay without it, and so
/// do its costs; directories and repositories are left alone.
#[utoipa::path(delete, path = "/api/projects/{projectId}", tag = TAG,
    operation_id = "deleteProject",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("projectId"),
            |tx, ctx, id| projects::delete(tx, ctx, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}
