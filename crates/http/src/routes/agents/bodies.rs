use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::agents::{AgentDetail, AgentView};
use workforce_app::masking::masked;
use workforce_domain::Document;
use workforce_domain::agent::{AdapterType, AgentStatus, ChainLink};
use workforce_domain::company::PauseReason;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_domain::time::Timestamp;

/// An agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Agent)]
pub(super) struct AgentBody {
    /// Unique id.
    id: AgentId,
    /// Its company.
    company_id: CompanyId,
    /// Its name; others may share it.
    name: Name,
    /// Short name, unique in the company.
    url_key: String,
    /// Its role; only `ceo` carries a privilege.
    role: Role,
    /// Its job title.
    title: Option<Label>,
    /// An icon's name.
    icon: Option<Label>,
    /// What it can do.
    capabilities: Option<Description>,
    /// Its manager.
    reports_to: Option<AgentId>,
    /// Where it stands; derived, so that it is never stale.
    status: AgentStatus,
    /// Who or what paused it.
    pause_reason: Option<PauseReason>,
    /// Since when it is paused.
    paused_at: Option<Timestamp>,
    /// How it is run.
    adapter_type: AdapterType,
    /// Configuration of the adapter; empty for whoever may not see it.
    adapter_config: Document,
    /// Configuration of its heartbeats; empty for whoever may not see it.
    runtime_config: Document,
    /// What it may do.
    permissions: Permissions,
    /// Monthly limit.
    budget_monthly_cents: Budget,
    /// The month in which the board lets it work although its budget is used
    /// up, as `2026-11`.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}$")]
    budget_override_month: Option<String>,
    /// What it spent in the current month.
    spent_monthly_cents: Cents,
    /// When its last run ended.
    last_heartbeat_at: Option<Timestamp>,
    /// Anything the board keeps with it.
    metadata: Document,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
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
        let AgentView {
            agent,
            status,
            spent,
            shows_config,
        } = view;
        let pause = agent.lifecycle.paused();
        let (adapter_config, runtime_config) = if shows_config {
            (masked(agent.adapter_config), agent.runtime_config)
        } else {
            Default::default()
        };
        Self {
            id: agent.id,
            company_id: agent.company,
            name: agent.name,
            url_key: agent.url_key,
            role: agent.role,
            title: agent.title,
            icon: agent.icon,
            capabilities: agent.capabilities,
            reports_to: agent.reports_to,
            status,
            pause_reason: pause.map(|pause| pause.reason),
            paused_at: pause.map(|pause| pause.at),
            adapter_type: agent.adapter_type,
            adapter_config,
            runtime_config,
            permissions: Permissions {
                can_create_agents: agent.can_create_agents,
            },
            budget_monthly_cents: agent.budget,
            budget_override_month: agent.budget_override.map(|month| month.to_string()),
            spent_monthly_cents: spent,
            last_heartbeat_at: agent.last_heartbeat_at,
            metadata: agent.metadata,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
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
