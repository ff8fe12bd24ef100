use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::attention::{self, Need, NeedKind};
use workforce_app::dashboard::{self, Dashboard};
use workforce_app::issues;
use workforce_domain::dashboard::Badges;
use workforce_domain::id::{AgentId, ApprovalId, IssueId};
use workforce_domain::issue::{StuckIssue, StuckReason};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::number::Count;
use workforce_domain::port::StuckCursor;
use workforce_domain::time::Timestamp;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;

const TAG: &str = "Companies";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_badges, Access::Anyone, Codes::NONE, badges)
        .add(__path_stuck, Access::Anyone, Codes::NONE, stuck)
        .add(__path_needs, Access::Board, Codes::NONE, needs)
}

/// How many agents are in which state.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardAgents)]
struct AgentsBody {
    /// Enabled and not running.
    active: Count,
    /// With a live run.
    running: Count,
    /// Stopped by the board or a budget.
    paused: Count,
    /// Whose last runs failed.
    error: Count,
    /// How many more are running than an hour ago.
    running_delta_hour: i64,
}

/// How many issues are in which state.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardTasks)]
struct TasksBody {
    /// Neither done nor cancelled.
    open: Count,
    /// In progress.
    in_progress: Count,
    /// In review.
    in_review: Count,
    /// Blocked.
    blocked: Count,
    /// Done.
    done: Count,
    /// Done today, in UTC.
    today_done: Count,
    /// How many more were done today than the day before.
    today_done_delta: i64,
}

/// The spend of the month.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardCosts)]
struct CostsBody {
    /// What was spent.
    month_spend_cents: Cents,
    /// The company's monthly limit, or the sum of its agents' where it has
    /// none.
    month_budget_cents: Budget,
    /// The part of the limit that is used, in percent; 0 without a limit.
    month_utilization_percent: f64,
}

/// How many issues are stuck for one reason.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StuckCount)]
struct StuckBody {
    /// Why they are stuck.
    reason: StuckReason,
    /// How many.
    count: Count,
}

impl From<(StuckReason, i64)> for StuckBody {
    fn from((reason, count): (StuckReason, i64)) -> Self {
        Self {
            reason,
            count: Count(count),
        }
    }
}

/// A company at a glance.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Dashboard)]
struct DashboardBody {
    /// Its agents.
    agents: AgentsBody,
    /// Its issues.
    tasks: TasksBody,
    /// The spend of the month.
    costs: CostsBody,
    /// Approvals that wait for the board.
    pending_approvals: Count,
    /// Issues in progress with neither a live run nor anything that happened
    /// for an hour.
    stale_tasks: Count,
    /// Issues that nothing moves by itself, for each reason that there is.
    stuck: Vec<StuckBody>,
    /// When this server last looked for due wakes.
    last_tick_at: Option<Timestamp>,
    /// Wakes that wait for a run.
    queue_depth: Count,
    /// Beats of timers that found nothing to do, so far.
    suppressed_wakes: Count,
}

impl DashboardBody {
    fn of(dashboard: Dashboard, last_tick_at: Option<Timestamp>) -> Self {
        let Dashboard {
            figures,
            usage,
            stuck,
        } = dashboard;
        let (agents, tasks) = (figures.agents, figures.tasks);
        #[expect(
            clippy::cast_precision_loss,
            reason = "a share of a budget for people to read"
        )]
        let percent = usage.utilization().hundredths() as f64 / 100.0;
        Self {
            agents: AgentsBody {
                active: Count(agents.active),
                running: Count(agents.running),
                paused: Count(agents.paused),
                error: Count(agents.error),
                running_delta_hour: agents.running - agents.running_an_hour_ago,
            },
            tasks: TasksBody {
                open: Count(tasks.open),
                in_progress: Count(tasks.in_progress),
                in_review: Count(tasks.in_review),
                blocked: Count(tasks.blocked),
                done: Count(tasks.done),
                today_done: Count(tasks.done_today),
                today_done_delta: tasks.done_today - tasks.done_yesterday,
            },
            costs: CostsBody {
                month_spend_cents: usage.spent,
                month_budget_cents: usage.budget,
                month_utilization_percent: percent,
            },
            pending_approvals: Count(figures.pending_approvals),
            stale_tasks: Count(tasks.stale),
            stuck: stuck.into_iter().map(StuckBody::from).collect(),
            last_tick_at,
            queue_depth: Count(figures.queue_depth),
            suppressed_wakes: Count(agents.suppressed_wakes),
        }
    }
}

