mod checkout;
mod comments;
mod counts;
mod reviews;
mod worktree;

use actix_web::HttpResponse;
use workforce_app::issues::{
    CreateIssue, CreatedIssue, IssueDetail, IssueView, UpdateIssue, UpdatedIssue,
};
use workforce_app::{Code, Codes, Context, Failure, approvals, issues};
use workforce_domain::board::BoardMember;
use workforce_domain::id::{GoalId, ProjectId};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{AssigneeFilter, IssueCursor, IssueFilter, Reads, SearchCursor};
use workforce_domain::search::SearchQuery;

use super::{Done, issue_filter, issue_ref};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::{Query, fault};
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

const TAG: &str = "Issues";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, issues::CREATE, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(
            __path_update,
            Access::Stakeholder,
            Codes::with(&[Code::FieldNotWritable], &[approvals::UPDATE_ISSUE]),
            update,
        )
        .add(__path_delete, Access::Board, Codes::NONE, delete);
    let endpoints = counts::register(comments::register(checkout::register(endpoints)));
    worktree::register(reviews::register(endpoints))
}

/// Issues of a company: most urgent first, then the latest changed. With `q`
/// those that have all of its words: first by where they have them (the
/// identifier, the title, the description, the comments), then as without.
#[utoipa::path(get, path = "/api/companies/{companyId}/issues", tag = TAG,
    operation_id = "listIssues",
    params(
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        ("priority" = Option<String>, Query, description = "Priorities, separated by commas."),
        ("assigneeAgentId" = Option<String>, Query,
            description = "Assigned to this agent; `me` for the caller, `null` for nobody."),
        ("assigneeUserId" = Option<String>, Query,
            description = "Assigned to this member of the board: `local-board`, `start-token` \
                or the id of a token; `me` for the caller."),
        ("projectId" = Option<ProjectId>, Query, description = "Of this project."),
        ("goalId" = Option<GoalId>, Query, description = "Of this goal."),
        ("parentId" = Option<String>, Query,
            description = "Directly below this issue, named by id or identifier."),
        ("labelId" = Option<String>, Query,
            description = "With any of these labels, separated by commas."),
        ("q" = Option<String>, Query,
            description = "With all of these words in identifier, title, description or \
                comments, at most 500 characters. Case and accents do not matter; a word of \
                three letters or more also finds longer ones that begin with it. Nothing in it \
                is an operator. Words that many issues have are found in all of them; of others \
                that match more than 5,000 texts, about 5,000 of the latest count."),
        Paging,
    ),
    responses((status = 200, description = "The issues.", body = Vec<IssueView>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, ListParams::read(rq)?)),
            |reads, ctx, (company, params)| {
                let filter = params.filter(reads, ctx)?;
                let listed = match &params.order {
                    Order::Urgency(page) => {
                        issues::list(reads, ctx, *company, &filter, page).map(IssuePage::ByUrgency)
                    }
                    Order::Found(query, page) => {
                        issues::search(reads, ctx, *company, query, &filter, page)
                            .map(IssuePage::ByPlace)
                    }
                };
                listed.map_err(|failure| failure.map(Problem::refused))
            },
            |listed| match listed {
                IssuePage::ByUrgency(page) => Reply::<Vec<IssueView>>::page(page),
                IssuePage::ByPlace(page) => Reply::<Vec<IssueView>>::page(page),
            },
        )
        .await
}

/// Whose issues are asked for.
#[derive(Clone, Copy)]
enum AssigneeParam {
    Anyones,
    These(AssigneeFilter),
    CallingAgents,
    CallingPersons,
}

/// In which order, and from where on.
enum Order {
    Urgency(PageRequest<IssueCursor>),
    Found(SearchQuery, PageRequest<SearchCursor>),
}

/// A page in either order.
enum IssuePage {
    ByUrgency(Page<IssueView, IssueCursor>),
    ByPlace(Page<IssueView, SearchCursor>),
}

struct ListParams {
    filter: IssueFilter,
    parent: Option<IssueRef>,
    assignee: AssigneeParam,
    order: Order,
}

/// A list asks for at most so many labels.
const MAX_LABELS: usize = 50;

impl ListParams {
    fn read(rq: &Request) -> Result<Self, Problem> {
        let query = rq.query()?;
        let labels = query.ids("labelId")?;
        if labels.len() > MAX_LABELS {
            return Err(fault("labelId", &format!("at most {MAX_LABELS} labels")));
        }
        let order = match query.text("q")? {
            None => Order::Urgency(rq.page()?),
            Some(text) => {
                let words =
                    SearchQuery::parse(text).map_err(|error| fault("q", &error.to_string()))?;
                Order::Found(words, rq.page()?)
            }
        };
        let filter = IssueFilter {
            statuses: query.words("status")?,
            priorities: query.words("priority")?,
            assignee: None,
            project: query.id("projectId")?,
            goal: query.id("goalId")?,
            parent: None,
            labels,
        };
        Ok(Self {
            filter,
            parent: query.issue("parentId")?,
            order,
            assignee: assignee(&query)?,
        })
    }

