mod bodies;
mod comments;
mod holding;
mod requests;

use actix_web::HttpResponse;
use workforce_app::{Call, Failure, issues};
use workforce_domain::id::UserId;
use workforce_domain::port::{AssigneeFilter, IssueFilter, IssueKey};

use super::{Done, issue_ref};
use crate::exchange::{Exchange, Incoming};
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::{Query, fault};
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;
pub(super) use bodies::IssueBody;
use bodies::{IssueDetailBody, UpdatedIssueBody};
use requests::{CreateIssueBody, UpdateIssueBody};

const TAG: &str = "Issues";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, list)
        .add(__path_create, Access::Anyone, create)
        .add(__path_get, Access::Anyone, get)
        .add(__path_update, Access::Stakeholder, update)
        .add(__path_delete, Access::Board, delete);
    comments::register(holding::register(endpoints))
}

/// Issues of a company: most urgent first, then the latest changed. This
/// version filters neither by `q` nor by `labelId`, and refuses both.
#[utoipa::path(get, path = "/api/companies/{companyId}/issues", tag = TAG,
    operation_id = "listIssues",
    params(
        ("companyId" = schema::Id, Path, description = "The company."),
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        ("priority" = Option<String>, Query, description = "Priorities, separated by commas."),
        ("assigneeAgentId" = Option<String>, Query,
            description = "Assigned to this agent; `me` for the caller, `null` for nobody."),
        ("assigneeUserId" = Option<String>, Query,
            description = "Assigned to this person; `me` for the caller."),
        ("projectId" = Option<schema::Id>, Query, description = "Of this project."),
        ("goalId" = Option<schema::Id>, Query, description = "Of this goal."),
        ("parentId" = Option<schema::Id>, Query, description = "Directly below this issue."),
        Paging,
    ),
    responses((status = 200, description = "The issues.", body = Vec<IssueBody>)))]
async fn list(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    Wanted::read(rq)?,
                    rq.page::<IssueKey>()?,
                ))
            },
            |reads, call, (company, wanted, page)| {
                let filter = wanted.filter(call).map_err(Failure::Refused)?;
                issues::list(reads, call, *company, &filter, page)
                    .map_err(|failure| failure.map(Problem::refused))
            },
            Reply::<Vec<IssueBody>>::page,
        )
        .await
}

/// Whose issues are asked for.
#[derive(Clone, Copy)]
enum Whose {
    Anyones,
    These(AssigneeFilter),
    CallingAgents,
    CallingPersons,
}

struct Wanted {
    filter: IssueFilter,
    whose: Whose,
}

impl Wanted {
    fn read(rq: &Incoming) -> Result<Self, Problem> {
        let query = rq.query()?;
        // An answer that ignores a filter would pass for a filtered one.
        for name in ["q", "labelId"] {
            if query.text(name)?.is_some() {
                return Err(fault(name, "this version cannot filter by it"));
            }
        }
        let filter = IssueFilter {
            statuses: query.words("status")?,
            priorities: query.words("priority")?,
            assignee: None,
            project: query.id("projectId")?,
            goal: query.id("goalId")?,
            parent: query.id("parentId")?,
        };
        Ok(Self {
            filter,
            whose: whose(&query)?,
        })
    }

    /// The filter for this caller.
    fn filter(&self, call: &Call<'_>) -> Result<IssueFilter, Problem> {
        let assignee = match self.whose {
            Whose::Anyones => None,
            Whose::These(assignee) => Some(assignee),
            Whose::CallingAgents => match call.actor().agent_id() {
                Some(agent) => Some(AssigneeFilter::Agent(agent)),
                None => return Err(fault("assigneeAgentId", "`me` is for agents")),
            },
            // A board without accounts is nobody an issue could be assigned to.
            Whose::CallingPersons => {
                let user = call
                    .actor()
                    .user()
                    .unwrap_or(UserId::from(uuid::Uuid::nil()));
                Some(AssigneeFilter::User(user))
            }
        };
        Ok(IssueFilter {
            assignee,
            ..self.filter.clone()
        })
    }
}

fn whose(query: &Query) -> Result<Whose, Problem> {
    let agent = match query.text("assigneeAgentId")? {
        None => None,
        Some("me") => Some(Whose::CallingAgents),
        Some("null") => Some(Whose::These(AssigneeFilter::Nobody)),
        Some(_) => query
            .id("assigneeAgentId")?
            .map(|id| Whose::These(AssigneeFilter::Agent(id))),
    };
    let person = match query.text("assigneeUserId")? {
        None => None,
        Some("me") => Some(Whose::CallingPersons),
        Some(_) => query
            .id("assigneeUserId")?
            .map(|id| Whose::These(AssigneeFilter::User(id))),
    };
    match (agent, person) {
        (Some(_), Some(_)) => Err(fault(
            "assigneeUserId",
            "an issue has no agent and person as assignee at once",
        )),
        (one, other) => Ok(one.or(other).unwrap_or(Whose::Anyones)),
    }
}

/// Makes an issue.
#[utoipa::path(post, path = "/api/companies/{companyId}/issues", tag = TAG,
    operation_id = "createIssue",
    params(("companyId" = schema::Id, Path, description = "The company.")),
    request_body = CreateIssueBody,
    responses((status = 201, description = "The issue.", body = IssueBody)))]
async fn create(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    rq.json::<CreateIssueBody>()?.command()?,
                ))
            },
            |tx, call, (company, command)| issues::create(tx, call, *company, command.clone()),
            |view| Reply::created(IssueBody::from(view)),
        )
        .await
}

/// One issue with its project, goal and parents.
#[utoipa::path(get, path = "/api/issues/{issueId}", tag = TAG, operation_id = "getIssue",
    params(("issueId" = String, Path, description = "The issue, by id or identifier.")),
    responses((status = 200, description = "The issue.", body = IssueDetailBody)))]
async fn get(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            issue_ref,
            |reads, call, issue| issues::get(reads, call, issue),
            |detail| Reply::ok(IssueDetailBody::from(detail)),
        )
        .await
}

/// Changes an issue, and comments on it in the same transaction.
#[utoipa::path(patch, path = "/api/issues/{issueId}", tag = TAG, operation_id = "updateIssue",
    params(("issueId" = String, Path, description = "The issue, by id or identifier.")),
    request_body = UpdateIssueBody,
    responses((status = 200, description = "The issue.", body = UpdatedIssueBody)))]
async fn update(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json::<UpdateIssueBody>()?.command()?)),
            |tx, call, (issue, command)| issues::update(tx, call, issue, command.clone()),
            |updated| Reply::ok(UpdatedIssueBody::from(updated)),
        )
        .await
}

/// Deletes an issue with its comments. Whoever works on it is asked to stop;
/// its runs and costs stay for the record, its children become top-level
/// issues.
#[utoipa::path(delete, path = "/api/issues/{issueId}", tag = TAG, operation_id = "deleteIssue",
    params(("issueId" = String, Path, description = "The issue, by id or identifier.")),
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            issue_ref,
            |tx, call, issue| issues::delete(tx, call, issue),
            |()| Reply::ok(Done::OK),
        )
        .await
}
