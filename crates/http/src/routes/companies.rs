mod lifecycle;

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::companies::{self, CompanyView, CreateCompany, UpdateCompany};
use workforce_app::{Code, Codes};
use workforce_domain::attachment::AttachmentLimit;
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::id::CompanyId;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::CompanyCursor;
use workforce_domain::text::{Description, Label, Name};
use workforce_domain::time::Timestamp;

use crate::paging::Paging;
use crate::problem::Problem;
use crate::registry::{Access, Endpoints};
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

/// A company.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Company)]
pub(super) struct CompanyBody {
    /// Unique id.
    id: CompanyId,
    /// Its name.
    name: Name,
    /// What it does.
    description: Option<Description>,
    /// Administrative state, set by the board.
    status: CompanyStatus,
    /// Monthly limit over all its agents.
    budget_monthly_cents: Budget,
    /// What its agents spent in the current month.
    spent_monthly_cents: Cents,
    /// Starts every issue identifier.
    issue_prefix: String,
    /// Whether new agents need an approval.
    require_board_approval_for_new_agents: bool,
    /// Whether every issue must be reviewed before it is done.
    review_required: bool,
    /// At most so many of its runs are live at once.
    max_concurrent_runs: i32,
    /// The most bytes that an attachment may have; `null` for the server's own
    /// limit.
    attachment_max_bytes: Option<AttachmentLimit>,
    /// Language of generated text.
    locale: Option<Label>,
    /// Colour of its badge.
    brand_color: Option<Label>,
    /// Why no run may start, beside the status.
    pause_reason: Option<PauseReason>,
    /// Since when.
    paused_at: Option<Timestamp>,
    /// When it was archived.
    archived_at: Option<Timestamp>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl From<CompanyView> for CompanyBody {
    fn from(CompanyView { company, spent }: CompanyView) -> Self {
        Self {
            id: company.id,
            name: company.name,
            description: company.description,
            status: company.lifecycle.status(),
            budget_monthly_cents: company.budget,
            spent_monthly_cents: spent,
            issue_prefix: company.issue_prefix,
            require_board_approval_for_new_agents: company.require_board_approval_for_new_agents,
            review_required: company.review_required,
            max_concurrent_runs: company.max_concurrent_runs,
            attachment_max_bytes: company.attachment_limit,
            locale: company.locale,
            brand_color: company.brand_color,
            pause_reason: company.lifecycle.pause_reason(),
            paused_at: company.lifecycle.paused().map(|pause| pause.at),
            archived_at: company.lifecycle.archived_at(),
            created_at: company.created_at,
            updated_at: company.updated_at,
        }
    }
}

/// The companies the caller has access to, oldest first. Archived ones show
/// only when asked for.
#[utoipa::path(get, path = "/api/companies", tag = TAG, operation_id = "listCompanies",
    params(
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        ("includeArchived" = Option<bool>, Query, description = "Shows archived companies too."),
        Paging,
    ),
    responses((status = 200, description = "The companies.", body = Vec<CompanyBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((statuses(rq)?, rq.page::<CompanyCursor>()?)),
            |reads, ctx, (statuses, page)| companies::list(reads, ctx, statuses, page),
            Reply::<Vec<CompanyBody>>::page,
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
    responses((status = 201, description = "The company.", body = CompanyBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.json::<CreateCompany>(),
            |tx, ctx, command| companies::create(tx, ctx, command.clone()),
            |view| Reply::created(CompanyBody::from(view)),
        )
        .await
}

/// One company, archived or not.
#[utoipa::path(get, path = "/api/companies/{companyId}", tag = TAG, operation_id = "getCompany",
    responses((status = 200, description = "The company.", body = CompanyBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("companyId"),
            |reads, ctx, id| companies::get(reads, ctx, *id),
            |view| Reply::ok(CompanyBody::from(view)),
        )
        .await
}

/// Changes a company.
#[utoipa::path(patch, path = "/api/companies/{companyId}", tag = TAG,
    operation_id = "updateCompany",
    request_body = UpdateCompany,
    responses((status = 200, description = "The company.", body = CompanyBody)))]
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
            |view| Reply::ok(CompanyBody::from(view)),
        )
        .await
}
