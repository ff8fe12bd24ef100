//! Drafts: agents that wait for the board (contract section 10.5). Their
//! approvals call these; nobody else ends the waiting, except a termination.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyScope, Owned};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Held, StoreError, Tx};
use workforce_domain::revision::RevisionSource;

use super::adapter_config::ENV;
use super::environment::check_new_bindings;
use super::revisions::{ConfigChange, config_of, keep};
use super::update::{UpdateAgent, apply};
use super::{AgentError, check_manager, switches, write_down};
use crate::call::Call;

/// Locks a draft; `None` for an agent that waits for nobody.
///
/// # Errors
/// When the store fails.
pub(crate) fn hold_draft(
    tx: &mut dyn Tx,
    company: CompanyScope,
    id: AgentId,
) -> Result<Option<Held<Agent>>, StoreError> {
    let agent = tx.agents_mut().lock(company.into(), id)?;
    Ok(agent.filter(|agent| agent.lifecycle == AgentLifecycle::PendingApproval))
}

/// Changes a draft as its requester proposes it anew.
///
/// # Errors
/// [`AgentError`]
pub(crate) fn revise(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    draft: &mut Held<Agent>,
    change: UpdateAgent,
) -> Result<(), Failure<AgentError>> {
    if let Some(manager) = change.reports_to.value() {
        check_manager(tx.reads(), draft.scope(), Some(draft.id), *manager)?;
    }
    let before = config_of(tx.reads(), draft)?;
    apply(draft, change).map_err(Failure::Refused)?;
    let (old, new) = (&before.adapter_config, &draft.adapter_config);
    check_new_bindings::<AgentError>(tx, call, draft.scope(), ENV, old, new)?;
    draft.updated_at = call.now;
    tx.agents_mut().save(draft)?;
    let change = ConfigChange {
        source: RevisionSource::Patch,
        before: Some(&before),
        after: &config_of(tx.reads(), draft)?,
        rolled_back_from: None,
    };
    keep(tx, call, draft.scope(), draft.id, &change)?;
    Ok(())
}

/// Lets a draft work, exactly as it is stored.
///
/// # Errors
/// When the store fails.
pub(crate) fn activate(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    draft: &mut Held<Agent>,
) -> Result<(), StoreError> {
    draft.lifecycle = AgentLifecycle::Enabled;
    draft.updated_at = call.now;
    tx.agents_mut().save(draft)?;
    let details = json!({ "name": draft.name, "role": draft.role });
    write_down(tx, call, Action::AgentHired, draft, details);
    Ok(())
}

/// Ends a draft that is not wanted.
///
/// # Errors
/// When the store fails.
pub(crate) fn discard(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    draft: &mut Held<Agent>,
) -> Result<(), Failure<AgentError>> {
    switches::deactivate(tx, call, draft)
}
