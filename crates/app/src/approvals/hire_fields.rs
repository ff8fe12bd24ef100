//! The fields of a proposed agent, read from the payload of a hire: at its top
//! or within `hire`.

use serde::de::DeserializeOwned;
use serde_json::Value;
use workforce_domain::agent::AdapterType;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::money::Budget;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_domain::{Document, JsonMap};

use crate::access::FieldFault;
use crate::agents::CreateAgent;

/// The fields of the agent in a hire's payload. Those that it leaves out take
/// their default.
pub(super) struct HireFields {
    name: Option<Name>,
    allow_same_name: bool,
    role: Option<Role>,
    title: Option<Label>,
    icon: Option<Label>,
    capabilities: Option<Description>,
    reports_to: Option<AgentId>,
    adapter_type: Option<AdapterType>,
    adapter_config: Option<Document>,
    runtime_config: Option<Document>,
    budget: Option<Budget>,
    can_create_agents: Option<bool>,
    metadata: Option<Document>,
}

impl HireFields {
    /// Reads the fields.
    ///
    /// # Errors
    /// The first that is not what it must be.
    pub(super) fn read(payload: &Document) -> Result<Self, FieldFault> {
        let fields = match payload.get("hire") {
            None | Some(Value::Null) => FieldReader {
                pointer: "/payload",
                object: payload,
            },
            Some(Value::Object(object)) => FieldReader {
                pointer: "/payload/hire",
                object,
            },
            Some(_) => {
                return Err(FieldFault::invalid("/payload/hire", "must be an object"));
            }
        };
        Ok(Self {
            name: fields.given("name")?,
            allow_same_name: fields.given("allowSameName")?.unwrap_or(false),
            role: fields.given("role")?,
            title: fields.given("title")?,
            icon: fields.given("icon")?,
            capabilities: fields.given("capabilities")?,
            reports_to: fields.given("reportsTo")?,
            adapter_type: fields.adapter()?,
            adapter_config: fields.given("adapterConfig")?,
            runtime_config: fields.given("runtimeConfig")?,
            budget: fields.budget()?,
            can_create_agents: fields.may_hire()?,
            metadata: fields.given("metadata")?,
        })
    }

    /// The agent that is proposed: its name and role must be said.
    ///
    /// # Errors
    /// When one of them is missing.
    pub(super) fn new_agent(self) -> Result<CreateAgent, FieldFault> {
        let missing = |key: &str| FieldFault::invalid(format!("/payload/{key}"), "is required");
        Ok(CreateAgent {
            name: self.name.ok_or_else(|| missing("name"))?,
            allow_same_name: self.allow_same_name,
            role: Some(self.role.ok_or_else(|| missing("role"))?),
            title: self.title,
            icon: self.icon,
            capabilities: self.capabilities,
            reports_to: self.reports_to,
            adapter_type: self.adapter_type,
            adapter_config: self.adapter_config.unwrap_or_default(),
            runtime_config: self.runtime_config.unwrap_or_default(),
            budget: self.budget.map_or(Change::Keep, Change::Set),
            can_create_agents: self.can_create_agents,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

/// The object that the fields are read from, and where it stands.
struct FieldReader<'a> {
    pointer: &'static str,
    object: &'a JsonMap,
}

impl FieldReader<'_> {
    fn fault(&self, key: &str, message: impl Into<String>) -> FieldFault {
        FieldFault::invalid(format!("{}/{key}", self.pointer), message)
    }

    /// The value of a field; `null` counts as absent.
    fn given<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, FieldFault> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value.clone())
                .map(Some)
                .map_err(|error| self.fault(key, error.to_string())),
        }
    }

    fn adapter(&self) -> Result<Option<AdapterType>, FieldFault> {
        let Some(name) = self.given::<String>("adapterType")? else {
            return Ok(None);
        };
        match AdapterType::parse(&name) {
            Some(adapter) => Ok(Some(adapter)),
            None => {
                let words: Vec<_> = AdapterType::ALL.iter().map(|word| word.as_str()).collect();
                let message = format!("must be one of {}", words.join(", "));
                Err(self.fault("adapterType", message))
            }
        }
    }

    fn budget(&self) -> Result<Option<Budget>, FieldFault> {
        let key = "budgetMonthlyCents";
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => Budget::parse(&number.to_string())
                .map(Some)
                .map_err(|error| self.fault(key, error.to_string())),
            Some(_) => Err(self.fault(key, "must be a whole number of cents")),
        }
    }

    fn may_hire(&self) -> Result<Option<bool>, FieldFault> {
        let Some(permissions) = self.given::<Document>("permissions")? else {
            return self.given("canCreateAgents");
        };
        match permissions.get("canCreateAgents") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(may)) => Ok(Some(*may)),
            Some(_) => Err(self.fault("permissions/canCreateAgents", "must be true or false")),
        }
    }
}
