//! Agents: hire, read, change, switch on and off
//! (docs/access.md#fields-of-an-agent).

mod adapter_check;
mod adapter_config;
mod create;
mod deletion;
mod draft;
mod env_bindings;
mod http_config;
pub mod instructions;
mod keys;
mod lifecycle;
mod names;
mod org;
mod read;
mod revisions;
mod rollback;
mod runtime_state;
mod sessions;
mod update;
mod waits;

use serde_json::{Value, json};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::{Agent, AgentState, AgentStatus, CHAIN_LIMIT, ChainLink};
use workforce_domain::budget::Percent;
use workforce_domain::budget::Spend;
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Locked, Reads, Spender, StoreError, Tx};
use workforce_domain::time::Month;

pub use adapter_check::{
    CHECK, CHECK_DRAFT, CheckAdapter, change_to_check, draft_to_check, to_check,
};
pub use adapter_config::resource_limit;
pub(crate) use adapter_config::unmasked_document;
pub use create::{CREATE, CreateAgent, create};
pub(crate) use create::{INSERT_AGENT, insert_agent, lock_company};
pub use deletion::{DELETE, delete};
pub(crate) use draft::{activate, discard, lock_draft, revise};
pub(crate) use env_bindings::{OVERRIDES, check_overrides};
pub use env_bindings::{inline_value, sensitive_inline_values};
pub use http_config::HttpConfig;
pub use keys::{CREATE_KEY, CreatedKey, create_key, keys, revoke_key};
pub use lifecycle::{PAUSE, RESUME, pause, resume, terminate};
pub use names::{Place, called};
pub use org::{OrgEntry, org};
pub(crate) use read::everyone;
pub use read::{AgentRef, ListAgents, get, list, me};
pub(crate) use revisions::readable;
pub use revisions::{RevisionView, revision, revisions};
pub use rollback::{ROLLBACK, RolledBack, rollback};
pub use runtime_state::{RuntimeState, runtime_state};
pub use sessions::{reset_session, sessions};
pub use update::{UPDATE, UpdateAgent, update};
pub use waits::lift_wait;

use crate::access::{self, Denied, FieldFault};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about agents is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The caller may not, or there is no such agent.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The manager reports to this agent.
    #[error("an agent cannot report to itself or to one of its own reports")]
    Cycle,
    /// New agents need an approval in this company.
    #[error("this company wants an approval for new agents: ask for one with agent-hires")]
    ApprovalRequired,
    /// The agent is terminated for good.
    #[error("the agent is terminated")]
    Terminated,
    /// The agent is a draft that waits for the board.
    #[error("the agent waits for the board's approval")]
    PendingApproval,
    /// The agent's month is used up, so it cannot be resumed.
    #[error(
        "the agent has used {utilization} % of its monthly budget: raise the budget to resume it"
    )]
    BudgetExhausted {
        /// Spend as a share of the budget.
        utilization: Percent,
    },
    /// The agent did or was given something, which must keep its name.
    #[error("the agent has a history: terminate it instead")]
    HasHistory,
    /// Another agent has the name.
    #[error(
        "an agent of this company is called {name}, and a mention would reach both: choose \
         another name, or send allowSameName"
    )]
    NameTaken {
        /// That agent.
        agent: AgentId,
        /// Its name.
        name: String,
    },
    /// A field that nobody may set.
    #[error("{field} cannot be set")]
    FieldNotWritable {
        /// The field.
        field: &'static str,
    },
    /// The caller changes another revision than the last one.
    #[error("the agent's configuration is at revision {current} by now")]
    RevisionConflict {
        /// The last revision.
        current: i32,
    },
    /// A configuration of the past that cannot be that of today.
    #[error("the configuration of that revision is not possible any more")]
    RollbackInvalid {
        /// What is in the way.
        reasons: Vec<FieldFault>,
    },
}

impl Refusal for AgentError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::Cycle => Code::Cycle,
            Self::ApprovalRequired => Code::ApprovalRequired,
            Self::Terminated => Code::AgentTerminated,
            Self::PendingApproval => Code::AgentPendingApproval,
            Self::BudgetExhausted { .. } => Code::BudgetExhausted,
            Self::HasHistory => Code::AgentHasHistory,
            Self::NameTaken { .. } => Code::NameTaken,
            Self::FieldNotWritable { .. } => Code::FieldNotWritable,
            Self::RevisionConflict { .. } => Code::RevisionConflict,
            Self::RollbackInvalid { .. } => Code::RollbackInvalid,
        }
    }

    fn details(&self) -> Option<Value> {
        let at =
            |pointer: String| Some(json!([{ "pointer": pointer, "message": self.to_string() }]));
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Cycle => at("/reportsTo".into()),
            Self::NameTaken { agent, .. } => Some(json!({ "pointer": "/name", "agentId": agent })),
            Self::FieldNotWritable { field } => at(format!("/{field}")),
            Self::BudgetExhausted { utilization } => {
                Some(json!({ "utilizationPercent": utilization.to_string() }))
            }
            Self::RevisionConflict { current } => Some(json!({ "revision": current })),
            Self::RollbackInvalid { reasons } => {
                let reasons = reasons.iter().map(|fault| {
                    json!({
                        "pointer": fault.pointer, "message": fault.message, "code": fault.code,
                    })
                });
                Some(Value::Array(reasons.collect()))
            }
            Self::ApprovalRequired
            | Self::Terminated
            | Self::PendingApproval
            | Self::HasHistory => None,
        }
    }
}

