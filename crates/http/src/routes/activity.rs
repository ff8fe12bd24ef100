use actix_web::HttpResponse;
use workforce_app::{Codes, Context, activity};
use workforce_domain::activity::{Activity, Entity};
use workforce_domain::id::AgentId;
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{ActivityCursor, ActivityFilter, Reads, StoreError};

use super::{issue_filter, issue_ref};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

const TAG: &str = "Activity";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_of_issue, Access::Anyone, Codes::NONE, of_issue)
}

/// What happened in a company, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/activity", tag = TAG,
    operation_id = "listActivity",
    params(
        ("agentId" = Option<AgentId>, Query, description = "Done by this agent."),
        ("entityType" = Option<Entity>, Query, description = "Done to this kind of thing."),
        ("entityId" = Option<String>, Query,
            description = "Done to this thing; an issue also by its identifier."),
        Paging,
    ),
    responses((status = 200, description = "The activity.", body = Vec<Activity>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    filter(rq)?,
                    rq.page::<ActivityCursor>()?,
                ))
            },
            |reads, ctx, (company, filter, page)| {
                let filter = with_issue(reads, ctx, filter)?;
                activity::list(reads, ctx, *company, &filter, page)
            },
            Reply::<Vec<Activity>>::page,
        )
        .await
}

/// The filter with the id of an issue that is named by its identifier.
fn with_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    filter: &ActivityFilter,
) -> Result<ActivityFilter, StoreError> {
    let of_issues = filter.entity.is_none_or(|entity| entity == Entity::Issue);
    let named = filter.entity_id.as_deref().filter(|_| of_issues);
    let named = named.and_then(IssueRef::parse);
    let identifier = named.filter(|named| matches!(named, IssueRef::Identifier(_)));
    let mut filter = filter.clone();
    if let Some(id) = issue_filter(reads, ctx, identifier.as_ref())? {
        filter.entity_id = Some(id.to_string());
    }
    Ok(filter)
}

fn filter(rq: &Request) -> Result<ActivityFilter, Problem> {
    let query = rq.query()?;
    Ok(ActivityFilter {
        agent: query.id("agentId")?,
        entity: query.word("entityType")?,
        entity_id: query.text("entityId")?.map(str::to_owned),
    })
}

/// What happened to an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/activity", tag = TAG,
    operation_id = "listIssueActivity",
    params(Paging),
    responses((status = 200, description = "The activity.", body = Vec<Activity>)))]
async fn of_issue(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<ActivityCursor>()?)),
            |reads, ctx, (issue, page)| activity::of_issue(reads, ctx, issue, page),
            Reply::<Vec<Activity>>::page,
        )
        .await
}
