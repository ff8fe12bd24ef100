//! What is to be checked of an agent: who may have it done, and with which
//! configuration (docs/agents.md#is-it-ready).

use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{AdapterType, AgentState};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{AdapterToCheck, Failure, Reads};

use super::AgentError;
use super::adapter_config::{self, ENV};
use super::env_bindings::{BINDINGS, check_unstored_bindings};
use super::revisions::readable;
use crate::access::{self, Denied};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`to_check`] and [`change_to_check`] refuse with.
pub const CHECK: Codes = Codes::with(
    &[
        Code::AgentPendingApproval,
        Code::AgentTerminated,
        Code::BoardRequired,
    ],
    &[BINDINGS],
);

/// What is to be checked of an agent. For the board, the agent itself and those above
/// it: the check may start the program. What an agent proposes is started by the board
/// alone.
pub fn to_check(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<AdapterToCheck, Failure<AgentError>> {
    let agent = readable::<AgentError>(reads, ctx, id)?;
    ctx.require_working_company()?;
    match agent.lifecycle.state() {
        AgentState::Terminated => return Err(Failure::Refused(AgentError::Terminated)),
        AgentState::PendingApproval if ctx.agent().is_some() => {
            return Err(Failure::Refused(AgentError::PendingApproval));
        }
        _ => {}
    }
    Ok(AdapterToCheck {
        company: agent.scope(),
        agent: Some(id),
        adapter_type: agent.adapter_type,
        adapter_config: agent.adapter_config,
    })
}

/// What would be to be checked of an agent after a change of its configuration, which is checked
/// as when it is made. For the board: the check may start a program that is named here.
pub fn change_to_check(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    change: &CheckAdapter,
) -> Result<AdapterToCheck, Failure<AgentError>> {
    let present = to_check(reads, ctx, id)?;
    if ctx.agent().is_some() {
        return Err(Denied::BoardRequired.into());
    }
    let before = &present.adapter_config;
    let config = adapter_config::merged(before, change.adapter_config.clone());
    let adapter_type = change.adapter_type.unwrap_or(present.adapter_type);
    adapter_config::check_adapter(adapter_type, &config)?;
    check_unstored_bindings::<AgentError>(reads, ctx, present.company, ENV, before, &config)?;
    Ok(AdapterToCheck {
        adapter_type,
        adapter_config: config,
        ..present
    })
}

/// What is to be checked before an agent is hired, or changed.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckAdapter {
    /// How it is run; as a process, or as before, unless said otherwise.
    pub adapter_type: Option<AdapterType>,
    /// Configuration of the adapter; of an agent that there is, the changes of it, key by key.
    pub adapter_config: Document,
}

/// What [`draft_to_check`] refuses with.
pub const CHECK_DRAFT: Codes = BINDINGS;

/// What is to be checked of an agent that is not hired yet, whose configuration is
/// checked as when it is hired. For the board.
pub fn draft_to_check(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    draft: &CheckAdapter,
) -> Result<AdapterToCheck, Failure<AgentError>> {
    ctx.require_board()?;
    let company = access::company_scope(reads, ctx, company)?;
    // There is nothing yet that the mark of a hidden value could keep.
    let config = adapter_config::replaced(&Document::new(), draft.adapter_config.clone());
    let adapter_type = draft.adapter_type.unwrap_or(AdapterType::Process);
    adapter_config::check_adapter(adapter_type, &config)?;
    let nothing = Document::new();
    check_unstored_bindings::<AgentError>(reads, ctx, company, ENV, &nothing, &config)?;
    Ok(AdapterToCheck {
        company,
        agent: None,
        adapter_type,
        adapter_config: config,
    })
}
