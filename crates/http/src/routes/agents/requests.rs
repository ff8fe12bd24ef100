use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::agents::{CreateAgent, UpdateAgent};
use workforce_domain::Document;
use workforce_domain::agent::AdapterType;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, Label, Name, Role};

use crate::problem::Problem;
use crate::schema;
use crate::wire::{FieldPresence, Limit, Object, non_null};

/// The adapter of this name. One that is unknown is a fault of meaning
/// (docs/heartbeats.md#process-adapter).
fn adapter(name: &str) -> Result<AdapterType, Problem> {
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
pub(in super::super) struct CreateAgentBody {
    /// Its name.
    #[schema(value_type = schema::Name)]
    name: Name,
    /// Its role; `general` when left out.
    #[schema(value_type = Option<schema::Role>)]
    role: Option<Role>,
    /// Its job title.
    #[schema(value_type = Option<schema::Label>)]
    title: Option<Label>,
    /// An icon's name.
    #[schema(value_type = Option<schema::Label>)]
    icon: Option<Label>,
    /// What it can do.
    #[schema(value_type = Option<schema::Description>)]
    capabilities: Option<Description>,
    /// Its manager.
    #[schema(value_type = Option<schema::Id>)]
    reports_to: Option<AgentId>,
    /// How it is run; `process` when left out.
    #[schema(value_type = Option<schema::AdapterType>)]
    adapter_type: Option<String>,
    /// Configuration of the adapter.
    #[schema(value_type = Option<schema::Document>)]
    adapter_config: Option<Document>,
    /// Configuration of its heartbeats.
    #[schema(value_type = Option<schema::Document>)]
    runtime_config: Option<Document>,
    /// Monthly limit; for the board to give.
    #[serde(default)]
    #[schema(value_type = Option<Limit>)]
    budget_monthly_cents: Change<Limit>,
    /// What it may do; for the board to give.
    #[schema(value_type = Option<GrantedBody>)]
    permissions: Option<Object<GrantedBody>>,
    /// Anything to keep with it.
    #[schema(value_type = Option<schema::Document>)]
    metadata: Option<Document>,
}

impl CreateAgentBody {
    pub(in super::super) fn command(self) -> Result<CreateAgent, Problem> {
        Ok(CreateAgent {
            name: self.name,
            role: self.role,
            title: self.title,
            icon: self.icon,
            capabilities: self.capabilities,
            reports_to: self.reports_to,
            adapter_type: self.adapter_type.as_deref().map(adapter).transpose()?,
            adapter_config: self.adapter_config.unwrap_or_default(),
            runtime_config: self.runtime_config.unwrap_or_default(),
            budget: self.budget_monthly_cents.map(|limit| limit.0),
            can_create_agents: self
                .permissions
                .and_then(|Object(granted)| granted.can_create_agents),
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateAgentBody {
    /// Its name.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Name)]
    name: Option<Name>,
    /// Its role.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Role)]
    role: Option<Role>,
    /// Its job title.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    title: Change<Label>,
    /// An icon's name.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    icon: Change<Label>,
    /// What it can do.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    capabilities: Change<Description>,
    /// Its manager.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    reports_to: Change<AgentId>,
    /// How it is run.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::AdapterType)]
    adapter_type: Option<String>,
    /// Changes of the adapter's configuration, merged key by key; `null`
    /// removes a key.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Document)]
    adapter_config: Option<Document>,
    /// Takes `adapterConfig` as the whole configuration instead.
    #[serde(default)]
    replace_adapter_config: bool,
    /// Changes of the heartbeats' configuration, merged key by key.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Document)]
    runtime_config: Option<Document>,
    /// Monthly limit; for the board to set.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = Limit)]
    budget_monthly_cents: Option<Limit>,
    /// What it may do; for the board to set.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = GrantedBody)]
    permissions: Option<Object<GrantedBody>>,
    /// Anything to keep with it.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Document)]
    metadata: Option<Document>,
    #[serde(default)]
    #[schema(ignore)]
    status: FieldPresence,
    #[serde(default)]
    #[schema(ignore)]
    spent_monthly_cents: FieldPresence,
    #[serde(default)]
    #[schema(ignore)]
    company_id: FieldPresence,
}

impl UpdateAgentBody {
    pub(super) fn command(self) -> Result<UpdateAgent, Problem> {
        let fields = [
            (self.status, "status"),
            (self.spent_monthly_cents, "spentMonthlyCents"),
            (self.company_id, "companyId"),
        ];
        Ok(UpdateAgent {
            not_writable: fields
                .iter()
                .find_map(|(field, name)| field.0.then_some(*name)),
            if_match: None,
            name: self.name,
            role: self.role,
            title: self.title,
            icon: self.icon,
            capabilities: self.capabilities,
            reports_to: self.reports_to,
            adapter_type: self.adapter_type.as_deref().map(adapter).transpose()?,
            adapter_config: self.adapter_config,
            replace_adapter_config: self.replace_adapter_config,
            runtime_config: self.runtime_config,
            budget: self.budget_monthly_cents.map(|limit| limit.0),
            can_create_agents: self
                .permissions
                .and_then(|Object(granted)| granted.can_create_agents),
            metadata: self.metadata,
        })
    }
}
