//! Heartbeat runs: asking for one, looking at them, stopping them, and what the
//! engine writes when they begin and end (docs/heartbeats.md).

mod complete;
mod lifecycle;
mod program;
mod provider;
mod request;

use serde_json::{Value, json};
use workforce_domain::activity::Activity;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::company::PauseReason;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{ActivityCursor, Failure, Reads, RunCursor, RunFilter};
use workforce_domain::run::{Run, RunStatus};

pub use complete::{COMPLETE, complete};
pub use lifecycle::{finish, start};
pub use program::{SessionUse, keep_session};
pub use provider::heed_refusal;
pub use request::{
    ASK, CANCEL, InvokeOutcome, TriggerDetail, WakeUp, WakeUpOutcome, cancel, invoke, invoke_about,
    wake_up,
};

use crate::access::{self, Denied, FieldFault};
use crate::context::Context;
use crate::refusal::{Code, Refusal};

/// Why a call about runs is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The caller may not, or there is no such run.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The agent is paused, so nobody can invoke it.
    #[error("the agent is paused ({reason})")]
    AgentPaused {
        /// Why it is paused.
        reason: PauseReason,
    },
    /// The agent is terminated.
    #[error("the agent is terminated")]
    AgentTerminated,
    /// The agent is a draft.
    #[error("the agent waits for the board's approval")]
    AgentPendingApproval,
    /// The company is stopped by its budget.
    #[error("the budget of the month is used up")]
    BudgetExhausted,
    /// The run has ended already.
    #[error("the run has ended, as {status}")]
    NotLive {
        /// How it ended.
        status: RunStatus,
    },
    /// The run does not wait for its agent to say how it ended: it has not been
    /// started, its agent is no HTTP agent, it was asked to stop, or its agent has
    /// said something else.
    #[error("the run is {status} and does not wait to be completed")]
    NotWaiting {
        /// Where it stands.
        status: RunStatus,
    },
}

impl Refusal for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::AgentPaused { .. } => Code::AgentPaused,
            Self::AgentTerminated => Code::AgentTerminated,
            Self::AgentPendingApproval => Code::AgentPendingApproval,
            Self::BudgetExhausted => Code::BudgetExhausted,
            Self::NotLive { .. } => Code::RunNotLive,
            Self::NotWaiting { .. } => Code::RunNotWaiting,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::AgentPaused { reason } => Some(json!({ "pauseReason": reason })),
            Self::NotLive { status } | Self::NotWaiting { status } => {
                Some(json!({ "status": status }))
            }
            Self::AgentTerminated | Self::AgentPendingApproval | Self::BudgetExhausted => None,
        }
    }
}

/// One run.
pub fn get(reads: &mut dyn Reads, ctx: &Context<'_>, id: RunId) -> Result<Run, Failure<RunError>> {
    reads
        .runs()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("heartbeat run").into())
}

/// One run whose log is to be read. The board, its agent, and the managers above
/// that one: a log begins with what the agent was told, its instructions included.
pub fn get_with_log(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: RunId,
) -> Result<Run, Failure<RunError>> {
    let run = get(reads, ctx, id)?;
    if let Some(caller) = ctx.agent()
        && caller.agent != run.agent
        && !access::manages(reads, run.scope(), caller.agent, run.agent)?
    {
        let message = "only the agent itself and its managers read what it was told";
        return Err(Denied::Forbidden(message).into());
    }
    Ok(run)
}

/// Runs of a company, newest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    filter: &RunFilter,
    page: &PageRequest<RunCursor>,
) -> Result<Page<Run, RunCursor>, Failure<RunError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.runs().list(scope, filter, page)?)
}

/// Runs about one issue, newest first.
pub fn of_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    statuses: &[RunStatus],
    page: &PageRequest<RunCursor>,
) -> Result<Page<Run, RunCursor>, Failure<RunError>> {
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    let filter = RunFilter {
        issue: Some(issue.id),
        statuses: statuses.to_vec(),
        ..RunFilter::default()
    };
    Ok(reads.runs().list(issue.scope(), &filter, page)?)
}

/// What happened to a run and what was done within it, oldest first.
pub fn events(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: RunId,
    page: &PageRequest<ActivityCursor>,
) -> Result<Page<Activity, ActivityCursor>, Failure<RunError>> {
    let run = get(reads, ctx, id)?;
    Ok(reads.activity().of_run(run.scope(), id, page)?)
}
