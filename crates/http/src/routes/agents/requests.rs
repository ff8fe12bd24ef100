use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::agents::{CreateAgent, UpdateAgent};
use workforce_domain::agent::AdapterType;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::AgentId;
use workforce_domain::money::Budget;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_domain::{Document, ObjectOnly};

use crate::problem::Problem;

/// The adapter of this name. One that is unknown is a fault of meaning
/// (docs/heartbeats.md#process-adapter).
pub(super) fn adapter(name: &str) -> Result<AdapterType, Problem> {
    AdapterType::parse(name).ok_or_else(|| {
        let words: Vec<_> = AdapterType::ALL.iter().map(|word| word.as_str()).collect();
        let message = format!("must be one of {}", words.join(", "));
        Problem::at(Code::InvalidField, "/adapterType", &message)
    })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GrantedBody {
    /// It may hire.
    can_create_agents: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateAgentBody {
    /// Its name.
    name: Name,
    /// Whether another agent may have that name; for the board to say.
    #[serde(default)]
    allow_same_name: bool,
    /// Its role; `general` when left out.
    role: Option<Role>,
    /// Its job title.
    title: Option<Label>,
    /// An icon's name.
    icon: Option<Label>,
    /// What it can do.
    capabilities: Option<Description>,
    /// Its manager.
    reports_to: Option<AgentId>,
    /// How it is run; `process` when left out.
    #[schema(value_type = Option<AdapterType>)]
    adapter_type: Option<String>,
    /// Configuration of the adapter.
    adapter_config: Option<Document>,
    /// Configuration of its heartbeats.
    runtime_config: Option<Document>,
    /// Monthly limit; for the board to give.
    #[serde(default)]
    budget_monthly_cents: Change<Budget>,
    /// What it may do; for the board to give.
    permissions: Option<ObjectOnly<GrantedBody>>,
    /// Anything to keep with it.
    metadata: Option<Document>,
}

impl CreateAgentBody {
    pub(crate) fn command(self) -> Result<CreateAgent, Problem> {
        Ok(CreateAgent {
            name: self.name,
            allow_same_name: self.allow_same_name,
            role: self.role,
            title: self.title,
            icon: self.icon,
            capabilities: self.capabilities,
            reports_to: self.reports_to,
            adapter_type: self.adapter_type.as_deref().map(adapter).transpose()?,
            adapter_config: self.adapter_config.unwrap_or_default(),
            runtime_config: self.runtime_config.unwrap_or_default(),
            budget: self.budget_monthly_cents,
            can_create_agents: self
                .permissions
                .and_then(|ObjectOnly(granted)| granted.can_create_agents),
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateAgentBody {
    /// Its name.
    #[serde(default)]
    name: Replace<Name>,
    /// Whether another agent may have that name.
    #[serde(default)]
    allow_same_name: bool,
    /// Its role.
    #[serde(default)]
    role: Replace<Role>,
    /// Its job title.
    #[serde(default)]
    title: Change<Label>,
    /// An icon's name.
    #[serde(default)]
    icon: Change<Label>,
    /// What it can do.
    #[serde(default)]
    capabilities: Change<Description>,
    /// Its manager.
    #[serde(default)]
    reports_to: Change<AgentId>,
    /// How it is run.
    #[serde(default)]
    #[schema(value_type = AdapterType)]
    adapter_type: Replace<String>,
    /// Changes of the adapter's configuration, merged key by key; `null`
    /// removes a key.
    #[serde(default)]
    adapter_config: Replace<Document>,
    /// Takes `adapterConfig` as the whole configuration instead.
    #[serde(default)]
    replace_adapter_config: bool,
    /// Changes of the heartbeats' configuration, merged key by key.
    #[serde(default)]
    runtime_config: Replace<Document>,
    /// Monthly limit; for the board to set.
    #[serde(default)]
    budget_monthly_cents: Replace<Budget>,
    /// What it may do; for the board to set.
    #[serde(default)]
    permissions: Replace<ObjectOnly<GrantedBody>>,
    /// Anything to keep with it.
    #[serde(default)]
    metadata: Replace<Document>,
}

impl UpdateAgentBody {
    pub(crate) fn command(self) -> Result<UpdateAgent, Problem> {
        Ok(UpdateAgent {
            not_writable: None,
            if_match: None,
            name: self.name.value(),
            allow_same_name: self.allow_same_name,
            role: self.role.value(),
            title: self.title,
            icon: self.icon,
            capabilities: self.capabilities,
            reports_to: self.reports_to,
            adapter_type: self
                .adapter_type
                .value()
                .as_deref()
                .map(adapter)
                .transpose()?,
            adapter_config: self.adapter_config.value(),
            replace_adapter_config: self.replace_adapter_config,
            runtime_config: self.runtime_config.value(),
            budget: self.budget_monthly_cents.value(),
            can_create_agents: self
                .permissions
                .value()
                .and_then(|ObjectOnly(granted)| granted.can_create_agents),
            metadata: self.metadata.value(),
        })
    }
}
