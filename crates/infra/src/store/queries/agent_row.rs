//! Agents as rows.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::agent::{
    AdapterType, Agent, AgentLifecycle, AgentLifecycleRecord, AgentState,
};
use workforce_domain::company::PauseReason;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::money::Budget;
use workforce_domain::time::Month;

use super::row::{Row, admit, admit_some, document_length, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::agents;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = agents, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct AgentRow {
    id: IdColumn<AgentId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    name: String,
    url_key: String,
    role: String,
    title: Option<String>,
    icon: Option<String>,
    capabilities: Option<String>,
    reports_to: Option<IdColumn<AgentId>>,
    lifecycle: StringEnumColumn<AgentState>,
    lifecycle_at: Option<InstantColumn>,
    pause_reason: Option<StringEnumColumn<PauseReason>>,
    consecutive_failures: i32,
    backoff_until: Option<InstantColumn>,
    // A copy of what the configuration says, for the conditions of the claim.
    provider_account: Option<String>,
    adapter_type: StringEnumColumn<AdapterType>,
    adapter_config: JsonColumn<Document>,
    runtime_config: JsonColumn<Document>,
    // The same.
    max_concurrent_runs: i32,
    // The same, for its timer.
    heartbeat_interval_sec: Option<i32>,
    heartbeat_always: bool,
    can_create_agents: bool,
    metadata: JsonColumn<Document>,
    budget_monthly_cents: i64,
    budget_override_month: Option<i32>,
    last_heartbeat_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for AgentRow {
    type Record = Agent;

    fn weight(&self) -> usize {
        let documents = [&self.adapter_config, &self.runtime_config, &self.metadata];
        length(self.capabilities.as_ref())
            + documents
                .map(|document| document_length(&document.0))
                .iter()
                .sum::<usize>()
    }

    fn restore(self) -> Result<Agent, Corrupt> {
        const KIND: &str = "agent";
        Ok(Agent {
            id: self.id.0,
            company: self.company_id.0,
            name: admit(KIND, self.name)?,
            url_key: self.url_key,
            role: admit(KIND, self.role)?,
            title: admit_some(KIND, self.title)?,
            icon: admit_some(KIND, self.icon)?,
            capabilities: admit_some(KIND, self.capabilities)?,
            reports_to: self.reports_to.map(|id| id.0),
            lifecycle: AgentLifecycle::restore(AgentLifecycleRecord {
                state: self.lifecycle.0,
                pause_reason: self.pause_reason.map(|reason| reason.0),
                since: self.lifecycle_at.map(|at| at.0),
            })?,
            consecutive_failures: self.consecutive_failures,
            backoff_until: self.backoff_until.map(|at| at.0),
            adapter_type: self.adapter_type.0,
            adapter_config: self.adapter_config.0,
            runtime_config: self.runtime_config.0,
            can_create_agents: self.can_create_agents,
            metadata: self.metadata.0,
            budget: Budget::from_cents(self.budget_monthly_cents)
                .map_err(|error| Corrupt::new(KIND, error.to_string()))?,
            budget_override: self
                .budget_override_month
                .map(|number| {
                    Month::from_number(number)
                        .ok_or_else(|| Corrupt::new(KIND, "there is no such month"))
                })
                .transpose()?,
            last_heartbeat_at: self.last_heartbeat_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Agent> for AgentRow {
    fn from(agent: &Agent) -> Self {
        let lifecycle = agent.lifecycle.record();
        Self {
            id: IdColumn(agent.id),
            company_id: IdColumn(agent.company),
            name: agent.name.to_string(),
            url_key: agent.url_key.clone(),
            role: agent.role.to_string(),
            title: agent.title.as_ref().map(ToString::to_string),
            icon: agent.icon.as_ref().map(ToString::to_string),
            capabilities: agent.capabilities.as_ref().map(ToString::to_string),
            reports_to: agent.reports_to.map(IdColumn),
            lifecycle: StringEnumColumn(lifecycle.state),
            lifecycle_at: lifecycle.since.map(InstantColumn),
            pause_reason: lifecycle.pause_reason.map(StringEnumColumn),
            consecutive_failures: agent.consecutive_failures,
            backoff_until: agent.backoff_until.map(InstantColumn),
            provider_account: agent
                .provider_account()
                .and_then(|account| account.shared_key())
                .map(|key| key.to_string()),
            adapter_type: StringEnumColumn(agent.adapter_type),
            adapter_config: JsonColumn(agent.adapter_config.clone()),
            runtime_config: JsonColumn(agent.runtime_config.clone()),
            max_concurrent_runs: agent.max_concurrent_runs(),
            heartbeat_interval_sec: agent.heartbeat_interval_sec(),
            heartbeat_always: agent.always_runs(),
            can_create_agents: agent.can_create_agents,
            metadata: JsonColumn(agent.metadata.clone()),
            budget_monthly_cents: agent.budget.cents(),
            budget_override_month: agent.budget_override.map(Month::number),
            last_heartbeat_at: agent.last_heartbeat_at.map(InstantColumn),
            created_at: InstantColumn(agent.created_at),
            updated_at: InstantColumn(agent.updated_at),
        }
    }
}
