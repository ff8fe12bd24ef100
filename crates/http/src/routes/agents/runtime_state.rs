use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::agents::{self, RuntimeState};
use workforce_domain::Document;
use workforce_domain::agent::{AdapterType, AgentStatus};
use workforce_domain::company::PauseReason;
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId, WakeId};
use workforce_domain::run::RunKind;
use workforce_domain::text::Label;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};
use workforce_domain::word::Word;

use super::TAG;
use crate::exchange::Exchange;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::routes::runs::RunBody;
use crate::schema;
use crate::wire::{Amount, Count, Limit};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_sessions, Access::Anyone, Codes::NONE, sessions)
        .add(__path_reset, Access::Board, Codes::NONE, reset)
}

/// A reason to run an agent that waits to be answered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PendingWake)]
struct WakeBody {
    /// Unique id.
    #[schema(value_type = schema::Id)]
    id: WakeId,
    /// The issue it is about.
    #[schema(value_type = Option<schema::Id>)]
    issue_id: Option<IssueId>,
    /// What the run may do.
    #[schema(value_type = schema::RunKind)]
    kind: RunKind,
    /// What kind of thing caused it first.
    #[schema(value_type = schema::WakeSource)]
    source: WakeSource,
    /// Every reason so far, oldest first.
    #[schema(value_type = Vec<schema::WakeReason>)]
    reasons: Vec<WakeReason>,
    /// How many wakes it stands for.
    count: i32,
    /// Not to be answered before.
    #[schema(value_type = schema::Timestamp)]
    not_before: Timestamp,
    /// The run that will answer it.
    #[schema(value_type = schema::Id)]
    run_id: RunId,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
}

impl From<Wake> for WakeBody {
    fn from(wake: Wake) -> Self {
        Self {
            id: wake.id,
            issue_id: wake.issue,
            kind: wake.kind,
            source: wake.source,
            reasons: wake.reasons,
            count: wake.count,
            not_before: wake.not_before,
            run_id: wake.run,
            created_at: wake.created_at,
        }
    }
}

/// Why an agent runs, or does not.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentRuntimeState)]
struct RuntimeStateBody {
    /// The agent.
    #[schema(value_type = schema::Id)]
    agent_id: AgentId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// How it is run.
    #[schema(value_type = schema::AdapterType)]
    adapter_type: AdapterType,
    /// What the board or a budget decided: `enabled`, `paused`,
    /// `pending_approval` or `terminated`.
    lifecycle: &'static str,
    /// Who or what paused it.
    #[schema(value_type = Option<schema::PauseReason>)]
    pause_reason: Option<PauseReason>,
    /// Where it stands, as the agent itself shows it.
    #[schema(value_type = schema::AgentStatus)]
    status: AgentStatus,
    /// Its live runs, oldest first.
    live_runs: Vec<RunBody>,
    /// What waits to be answered, oldest first, at most 50.
    pending_wakes: Vec<WakeBody>,
    /// Its newest run that has ended.
    last_run: Option<RunBody>,
    /// Failed runs since the last success.
    consecutive_failures: i32,
    /// When its last run ended.
    #[schema(value_type = Option<schema::Timestamp>)]
    last_heartbeat_at: Option<Timestamp>,
    /// When its timer is due next; `null` without a timer, and for a moment
    /// while it is set anew.
    #[schema(value_type = Option<schema::Timestamp>)]
    next_heartbeat_at: Option<Timestamp>,
    /// Seconds between two beats of its timer; `null` for no timer.
    heartbeat_interval_sec: Option<i32>,
    /// Beats of its timer that found nothing to do, so far.
    suppressed_wakes: Count,
    /// What it spent in the current month.
    spent_monthly_cents: Amount,
    /// Its monthly limit.
    budget_monthly_cents: Limit,
    /// Whether the limit is used up.
    budget_exhausted: bool,
}

impl From<RuntimeState> for RuntimeStateBody {
    fn from(state: RuntimeState) -> Self {
        let agent = state.agent;
        Self {
            agent_id: agent.id,
            company_id: agent.company,
            adapter_type: agent.adapter_type,
            lifecycle: agent.lifecycle.state().as_str(),
            pause_reason: agent.lifecycle.pause_reason(),
            status: state.status,
            live_runs: state.live.into_iter().map(RunBody::from).collect(),
            pending_wakes: state.pending.into_iter().map(WakeBody::from).collect(),
            last_run: state.last.map(RunBody::from),
            consecutive_failures: agent.consecutive_failures,
            last_heartbeat_at: agent.last_heartbeat_at,
            next_heartbeat_at: state.timer.next_beat(),
            heartbeat_interval_sec: state.timer.interval_sec,
            suppressed_wakes: Count(state.timer.suppressed),
            spent_monthly_cents: Amount(state.standing.spent),
            budget_monthly_cents: Limit(state.standing.budget),
            budget_exhausted: state.standing.exhausted(),
        }
    }
}

/// Why an agent runs, or does not. Its live runs, what waits for it, how its
/// last run ended, its timer and its budget.
#[utoipa::path(get, path = "/api/agents/{agentId}/runtime-state", tag = TAG,
    operation_id = "getAgentRuntimeState",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    responses((status = 200, description = "The state.", body = RuntimeStateBody)))]
async fn get(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("agentId"),
            |reads, call, id| agents::runtime_state(reads, call, *id),
            |state| Reply::ok(RuntimeStateBody::from(state)),
        )
        .await
}

/// The sessions that an agent keeps from run to run, per task. The adapters of
/// this version keep none, so the list is empty.
#[utoipa::path(get, path = "/api/agents/{agentId}/task-sessions", tag = TAG,
    operation_id = "listAgentTaskSessions",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    responses((status = 200, description = "The sessions.", body = Vec<schema::Document>)))]
async fn sessions(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("agentId"),
            |reads, call, id| agents::exists(reads, call, *id),
            |()| Reply::ok(Vec::<Document>::new()),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResetSessionBody {
    /// The task whose session is forgotten; those of all tasks when left out.
    #[serde(rename = "taskKey")]
    #[schema(value_type = Option<schema::Label>)]
    _task: Option<Label>,
}

/// Makes the agent forget what it keeps from run to run. Its next run begins
/// afresh. The adapters of this version keep nothing, so that every run does.
#[utoipa::path(post, path = "/api/agents/{agentId}/runtime-state/reset-session", tag = TAG,
    operation_id = "resetAgentSession",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    request_body = Option<ResetSessionBody>,
    responses((status = 200, description = "The state.", body = RuntimeStateBody)))]
async fn reset(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.json::<ResetSessionBody>()?;
                rq.id("agentId")
            },
            |tx, call, id| agents::reset_session(tx, call, *id),
            |state| Reply::ok(RuntimeStateBody::from(state)),
        )
        .await
}
