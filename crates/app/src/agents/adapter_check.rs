//! What is to be checked of an agent: who may have it done, and with which
//! configuration (docs/agents.md#is-it-ready).

use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{AdapterType, AgentState};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{AdapterToCheck, Failure, Reads};

use super::AgentError;
use super::adapter_config::{self, ENV};
use super::env_bindings::{BINDINGS, check_draft_bindings};
use super::revisions::readable;
use crate::access;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`to_check`] refuses with.
pub const CHECK: Codes = Codes::of(&[Code::AgentPendingApproval, Code::AgentTerminated]);

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

/// What is to be checked before an agent is hired.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckAdapter {
    /// How it is run; as a process unless said otherwise.
    pub adapter_type: Option<AdapterType>,
    /// Configuration of the adapter.
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
    check_draft_bindings::<AgentError>(reads, ctx, company, ENV, &config)?;
    Ok(AdapterToCheck {
        company,
        agent: None,
        adapter_type,
        adapter_config: config,
    })
}
