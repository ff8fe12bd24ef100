use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::agents::{AgentDetail, AgentView};
use workforce_app::masking::masked;
use workforce_domain::Document;
use workforce_domain::agent::{Agent, AgentStatus, ChainLink};
use workforce_domain::budget::Spend;
use workforce_domain::company::PauseReason;
use workforce_domain::time::Timestamp;

/// An agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Agent)]
pub(super) struct AgentBody {
    #[serde(flatten)]
    agent: Agent,
    /// Where it stands; derived, so that it is never stale.
    status: AgentStatus,
    /// Who or what paused it.
    pause_reason: Option<PauseReason>,
    /// Since when it is paused.
    paused_at: Option<Timestamp>,
    /// Configuration of the adapter; empty for whoever may not see it.
    adapter_config: Document,
    /// Configuration of its heartbeats; empty for whoever may not see it.
    runtime_config: Document,
    /// What it may do.
    permissions: Permissions,
    /// The month in which the board lets it work although its budget is used
    /// up, as `2026-11`.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}$")]
    budget_override_month: Option<String>,
    /// What it spent in the current month, and its live runs hold.
    #[serde(flatten)]
    spend: Spend,
}

/// What an agent may do beyond its work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentPermissions)]
struct Permissions {
    /// It may hire.
    can_create_agents: bool,
}

impl From<AgentView> for AgentBody {
    fn from(view: AgentView) -> Self {
        let mut agent = view.agent;
        let pause = agent.lifecycle.paused();
        let configs = [&mut agent.adapter_config, &mut agent.runtime_config].map(std::mem::take);
        let [adapter_config, runtime_config] = if view.shows_config {
            configs
        } else {
            Default::default()
        };
        Self {
            status: view.status,
            pause_reason: pause.map(|pause| pause.reason),
            paused_at: pause.map(|pause| pause.at),
            adapter_config: masked(adapter_config),
            runtime_config,
            permissions: Permissions {
                can_create_agents: agent.can_create_agents,
            },
            budget_override_month: agent.budget_override.map(|month| month.to_string()),
            spend: view.spend,
            agent,
        }
    }
}

/// An agent with its managers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentDetail)]
pub(in super::super) struct AgentDetailBody {
    #[serde(flatten)]
    agent: AgentBody,
    /// Its managers, the direct one first.
    chain_of_command: Vec<ChainLink>,
    /// The number of its last configuration revision; the ETag.
    config_revision: i32,
}

impl From<AgentDetail> for AgentDetailBody {
    fn from(detail: AgentDetail) -> Self {
        Self {
            agent: detail.view.into(),
            chain_of_command: detail.chain_of_command,
            config_revision: detail.revision,
        }
    }
}
