mod lifecycle;

use actix_web::HttpResponse;
use workforce_app::companies::{self, CompanyView, CreateCompany, UpdateCompany};
use workforce_app::{Code, Codes};
use workforce_domain::company::CompanyStatus;
use workforce_domain::port::CompanyCursor;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

const TAG: &str = "Companies";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Board, Codes::NONE, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(
            __path_update,
            Access::Board,
            Codes::of(&[Code::FieldNotWritable]),
            update,
        );
    lifecycle::register(endpoints)
}

/// The companies the caller has access to, oldest first. Archived ones show
/// only when asked for.
#[utoipa::path(get, path = "/api/companies", tag = TAG, operation_id = "listCompanies",
    params(
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        ("includeArchived" = Option<bool>, Query, description = "Shows archived companies too."),
        Paging,
    ),
    responses((status = 200, description = "The companies.", body = Vec<CompanyView>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((statuses(rq)?, rq.page::<CompanyCursor>()?)),
            |reads, ctx, (statuses, page)| companies::list(reads, ctx, statuses, page),
            Reply::<Vec<CompanyView>>::page,
        )
        .await
}

fn statuses(rq: &Request) -> Result<Vec<CompanyStatus>, Problem> {
    let query = rq.query()?;
    let mut statuses = query.words("status")?;
    if statuses.is_empty() {
        statuses.extend([CompanyStatus::Active, CompanyStatus::Paused]);
    }
    let archived = query.flag("includeArchived", false)?;
    if archived && !statuses.contains(&CompanyStatus::Archived) {
        statuses.push(CompanyStatus::Archived);
    }
    Ok(statuses)
}

/// Makes a company.
#[utoipa::path(post, path = "/api/companies", tag = TAG, operation_id = "createCompany",
    request_body = CreateCompany,
    responses((status = 201, description = "The company.", body = CompanyView)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.json::<CreateCompany>(),
            |tx, ctx, command| companies::create(tx, ctx, command.clone()),
            Reply::created,
        )
        .await
}

/// One company, archived or not.
#[utoipa::path(get, path = "/api/companies/{companyId}", tag = TAG, operation_id = "getCompany",
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("companyId"),
            |reads, ctx, id| companies::get(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Changes a company.
#[utoipa::path(patch, path = "/api/companies/{companyId}", tag = TAG,
    operation_id = "updateCompany",
    request_body = UpdateCompany,
    responses((status = 200, description = "The company.", body = CompanyView)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    rq.json_without::<UpdateCompany>("spentMonthlyCents")?,
                ))
            },
            |tx, ctx, (id, command)| companies::update(tx, ctx, *id, command.clone()),
            Reply::ok,
        )
        .await
}
