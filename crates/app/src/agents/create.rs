use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::{AdapterType, Agent, AgentLifecycle, first_free, url_key_stem};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::BundlePointer;
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSource};
use workforce_domain::text::{Description, Label, Name, Role};

use super::adapter_config::ENV;
use super::env_bindings::{BINDINGS, check_new_bindings};
use super::revisions::{ConfigChange, keep};
use super::{AgentDetail, AgentError, adapter_config, check_manager, detail, names};
use crate::access::{self, Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Hires an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAgent {
    /// Its name.
    pub name: Name,
    /// Whether another agent may have that name; for the board to say.
    pub allow_same_name: bool,
    /// Its role; `general` unless said otherwise.
    pub role: Option<Role>,
    /// Its job title.
    pub title: Option<Label>,
    /// An icon's name.
    pub icon: Option<Label>,
    /// What it can do.
    pub capabilities: Option<Description>,
    /// Its manager.
    pub reports_to: Option<AgentId>,
    /// How it is run; as a process unless said otherwise.
    pub adapter_type: Option<AdapterType>,
    /// Configuration of the adapter.
    pub adapter_config: Document,
    /// Configuration of its heartbeats.
    pub runtime_config: Document,
    /// Its monthly limit; for the board to give.
    pub budget: Change<Budget>,
    /// Whether it may hire; for the board to give.
    pub can_create_agents: Option<bool>,
    /// Anything to keep with it.
    pub metadata: Document,
}

impl CreateAgent {
    /// True when it gives what comes from the board alone: the right to hire,
    /// the one role with rights, and the command that a new agent would run
    /// (docs/access.md#fields-of-an-agent).
    pub(crate) fn needs_board(&self) -> bool {
        self.role
            .as_ref()
            .is_some_and(|role| role.as_str() == "ceo")
            || self.can_create_agents.is_some()
            || self.allow_same_name
            || !self.adapter_config.is_empty()
    }

    /// Makes sure that an agent which is made a process has one to run. Without an adapter it is
    /// yet to be configured.
    fn check_command(&self) -> Result<(), FieldFault> {
        let is_process = self.adapter_type == Some(AdapterType::Process);
        if is_process && !self.adapter_config.contains_key("command") {
            let message = "is required: it is what the agent runs";
            return Err(FieldFault::invalid("/adapterConfig/command", message));
        }
        Ok(())
    }

    /// The same with the values that its marks stand for, checked.
    pub(super) fn unmasked(
        mut self,
        adapter_config: &Document,
        runtime_config: &Document,
    ) -> Result<Self, FieldFault> {
        self.adapter_config = adapter_config::replaced(adapter_config, self.adapter_config);
        self.runtime_config = adapter_config::replaced(runtime_config, self.runtime_config);
        let kind = self.adapter_type.unwrap_or(AdapterType::Process);
        adapter_config::check_adapter(kind, &self.adapter_config)?;
        adapter_config::check_runtime(&self.runtime_config)?;
        access::check_document(&self.metadata, "/metadata", adapter_config::MAX_BYTES)?;
        Ok(self)
    }
}

/// What [`create`] refuses with.
pub const CREATE: Codes = Codes::with(
    &[Code::ApprovalRequired, Code::BoardRequired],
    &[INSERT_AGENT],
);

/// Hires an agent: the board, or an agent that may hire where the company
/// wants no approval.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: CreateAgent,
) -> Result<AgentDetail, Failure<AgentError>> {
    let company = access::company(tx.reads(), ctx, company)?;
    let scope = company.scope();
    ctx.require_working_company()?;
    if let Some(caller) = ctx.agent() {
        if !caller.is_ceo() && !caller.can_create_agents {
            return Err(Denied::Forbidden("this agent may not hire").into());
        }
        if company.require_board_approval_for_new_agents {
            return Err(Failure::Refused(AgentError::ApprovalRequired));
        }
        // Money comes from the board alone, too.
        if !command.budget.is_keep() || command.needs_board() {
            return Err(Denied::BoardRequired.into());
        }
    }
    lock_company(tx, scope)?;
    let agent = insert_agent(tx, ctx, scope, command, AgentLifecycle::ENABLED)?;
    Ok(detail(tx.reads(), ctx, agent.into_inner())?)
}

/// What a new agent is refused with.
pub(crate) const INSERT_AGENT: Codes =
    Codes::with(&[Code::NameTaken, Code::ReferenceNotFound], &[BINDINGS]);

/// Locks the company that hires. So no manager leaves before the new agent is
/// stored, and two hires do not choose a short name at once.
pub(crate) fn lock_company(tx: &mut dyn Tx, company: CompanyScope) -> Result<(), StoreError> {
    tx.companies_mut().lock(company.into(), company.company())?;
    Ok(())
}

/// Checks, stores and records a new agent. The caller has locked the company and checked the
/// rights. A draft is stored like any agent and works later.
pub(crate) fn insert_agent(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    command: CreateAgent,
    lifecycle: AgentLifecycle,
) -> Result<Locked<Agent>, Failure<AgentError>> {
    // There is nothing yet that the mark of a hidden value could keep.
    let nothing = Document::new();
    let command = command.unmasked(&nothing, &nothing)?;
    // Whom an agent hires by itself, the board gives a command later.
    if ctx.agent().is_none() || lifecycle == AgentLifecycle::DRAFT {
        command.check_command()?;
    }
    check_new_bindings::<AgentError>(tx, ctx, scope, ENV, &nothing, &command.adapter_config)?;
    if let Some(manager) = command.reports_to {
        check_manager(tx.reads(), scope, None, manager)?;
    }
    if !command.allow_same_name {
        names::require_free(tx.reads(), scope, &command.name, None)?;
    }
    let stem = url_key_stem(&command.name);
    let taken = tx.agents_mut().lock_url_keys(scope, &stem)?;
    let agent = Agent {
        id: ctx.id(),
        company: scope.company(),
        name: command.name,
        url_key: first_free(&stem, "-", &taken),
        role: command.role.unwrap_or_else(Role::general),
        title: command.title,
        icon: command.icon,
        capabilities: command.capabilities,
        reports_to: command.reports_to,
        lifecycle,
        consecutive_failures: 0,
        backoff_until: None,
        adapter_type: command.adapter_type.unwrap_or(AdapterType::Process),
        adapter_config: command.adapter_config,
        runtime_config: command.runtime_config,
        can_create_agents: command.can_create_agents.unwrap_or(false),
        metadata: command.metadata,
        budget: command.budget.apply(None).unwrap_or_default(),
        budget_override: None,
        last_heartbeat_at: None,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let agent = tx.agents_mut().insert(agent)?;
    let change = ConfigChange {
        source: RevisionSource::Create,
        before: None,
        after: &AgentConfig::of(&agent, BundlePointer::default()),
        rolled_back_from: None,
    };
    keep(tx, ctx, scope, agent.id, &change)?;
    let draft = lifecycle == AgentLifecycle::DRAFT;
    let details = json!({ "name": agent.name, "role": agent.role, "draft": draft });
    log_activity(tx, ctx, Action::AgentCreated, &agent, details);
    Ok(agent)
}
