use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::Owned;
use workforce_domain::agent::AgentState;
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Tx};

use super::revisions::move_reports;
use super::{AgentError, hold_with_company};
use crate::access::denied;
use crate::call::Call;
use crate::record::record;
use crate::refusal::{Code, Codes};

/// What [`delete`] refuses with.
pub const DELETE: Codes = Codes::of(&[Code::AgentHasHistory, Code::AgentPendingApproval]);

/// Removes an agent that never did or was given anything, such as one that was
/// hired by mistake. Whoever has a history is terminated instead, and a draft
/// is decided on. Its reports get its manager. Board only.
///
/// # Errors
/// [`AgentError`]
pub fn delete(tx: &mut dyn Tx, call: &Call<'_>, id: AgentId) -> Result<(), Failure<AgentError>> {
    let agent = hold_with_company(tx, call, id)?;
    call.require_board().map_err(denied)?;
    if agent.lifecycle.state() == AgentState::PendingApproval {
        return Err(Failure::Refused(AgentError::PendingApproval));
    }
    let scope = agent.scope();
    if tx.agents().has_history(scope, id)? {
        return Err(Failure::Refused(AgentError::HasHistory));
    }
    move_reports(tx, call, &agent)?;
    let details = json!({ "name": agent.name });
    record(tx, call, Action::AgentDeleted, &agent, details);
    Ok(tx.agents_mut().delete(agent)?)
}
