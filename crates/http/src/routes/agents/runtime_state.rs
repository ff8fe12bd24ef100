use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::agents::{self, RuntimeState};
use workforce_domain::agent::{AdapterType, AgentStatus};
use workforce_domain::company::PauseReason;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::number::Count;
use workforce_domain::session::{AgentSession, ProviderGate};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::Label;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::Wake;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use workforce_domain::run::Run;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_sessions, Access::Anyone, Codes::NONE, sessions)
        .add(__path_reset, Access::Board, Codes::NONE, reset)
        .add(__path_lift_wait, Access::Board, Codes::NONE, lift_wait)
}

/// Why an agent runs, or does not.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentRuntimeState)]
struct RuntimeStateBody {
    /// The agent.
    agent_id: AgentId,
    /// Its company.
    company_id: CompanyId,
    /// How it is run.
    adapter_type: AdapterType,
    /// What the board or a budget decided: `enabled`, `paused`,
    /// `pending_approval` or `terminated`.
    lifecycle: &'static str,
    /// Who or what paused it.
    pause_reason: Option<PauseReason>,
    /// Where it stands, as the agent itself shows it.
    status: AgentStatus,
    /// Its live runs, oldest first.
    live_runs: Vec<Run>,
    /// What waits to be answered, oldest first, at most 50.
    pending_wakes: Vec<Wake>,
    /// Its newest run that has ended.
    last_run: Option<Run>,
    /// Failed runs since the last success.
    consecutive_failures: i32,
    /// Until when only the board makes it run, since its last runs failed.
    backoff_until: Option<Timestamp>,
    /// Until when the provider of its model refuses its account, and why;
    /// `null` while nothing is known of that.
    provider_gate: Option<ProviderGate>,
    /// When its last run ended.
    last_heartbeat_at: Option<Timestamp>,
    /// When its timer is due next; `null` without a timer, and for a moment
    /// while it is set anew.
    next_heartbeat_at: Option<Timestamp>,
    /// Seconds between two beats of its timer; `null` for no timer.
    heartbeat_interval_sec: Option<i32>,
    /// Beats of its timer that found nothing to do, so far.
    suppressed_wakes: Count,
    /// What it spent in the current month.
    spent_monthly_cents: Cents,
    /// Its monthly limit.
    budget_monthly_cents: Budget,
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
            live_runs: state.live.into_iter().collect(),
            pending_wakes: state.pending.into_iter().collect(),
            last_run: state.last,
            consecutive_failures: agent.consecutive_failures,
            backoff_until: agent.backoff_until,
            provider_gate: state.gate,
            last_heartbeat_at: agent.last_heartbeat_at,
            next_heartbeat_at: state.timer.next_tick(),
            heartbeat_interval_sec: state.timer.interval_sec,
            suppressed_wakes: Count(state.timer.suppressed),
            spent_monthly_cents: state.usage.spent,
            budget_monthly_cents: state.usage.budget,
            budget_exhausted: state.usage.exhausted(),
        }
    }
}

/// Why an agent runs, or does not. Its live runs, what waits for it, how its
/// last run ended, its timer and its budget.
#[utoipa::path(get, path = "/api/agents/{agentId}/runtime-state", tag = TAG,
    operation_id = "getAgentRuntimeState",
    responses((status = 200, description = "The state.", body = RuntimeStateBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("agentId"),
            |reads, ctx, id| agents::runtime_state(reads, ctx, *id),
            |state| Reply::ok(RuntimeStateBody::from(state)),
        )
        .await
}

/// The sessions that an agent keeps from run to run, per task. The 100 that were
/// used last, the newest of them first.
#[utoipa::path(get, path = "/api/agents/{agentId}/task-sessions", tag = TAG,
    operation_id = "listAgentTaskSessions",
    responses((status = 200, description = "The sessions.", body = Vec<AgentSession>)))]
async fn sessions(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("agentId"),
            |reads, ctx, id| agents::sessions(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResetSessionBody {
    /// The task whose sessions are forgotten, those of all tasks when left out:
    /// `general`, `issue:` and the id, or the id or identifier alone.
    task_key: Option<Label>,
}

/// Makes the agent forget what it keeps from run to run. Its next run begins
/// afresh. A task that nothing is kept of changes nothing.
#[utoipa::path(post, path = "/api/agents/{agentId}/runtime-state/reset-session", tag = TAG,
    operation_id = "resetAgentSession",
    request_body = Option<ResetSessionBody>,
    responses((status = 200, description = "The state.", body = RuntimeStateBody)))]
async fn reset(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let body = rq.json::<ResetSessionBody>()?;
                Ok((rq.id("agentId")?, body.task_key))
            },
            |tx, ctx, (id, task)| agents::reset_session(tx, ctx, *id, task.as_ref()),
            |state| Reply::ok(RuntimeStateBody::from(state)),
        )
        .await
}

/// Ends an agent's back-off and its wait for a provider. It may run at once, and
/// with it the agents that use the same account. An agent that waits for neither
/// stays as it is.
#[utoipa::path(post, path = "/api/agents/{agentId}/runtime-state/lift-wait", tag = TAG,
    operation_id = "liftAgentWait",
    responses((status = 200, description = "The state.", body = RuntimeStateBody)))]
async fn lift_wait(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, ctx, id| agents::lift_wait(tx, ctx, *id),
            |state| Reply::ok(RuntimeStateBody::from(state)),
        )
        .await
}
