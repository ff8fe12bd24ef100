//! Drafts: agents that wait for the board (docs/approvals.md#hires). Only their
//! approvals and a termination end the wait.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::{AdapterType, Agent, AgentState};
use workforce_domain::id::AgentId;
use workforce_domain::mention::is_alike;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};
use workforce_domain::revision::RevisionSource;
use workforce_domain::text::Role;
use workforce_domain::time::Month;

use super::adapter_config::ENV;
use super::env_bindings::check_new_bindings;
use super::revisions::{ConfigChange, config_of, keep};
use super::{AgentError, CreateAgent, check_manager, lifecycle, names};
use crate::activity_log::log_change;
use crate::budgets;
use crate::context::Context;

/// Locks a draft; `None` for an agent that waits for nobody.
pub(crate) fn lock_draft(
    tx: &mut dyn Tx,
    company: CompanyScope,
    id: AgentId,
) -> Result<Option<Locked<Agent>>, StoreError> {
    let agent = tx.agents_mut().lock(company.into(), id)?;
    Ok(agent.filter(|agent| agent.lifecycle.state() == AgentState::PendingApproval))
}

/// Makes a draft what its requester proposes instead. Fields that the proposal
/// leaves out take their default, and the mark of a hidden value keeps the
/// present one.
pub(crate) fn revise(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: &mut Locked<Agent>,
    proposal: CreateAgent,
) -> Result<(), Failure<AgentError>> {
    if let Some(manager) = proposal.reports_to {
        check_manager(tx.reads(), draft.scope(), Some(draft.id), manager)?;
    }
    if !proposal.allow_same_name && !is_alike(&draft.name, &proposal.name) {
        names::require_free(tx.reads(), draft.scope(), &proposal.name, Some(draft.id))?;
    }
    let before = config_of(tx.reads(), draft)?;
    let proposal = proposal.unmasked(&draft.adapter_config, &draft.runtime_config)?;
    let (old, new) = (&before.adapter_config, &proposal.adapter_config);
    check_new_bindings::<AgentError>(tx, ctx, draft.scope(), ENV, old, new)?;
    draft.name = proposal.name;
    draft.role = proposal.role.unwrap_or_else(Role::general);
    draft.title = proposal.title;
    draft.icon = proposal.icon;
    draft.capabilities = proposal.capabilities;
    draft.reports_to = proposal.reports_to;
    draft.adapter_type = proposal.adapter_type.unwrap_or(AdapterType::Process);
    draft.adapter_config = proposal.adapter_config;
    draft.runtime_config = proposal.runtime_config;
    draft.set_budget(proposal.budget.apply(None).unwrap_or_default());
    draft.can_create_agents = proposal.can_create_agents.unwrap_or(false);
    draft.metadata = proposal.metadata;
    draft.updated_at = ctx.now;
    tx.agents_mut().save(draft)?;
    let change = ConfigChange {
        source: RevisionSource::Patch,
        before: Some(&before),
        after: &config_of(tx.reads(), draft)?,
        rolled_back_from: None,
    };
    keep(tx, ctx, draft.scope(), draft.id, &change)?;
    if draft.is_changed() {
        log_change(tx, ctx, Action::AgentUpdated, draft, json!({}));
    }
    Ok(())
}

/// Lets a draft work, exactly as it is stored, as far as its budget does.
pub(crate) fn activate(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    mut draft: Locked<Agent>,
) -> Result<(), StoreError> {
    let Ok(enabled) = draft.lifecycle.enable() else {
        return Ok(());
    };
    draft.lifecycle = enabled;
    draft.updated_at = ctx.now;
    let details = json!({ "name": draft.name, "role": draft.role });
    log_change(tx, ctx, Action::AgentHired, &mut draft, details);
    let basis = budgets::basis_of(tx.reads(), draft.scope())?;
    budgets::enforce_agent(tx, ctx, &mut draft, basis, Month::of(ctx.now))?;
    tx.agents_mut().save(&draft)
}

/// Ends a draft that is not wanted.
pub(crate) fn discard(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: &mut Locked<Agent>,
) -> Result<(), Failure<AgentError>> {
    lifecycle::deactivate(tx, ctx, draft)
}
