//! Revisions of an agent's configuration: what each change made of what was before, to go back to.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::Document;
use crate::actor::company_owned;
use crate::agent::{AdapterType, Agent};
use crate::board::Author;
use crate::fields;
use crate::id::{AgentId, CompanyId, RevisionId};
use crate::instructions::BundlePointer;
use crate::money::Budget;
use crate::string_enum;
use crate::text::{Description, Label, Name, Role};
use crate::time::Timestamp;

string_enum! {
    /// What made a revision.
    pub enum RevisionSource {
        /// The agent was made.
        Create = "create",
        /// Fields of the agent changed.
        Patch = "patch",
        /// The configuration was rolled back.
        Rollback = "rollback",
        /// The legacy path of the instructions changed.
        InstructionsPathPatch = "instructions_path_patch",
        /// The instructions bundle changed its mode, root or entry file.
        InstructionsBundlePatch = "instructions_bundle_patch",
        /// A file of the instructions bundle was written.
        InstructionsBundleFilePut = "instructions_bundle_file_put",
        /// A file of the instructions bundle was deleted.
        InstructionsBundleFileDelete = "instructions_bundle_file_delete",
    }
}

/// What a revision keeps of an agent: all that was decided about how it works,
/// and nothing of how it fares (its lifecycle, its spend).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentConfig {
    /// Its name.
    pub name: Name,
    /// Its role.
    pub role: Role,
    /// Its job title.
    pub title: Option<Label>,
    /// Its manager.
    pub reports_to: Option<AgentId>,
    /// What it can do.
    pub capabilities: Option<Description>,
    /// How it is run.
    pub adapter_type: AdapterType,
    /// Configuration of the adapter. References to secrets stay references.
    pub adapter_config: Document,
    /// Configuration of its heartbeats.
    pub runtime_config: Document,
    /// Monthly limit in whole cents; 0 for none.
    pub budget_monthly_cents: i64,
    /// Anything kept with it.
    pub metadata: Document,
    /// Where its instructions are.
    pub instructions: BundlePointer,
}

impl AgentConfig {
    /// The configuration of an agent as it is now.
    pub fn of(agent: &Agent, instructions: BundlePointer) -> Self {
        Self {
            name: agent.name.clone(),
            role: agent.role.clone(),
            title: agent.title.clone(),
            reports_to: agent.reports_to,
            capabilities: agent.capabilities.clone(),
            adapter_type: agent.adapter_type,
            adapter_config: agent.adapter_config.clone(),
            runtime_config: agent.runtime_config.clone(),
            budget_monthly_cents: agent.budget.cents(),
            metadata: agent.metadata.clone(),
            instructions,
        }
    }

    /// Gives an agent this configuration; the instructions are kept apart from
    /// it. A budget that is none leaves the agent's own.
    pub fn restore(&self, agent: &mut Agent) {
        agent.name.clone_from(&self.name);
        agent.role.clone_from(&self.role);
        agent.title.clone_from(&self.title);
        agent.reports_to = self.reports_to;
        agent.capabilities.clone_from(&self.capabilities);
        agent.adapter_type = self.adapter_type;
        agent.adapter_config.clone_from(&self.adapter_config);
        agent.runtime_config.clone_from(&self.runtime_config);
        let budget = Budget::from_cents(self.budget_monthly_cents);
        agent.set_budget(budget.unwrap_or(agent.budget));
        agent.metadata.clone_from(&self.metadata);
    }

    /// The names of what differs between two configurations, as callers spell
    /// them.
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let changes = [
            ("name", self.name != other.name),
            ("role", self.role != other.role),
            ("title", self.title != other.title),
            ("reportsTo", self.reports_to != other.reports_to),
            ("capabilities", self.capabilities != other.capabilities),
            ("adapterType", self.adapter_type != other.adapter_type),
            ("adapterConfig", self.adapter_config != other.adapter_config),
            ("runtimeConfig", self.runtime_config != other.runtime_config),
            (
                "budgetMonthlyCents",
                self.budget_monthly_cents != other.budget_monthly_cents,
            ),
            ("metadata", self.metadata != other.metadata),
            (
                "instructionsBundle",
                self.instructions != other.instructions,
            ),
        ];
        changes
            .into_iter()
            .filter(|(_, changed)| *changed)
            .map(|(key, _)| key.into())
            .collect()
    }
}

/// A configuration as a vault sealed it, so that no value of it lies in plain
/// at rest.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedConfig(pub Vec<u8>);

impl core::fmt::Debug for SealedConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SealedConfig")
    }
}

/// Which of a revision's two configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionSide {
    /// As it was.
    Before,
    /// As it became.
    After,
}

/// A change of an agent's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = RevisionRecord))]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Unique id.
    pub id: RevisionId,
    /// The company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Whose configuration.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// Counts the revisions of the agent, from 1; the ETag of the agent.
    #[serde(rename = "revision")]
    pub n: i32,
    /// What made it.
    pub source: RevisionSource,
    /// The revision that was rolled back to.
    #[serde(rename = "rolledBackFromRevisionId")]
    pub rolled_back_from: Option<RevisionId>,
    /// The keys of the configuration that changed.
    pub changed_keys: Vec<String>,
    /// The configuration before; none when the agent was made.
    #[serde(skip)]
    pub before: Option<SealedConfig>,
    /// The configuration after.
    #[serde(skip)]
    pub after: SealedConfig,
    /// Who made it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedBy, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedBy))]
    pub created_by: Author,
    /// When.
    pub created_at: Timestamp,
}

impl Revision {
    /// The context with which one side of a revision is sealed, so that no
    /// sealed configuration can be put in the place of another. Whoever seals
    /// anew under another key uses the same.
    pub fn seal_context(
        company: CompanyId,
        agent: AgentId,
        revision: RevisionId,
        side: RevisionSide,
    ) -> String {
        let side = match side {
            RevisionSide::Before => "before",
            RevisionSide::After => "after",
        };
        alloc::format!("agent_config_revision:{company}:{agent}:{revision}:{side}")
    }
}

company_owned!(Revision, company);
