use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::{Codes, issues};
use workforce_domain::dashboard::IssueTally;
use workforce_domain::id::{GoalId, ProjectId};
use workforce_domain::number::Count;
use workforce_domain::string_enum;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_counts, Access::Anyone, Codes::NONE, counts)
}

string_enum! {
    /// What issues are counted by.
    enum CountedBy {
        /// Their project.
        Project = "project",
        /// Their goal.
        Goal = "goal",
    }
}

/// How many issues a project or a goal has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IssueCounts)]
struct CountsBody {
    /// The project; `null` where issues are counted by goal.
    project_id: Option<ProjectId>,
    /// The goal; `null` where issues are counted by project.
    goal_id: Option<GoalId>,
    /// Neither done nor cancelled.
    open: Count,
    /// Done.
    done: Count,
    /// Cancelled.
    cancelled: Count,
}

impl CountsBody {
    fn new(project_id: Option<ProjectId>, goal_id: Option<GoalId>, tally: IssueTally) -> Self {
        Self {
            project_id,
            goal_id,
            open: Count(tally.open),
            done: Count(tally.done),
            cancelled: Count(tally.cancelled),
        }
    }
}

/// How many issues each project or goal has, without the hidden ones. A project or goal without
/// any is missing; issues of a goal below are not counted with the goal above.
#[utoipa::path(get, path = "/api/companies/{companyId}/issues/counts", tag = TAG,
    operation_id = "countIssues",
    params(("by" = inline(Option<CountedBy>), Query, nullable = false,
        description = "What they are counted by; their project when left out.")),
    responses((status = 200, description = "One row per project or goal.",
        body = Vec<CountsBody>)))]
async fn counts(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let by: Option<CountedBy> = rq.query()?.word("by")?;
                Ok((rq.id("companyId")?, by.unwrap_or(CountedBy::Project)))
            },
            |reads, ctx, (company, by)| match by {
                CountedBy::Project => {
                    let rows = issues::count_by_project(reads, ctx, *company)?.into_iter();
                    Ok(rows
                        .map(|(id, tally)| CountsBody::new(Some(id), None, tally))
                        .collect())
                }
                CountedBy::Goal => {
                    let rows = issues::count_by_goal(reads, ctx, *company)?.into_iter();
                    Ok(rows
                        .map(|(id, tally)| CountsBody::new(None, Some(id), tally))
                        .collect())
                }
            },
            |rows: Vec<CountsBody>| Reply::ok(rows),
        )
        .await
}
