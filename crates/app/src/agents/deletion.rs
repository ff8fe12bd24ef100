use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::AgentState;
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Tx};

use super::revisions::move_reports;
use super::{AgentError, lock_with_company};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`delete`] refuses with.
pub const DELETE: Codes = Codes::of(&[Code::AgentHasHistory, Code::AgentPendingApproval]);

/// Removes an agent that never did anything and was given nothing, such as one
/// that was hired by mistake. An agent with a history is terminated instead, and
/// a draft is decided on. Its reports get its manager. Board only.
pub fn delete(tx: &mut dyn Tx, ctx: &Context<'_>, id: AgentId) -> Result<(), Failure<AgentError>> {
    let agent = lock_with_company(tx, ctx, id)?;
    ctx.require_board()?;
    if agent.lifecycle.state() == AgentState::PendingApproval {
        return Err(Failure::Refused(AgentError::PendingApproval));
    }
    let scope = agent.scope();
    if tx.agents().has_history(scope, id)? {
        return Err(Failure::Refused(AgentError::HasHistory));
    }
    move_reports(tx, ctx, &agent)?;
    let details = json!({ "name": agent.name });
    log_activity(tx, ctx, Action::AgentDeleted, &agent, details);
    Ok(tx.agents_mut().delete(agent)?)
}