/// An agent with what is derived for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentView {
    /// The agent.
    pub agent: Agent,
    /// Its status.
    pub status: AgentStatus,
    /// What it spent this month, and its live runs hold.
    pub spend: Spend,
    /// Whether the caller may see its configuration: the board, the agent
    /// itself, and those above it.
    pub shows_config: bool,
}

/// An agent with its managers.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDetail {
    /// The agent.
    pub view: AgentView,
    /// Its managers, nearest first.
    pub chain_of_command: Vec<ChainLink>,
    /// The number of its last configuration revision.
    pub revision: i32,
}

/// The detail of an agent as the caller may see it.
pub(crate) fn detail(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    agent: Agent,
) -> Result<AgentDetail, StoreError> {
    let scope = agent.scope();
    let chain_of_command = reads.agents().chain_of_command(scope, agent.id)?;
    let revision = reads.revisions().last_number(scope, agent.id)?;
    let running = !reads.agents().running(scope, &[agent.id])?.is_empty();
    let spend = reads
        .ledger()
        .spent(scope, Spender::Agent(agent.id), Month::of(ctx.now))?;
    let shows_config = ctx.agent().is_none_or(|caller| {
        caller.agent == agent.id || chain_of_command.iter().any(|link| link.id == caller.agent)
    });
    let view = AgentView {
        status: agent.status(running),
        spend,
        shows_config,
        agent,
    };
    Ok(AgentDetail {
        view,
        chain_of_command,
        revision,
    })
}

/// Locks the agent a caller names.
fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<Locked<Agent>, Failure<AgentError>> {
    tx.agents_mut()
        .lock(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("agent").into())
}

/// The same, with the lock of its company taken before it: for changes that
/// budgets depend on.
fn lock_with_company(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<Locked<Agent>, Failure<AgentError>> {
    let scope = ctx.actor().scope();
    let Some(agent) = tx.agents().find(scope, id)? else {
        return Err(Denied::NotFound("agent").into());
    };
    tx.companies_mut()
        .lock(agent.scope().into(), agent.company)?;
    lock(tx, ctx, id)
}

/// Refuses a change by a caller who has seen another revision than the last.
fn require_revision(
    reads: &mut dyn Reads,
    agent: &Agent,
    seen: Option<&[i32]>,
) -> Result<(), Failure<AgentError>> {
    let Some(seen) = seen else { return Ok(()) };
    let current = reads.revisions().last_number(agent.scope(), agent.id)?;
    if seen.contains(&current) {
        return Ok(());
    }
    Err(Failure::Refused(AgentError::RevisionConflict { current }))
}

/// What whoever is no employee is refused with.
const EMPLOYED: Codes = Codes::of(&[Code::AgentPendingApproval, Code::AgentTerminated]);

/// Refuses drafts and terminated agents.
const fn require_employed(agent: &Agent) -> Result<(), AgentError> {
    match agent.lifecycle.state() {
        AgentState::Enabled | AgentState::Paused => Ok(()),
        AgentState::PendingApproval => Err(AgentError::PendingApproval),
        AgentState::Terminated => Err(AgentError::Terminated),
    }
}

/// The manager an agent is given must exist, work here, and not report to the
/// agent itself.
fn check_manager(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    agent: Option<AgentId>,
    manager: AgentId,
) -> Result<(), Failure<AgentError>> {
    let missing = || FieldFault::missing("/reportsTo", "agent");
    let found = reads
        .agents()
        .find(scope.into(), manager)?
        .ok_or_else(missing)?;
    if !found.is_employed() {
        let fault = FieldFault::invalid("/reportsTo", "the manager is a draft or terminated");
        return Err(fault.into());
    }
    if reads.agents().chain_of_command(scope, manager)?.len() >= CHAIN_LIMIT {
        let message = format!("a chain of command has at most {CHAIN_LIMIT} managers");
        return Err(FieldFault::invalid("/reportsTo", message).into());
    }
    let Some(agent) = agent else { return Ok(()) };
    if agent == manager || access::manages(reads, scope, agent, manager)? {
        return Err(Failure::Refused(AgentError::Cycle));
    }
    Ok(())
}