/// A company at a glance.
#[utoipa::path(get, path = "/api/companies/{companyId}/dashboard", tag = TAG,
    operation_id = "getDashboard",
    responses((status = 200, description = "The figures.", body = DashboardBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read_and(
            |rq| rq.id("companyId"),
            |reads, ctx, company| dashboard::get(reads, ctx, *company),
            |state, figures| {
                let last_tick = state.ports.engine.last_tick();
                Ok(Reply::ok(DashboardBody::of(figures, last_tick)))
            },
        )
        .await
}

/// What waits for somebody's attention.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SidebarBadges)]
struct BadgesBody {
    /// All of it together.
    inbox: Count,
    /// Approvals that wait for the board.
    approvals: Count,
    /// Agents whose last run failed.
    failed_runs: Count,
    /// Agents that are stopped by their budget.
    budget_stops: Count,
    /// Issues in review that wait for the board.
    in_review: Count,
    /// Open issues that are assigned to the board.
    assigned: Count,
    /// Issues that nothing moves by itself.
    stuck: Count,
}

impl From<Badges> for BadgesBody {
    fn from(badges: Badges) -> Self {
        Self {
            inbox: Count(
                badges.approvals
                    + badges.failed_runs
                    + badges.budget_stops
                    + badges.in_review
                    + badges.assigned
                    + badges.stuck,
            ),
            approvals: Count(badges.approvals),
            failed_runs: Count(badges.failed_runs),
            budget_stops: Count(badges.budget_stops),
            in_review: Count(badges.in_review),
            assigned: Count(badges.assigned),
            stuck: Count(badges.stuck),
        }
    }
}

/// What waits for somebody's attention in a company, in numbers.
#[utoipa::path(get, path = "/api/companies/{companyId}/sidebar-badges", tag = TAG,
    operation_id = "getSidebarBadges",
    responses((status = 200, description = "The numbers.", body = BadgesBody)))]
async fn badges(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("companyId"),
            |reads, ctx, company| dashboard::badges(reads, ctx, *company),
            |badges| Reply::ok(BadgesBody::from(badges)),
        )
        .await
}

/// Issues that nothing moves by itself, and why.
///
/// Those come first that are so for the longest time.
#[utoipa::path(get, path = "/api/companies/{companyId}/stuck-issues", tag = TAG,
    operation_id = "listStuckIssues",
    params(
        Paging,
    ),
    responses((status = 200, description = "The issues.", body = Vec<StuckIssue>)))]
async fn stuck(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<StuckCursor>()?)),
            |reads, ctx, (company, page)| issues::list_stuck(reads, ctx, *company, page),
            Reply::<Vec<StuckIssue>>::page,
        )
        .await
}

/// Something that waits for a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Need)]
struct NeedBody {
    /// Why a person is wanted.
    kind: NeedKind,
    /// The agent that is stopped or fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<AgentId>,
    /// The approval to decide on.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<ApprovalId>,
    /// The issue to review, to do, or to set going.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_id: Option<IssueId>,
    /// What the agent or the issue is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Why the issue is stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<StuckReason>,
    /// Since when it waits, or when it changed last.
    since: Timestamp,
}

impl From<Need> for NeedBody {
    fn from(need: Need) -> Self {
        let mut body = Self {
            kind: need.kind(),
            agent_id: None,
            approval_id: None,
            issue_id: None,
            name: None,
            reason: None,
            since: need.since(),
        };
        match need {
            Need::BudgetStop(agent) | Need::Failing(agent) => {
                body.agent_id = Some(agent.id);
                body.name = Some(agent.name.to_string());
            }
            Need::Decision(approval) => body.approval_id = Some(approval.id),
            Need::Issue(issue) => {
                body.issue_id = Some(issue.id);
                body.name = Some(format!("{} {}", issue.identifier, issue.title));
            }
            Need::Stuck(stuck) => {
                body.issue_id = Some(stuck.issue);
                body.name = Some(format!("{} {}", stuck.identifier, stuck.title));
                body.reason = Some(stuck.reason);
            }
        }
        body
    }
}

/// What waits for a person in a company, and since when.
///
/// What is stopped by its budget comes first, then decisions, reviews, issues that are assigned to
/// the board, agents that fail, and stuck issues; within each what waits longest, at most 50.
#[utoipa::path(get, path = "/api/companies/{companyId}/attention", tag = TAG,
    operation_id = "listAttention",
    responses((status = 200, description = "What waits.", body = Vec<NeedBody>)))]
async fn needs(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("companyId"),
            |reads, ctx, company| attention::list(reads, ctx, *company),
            |needs| Reply::ok(needs.into_iter().map(NeedBody::from).collect::<Vec<_>>()),
        )
        .await
}