    /// The filter for this caller.
    fn filter(
        &self,
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
    ) -> Result<IssueFilter, Failure<Problem>> {
        let parent = issue_filter(reads, ctx, self.parent.as_ref())?;
        Ok(IssueFilter {
            assignee: self.assignee(ctx).map_err(Failure::Refused)?,
            parent,
            ..self.filter.clone()
        })
    }

    fn assignee(&self, ctx: &Context<'_>) -> Result<Option<AssigneeFilter>, Problem> {
        Ok(match self.assignee {
            AssigneeParam::Anyones => None,
            AssigneeParam::These(assignee) => Some(assignee),
            AssigneeParam::CallingAgents => match ctx.actor().agent_id() {
                Some(agent) => Some(AssigneeFilter::Agent(agent)),
                None => return Err(fault("assigneeAgentId", "`me` is for agents")),
            },
            AssigneeParam::CallingPersons => {
                // Nothing is assigned to nobody's account.
                let nobody = BoardMember::User(uuid::Uuid::nil().into());
                Some(AssigneeFilter::Board(ctx.actor().board().unwrap_or(nobody)))
            }
        })
    }
}

fn assignee(query: &Query) -> Result<AssigneeParam, Problem> {
    let agent = match query.text("assigneeAgentId")? {
        None => None,
        Some("me") => Some(AssigneeParam::CallingAgents),
        Some("null") => Some(AssigneeParam::These(AssigneeFilter::Nobody)),
        Some(_) => query
            .id("assigneeAgentId")?
            .map(|id| AssigneeParam::These(AssigneeFilter::Agent(id))),
    };
    let person = match query.text("assigneeUserId")? {
        None => None,
        Some("me") => Some(AssigneeParam::CallingPersons),
        Some(text) => match BoardMember::parse_identity(text) {
            Ok(member) => Some(AssigneeParam::These(AssigneeFilter::Board(member))),
            Err(_) => return Err(fault("assigneeUserId", "must name somebody of the board")),
        },
    };
    match (agent, person) {
        (Some(_), Some(_)) => Err(fault(
            "assigneeUserId",
            "an issue has no agent and person as assignee at once",
        )),
        (one, other) => Ok(one.or(other).unwrap_or(AssigneeParam::Anyones)),
    }
}

/// Makes an issue. An agent that asks for the same child of an issue again
/// gets the one that is there, as long as that has not ended: the same by kind
/// and key of its `delegation`, else by `Idempotency-Key`, else by title.
#[utoipa::path(post, path = "/api/companies/{companyId}/issues", tag = TAG,
    operation_id = "createIssue",
    request_body = CreateIssue,
    responses(
        (status = 201, description = "The issue.", body = CreatedIssue),
        (status = 200, description = "The child that the calling agent meant and had made before.",
            body = CreatedIssue),
    ))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let mut command = rq.json::<CreateIssue>()?;
                command.request_key = rq.idempotency_key().map(str::to_owned);
                Ok((rq.id("companyId")?, command))
            },
            |tx, ctx, (company, command)| issues::create(tx, ctx, *company, command.clone()),
            |created| {
                if created.deduplicated {
                    Reply::ok(created)
                } else {
                    Reply::created(created)
                }
            },
        )
        .await
}

/// One issue with its project, goal and parents.
#[utoipa::path(get, path = "/api/issues/{issueId}", tag = TAG, operation_id = "getIssue",
    responses((status = 200, description = "The issue.", body = IssueDetail)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            issue_ref,
            |reads, ctx, issue| issues::get(reads, ctx, issue),
            Reply::ok,
        )
        .await
}

/// Changes an issue, and comments on it in the same transaction.
#[utoipa::path(patch, path = "/api/issues/{issueId}", tag = TAG, operation_id = "updateIssue",
    request_body = UpdateIssue,
    responses((status = 200, description = "The issue.", body = UpdatedIssue)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((issue_ref(rq)?, rq.json_without::<UpdateIssue>("companyId")?)),
            |tx, ctx, (issue, command)| approvals::update_issue(tx, ctx, issue, command.clone()),
            Reply::ok,
        )
        .await
}

/// Deletes an issue with its comments. Whoever works on it is asked to stop;
/// its runs and costs stay for the record, its children become top-level
/// issues.
#[utoipa::path(delete, path = "/api/issues/{issueId}", tag = TAG, operation_id = "deleteIssue",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            issue_ref,
            |tx, ctx, issue| issues::delete(tx, ctx, issue),
            |()| Reply::ok(Done::OK),
        )
        .await
}
