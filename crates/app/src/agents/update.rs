use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{AdapterType, Agent, AgentState};
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::mention::is_alike;
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Locked, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSource};
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_domain::time::Month;

use super::adapter_config::ENV;
use super::env_bindings::{BINDINGS, check_new_bindings};
use super::revisions::{ConfigChange, keep};
use super::{
    AgentDetail, AgentError, adapter_config, check_manager, detail, lock_with_company, names,
    require_revision,
};
use crate::access::{self, Denied};
use crate::activity_log::log_activity_with;
use crate::approval_records;
use crate::budgets;
use crate::changes::Changes;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Changes an agent's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateAgent {
    /// Fields the caller sent that nobody may set: `status`,
    /// `spentMonthlyCents`, `companyId`.
    pub not_writable: Option<&'static str>,
    /// Changes the agent only when its last configuration revision is one of
    /// these.
    pub if_match: Option<Vec<i32>>,
    /// Its name.
    pub name: Option<Name>,
    /// Whether another agent may have that name.
    pub allow_same_name: bool,
    /// Its role.
    pub role: Option<Role>,
    /// Its job title.
    pub title: Change<Label>,
    /// An icon's name.
    pub icon: Change<Label>,
    /// What it can do.
    pub capabilities: Change<Description>,
    /// Its manager.
    pub reports_to: Change<AgentId>,
    /// How it is run.
    pub adapter_type: Option<AdapterType>,
    /// Changes of the adapter's configuration, merged key by key.
    pub adapter_config: Option<Document>,
    /// Takes `adapter_config` as the whole configuration instead.
    pub replace_adapter_config: bool,
    /// Changes of the heartbeats' configuration, merged key by key.
    pub runtime_config: Option<Document>,
    /// Its monthly limit.
    pub budget: Option<Budget>,
    /// Whether it may hire.
    pub can_create_agents: Option<bool>,
    /// Anything to keep with it.
    pub metadata: Option<Document>,
}

impl UpdateAgent {
    /// True when it touches what only the board may change: an agent must not
    /// raise its own budget, rights or reach
    /// (docs/access.md#fields-of-an-agent).
    const fn needs_board(&self) -> bool {
        self.name.is_some()
            || self.role.is_some()
            || !self.reports_to.is_keep()
            || self.adapter_type.is_some()
            || self.adapter_config.is_some()
            || self.runtime_config.is_some()
            || self.budget.is_some()
            || self.can_create_agents.is_some()
    }
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(
    &[
        Code::BoardRequired,
        Code::Cycle,
        Code::FieldNotWritable,
        Code::NameTaken,
        Code::ReferenceNotFound,
        Code::RevisionConflict,
    ],
    &[BINDINGS],
);

/// Changes an agent: the board everything, the agent itself and those above it
/// what describes it (title, icon, capabilities, metadata).
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: UpdateAgent,
) -> Result<AgentDetail, Failure<AgentError>> {
    let mut agent = lock_with_company(tx, ctx, id)?;
    let scope = agent.scope();
    if let Some(field) = command.not_writable {
        return Err(Failure::Refused(AgentError::FieldNotWritable { field }));
    }
    if let Some(caller) = ctx.agent() {
        if command.needs_board() {
            return Err(Denied::BoardRequired.into());
        }
        ctx.require_working_company()?;
        // The board must find the draft as it was proposed to it.
        if agent.lifecycle.state() == AgentState::PendingApproval {
            return Err(
                Denied::Forbidden("a draft is changed by sending its approval again").into(),
            );
        }
        if caller.agent != id && !access::manages(tx.reads(), scope, caller.agent, id)? {
            return Err(Denied::Forbidden("only its managers may change an agent").into());
        }
    }
    require_revision(tx.reads(), &agent, command.if_match.as_deref())?;
    if let Some(manager) = command.reports_to.value() {
        check_manager(tx.reads(), scope, Some(id), *manager)?;
    }
    if let Some(name) = &command.name
        && !command.allow_same_name
        && !is_alike(name, &agent.name)
    {
        names::require_free(tx.reads(), scope, name, Some(id))?;
    }
    let before = Agent::clone(&agent);
    apply(&mut agent, command).map_err(Failure::Refused)?;
    let (old, new) = (&before.adapter_config, &agent.adapter_config);
    check_new_bindings::<AgentError>(tx, ctx, scope, ENV, old, new)?;
    if agent.adapter_type != before.adapter_type || agent.adapter_config != before.adapter_config {
        agent.end_backoff();
    }
    if *agent != before {
        agent.updated_at = ctx.now;
        let changes = Changes::of(&mut agent);
        if agent.lifecycle.state() == AgentState::PendingApproval {
            approval_records::draft_edited(tx, ctx, &agent, &changes.names())
                .map_err(|failure| failure.map(AgentError::from))?;
        }
        log_activity_with(tx, ctx, Action::AgentUpdated, &agent, json!({}), changes);
        if agent.budget != before.budget {
            let basis = budgets::basis_of(tx.reads(), agent.scope())?;
            budgets::enforce_agent(tx, ctx, &mut agent, basis, Month::of(ctx.now))?;
        }
        tx.agents_mut().save(&agent)?;
        let pointer = tx.instructions().pointer(scope, id)?.unwrap_or_default();
        let change = ConfigChange {
            source: RevisionSource::Patch,
            before: Some(&AgentConfig::of(&before, pointer.clone())),
            after: &AgentConfig::of(&agent, pointer),
            rolled_back_from: None,
        };
        keep(tx, ctx, scope, id, &change)?;
    }
    Ok(detail(tx.reads(), ctx, agent.into_inner())?)
}

pub(super) fn apply(agent: &mut Locked<Agent>, command: UpdateAgent) -> Result<(), AgentError> {
    if let Some(name) = command.name {
        agent.name = name;
    }
    if let Some(role) = command.role {
        agent.role = role;
    }
    agent.title = command.title.apply(agent.title.take());
    agent.icon = command.icon.apply(agent.icon.take());
    agent.capabilities = command.capabilities.apply(agent.capabilities.take());
    agent.reports_to = command.reports_to.apply(agent.reports_to);
    agent.adapter_type = command.adapter_type.unwrap_or(agent.adapter_type);
    let is_checked = command.adapter_type.is_some() || command.adapter_config.is_some();
    if let Some(change) = command.adapter_config {
        let current = &agent.adapter_config;
        let config = if command.replace_adapter_config {
            adapter_config::replaced(current, change)
        } else {
            adapter_config::merged(current, change)
        };
        agent.adapter_config = config;
    }
    if is_checked {
        adapter_config::check_adapter(agent.adapter_type, &agent.adapter_config)?;
    }
    if let Some(change) = command.runtime_config {
        let config = adapter_config::merged(&agent.runtime_config, change);
        adapter_config::check_runtime(&config)?;
        agent.runtime_config = config;
    }
    if let Some(budget) = command.budget {
        agent.set_budget(budget);
    }
    agent.can_create_agents = command.can_create_agents.unwrap_or(agent.can_create_agents);
    if let Some(metadata) = command.metadata {
        access::check_document(&metadata, "/metadata", adapter_config::MAX_BYTES)?;
        agent.metadata = metadata;
    }
    Ok(())
}
