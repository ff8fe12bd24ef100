use serde::Serialize;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};
use workforce_domain::run::{Run, RunErrorCode, RunKind, RunStatus};
use workforce_domain::string_enum;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::Label;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::RunError;
use crate::access::{self, Denied};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::wakes::{self, WakeOutcome, WakeRequest};

/// What a caller wants the agent to know is at most so long as JSON, since it
/// is handed to the program in a variable.
const MAX_PAYLOAD: usize = 16 * 1024;

/// What an invocation led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = InvokedHeartbeat))]
#[serde(rename_all = "camelCase")]
pub struct InvokeOutcome {
    /// The queued run.
    #[serde(flatten)]
    pub run: Run,
    /// True when it was queued for something else before, so that ten
    /// invocations lead to one run.
    pub coalesced: bool,
}

/// What [`invoke`] and [`wake_up`] refuse with.
pub const ASK: Codes = Codes::of(&[
    Code::AgentPaused,
    Code::AgentPendingApproval,
    Code::AgentTerminated,
    Code::BudgetExhausted,
    Code::CompanyNotActive,
    Code::InvalidField,
]);

/// Asks for a heartbeat by hand: the board for anyone, an agent for itself.
pub fn invoke(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    payload: Document,
) -> Result<InvokeOutcome, Failure<RunError>> {
    let agent = lock(tx, ctx, id)?;
    if ctx.agent().is_some_and(|caller| caller.agent != id) {
        return Err(Denied::Forbidden("an agent invokes itself only").into());
    }
    ask(
        tx,
        ctx,
        &agent,
        WakeSource::OnDemand,
        WakeReason::Manual,
        payload,
    )
}

/// Asks by hand for a heartbeat of whoever an open issue is assigned to, to work on it; `None` where
/// that is no agent, or nothing is left to do. Board only.
pub fn invoke_about(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
) -> Result<Option<InvokeOutcome>, Failure<RunError>> {
    ctx.require_board()?;
    let Some(assignee) = issue
        .assignee
        .agent()
        .filter(|_| !issue.status().is_terminal())
    else {
        return Ok(None);
    };
    let agent = lock(tx, ctx, assignee)?;
    let (source, reason) = (WakeSource::OnDemand, WakeReason::Manual);
    let request = WakeRequest::about(&agent, issue.id, source, reason);
    asked(tx, ctx, request).map(Some)
}

/// Wakes an agent for a reason.
#[derive(Clone, Debug, PartialEq)]
pub struct WakeUp {
    /// What kind of thing causes it.
    pub source: WakeSource,
    /// How it came about, for the agent to know.
    pub trigger_detail: Option<TriggerDetail>,
    /// Why: a known reason, or any text for the agent to know.
    pub reason: Option<Label>,
    /// What else the agent is to know.
    pub payload: Document,
}

string_enum! {
    /// How somebody came to wake an agent.
    pub enum TriggerDetail {
        /// A person did.
        Manual = "manual",
        /// To see whether it answers.
        Ping = "ping",
        /// What was waited for is there.
        Callback = "callback",
        /// A program did.
        System = "system",
    }
}

/// What became of a request to wake an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WakeUpOutcome {
    /// A run was queued, or was before.
    Asked(Box<InvokeOutcome>),
    /// Nothing: the agent wants to be woken by its timer alone.
    Skipped,
}

/// Wakes an agent for a reason: the board anyone, an agent itself and those
/// below it. Repeated requests lead to one run, as with [`invoke`].
pub fn wake_up(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: WakeUp,
) -> Result<WakeUpOutcome, Failure<RunError>> {
    let agent = lock(tx, ctx, id)?;
    if let Some(caller) = ctx.agent()
        && caller.agent != id
        && !access::manages(tx.reads(), agent.scope(), caller.agent, id)?
    {
        let message = "an agent wakes itself and those below it only";
        return Err(Denied::Forbidden(message).into());
    }
    if !agent.wakes_on_demand() {
        require_runnable(tx, &agent)?;
        return Ok(WakeUpOutcome::Skipped);
    }
    let source = command.source;
    let (reason, payload) = command.into_reason_and_payload();
    let asked = ask(tx, ctx, &agent, source, reason, payload)?;
    Ok(WakeUpOutcome::Asked(Box::new(asked)))
}

impl WakeUp {
    /// The reason, and what the agent is told. What is no known reason, or one
    /// that only workforce gives, is told as a text.
    fn into_reason_and_payload(self) -> (WakeReason, Document) {
        let known = self.reason.as_deref().and_then(WakeReason::parse);
        let own = [
            WakeReason::ProcessLostRetry,
            WakeReason::ProviderRetry,
            WakeReason::BudgetResumed,
            WakeReason::HeartbeatTimer,
        ];
        let reason = known.filter(|reason| !own.contains(reason));
        let mut payload = self.payload;
        let mut add = |key: &str, value: Value| {
            payload.entry(key).or_insert(value);
        };
        if let (None, Some(text)) = (reason, &self.reason) {
            add("reason", json!(text));
        }
        if let Some(detail) = self.trigger_detail {
            add("triggerDetail", json!(detail));
        }
        (reason.unwrap_or(WakeReason::Manual), payload)
    }
}

fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<Locked<Agent>, Failure<RunError>> {
    tx.agents_mut()
        .lock(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("agent").into())
}

/// The one way in which somebody asks for a run by hand.
fn ask(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Agent,
    source: WakeSource,
    reason: WakeReason,
    payload: Document,
) -> Result<InvokeOutcome, Failure<RunError>> {
    access::check_document(&payload, "/payload", MAX_PAYLOAD)?;
    let request = WakeRequest {
        agent,
        issue: None,
        kind: RunKind::General,
        source,
        reason,
        comments: Vec::new(),
        payload,
        not_before: None,
    };
    asked(tx, ctx, request)
}

fn asked(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    request: WakeRequest<'_>,
) -> Result<InvokeOutcome, Failure<RunError>> {
    let (agent, source, reason) = (request.agent, request.source, request.reason);
    require_runnable(tx, agent)?;
    let (run, coalesced) = match wakes::request(tx, ctx, request)? {
        WakeOutcome::Queued(run) => (run, false),
        WakeOutcome::Coalesced(run) => (run, true),
        // Its company was stopped a moment ago.
        WakeOutcome::Dropped => {
            require_runnable(tx, agent)?;
            return Err(Failure::Refused(RunError::AgentTerminated));
        }
    };
    let run = found(tx, agent, run)?;
    log_activity(
        tx,
        ctx,
        Action::HeartbeatInvoked,
        &run,
        json!({ "coalesced": coalesced, "source": source, "reason": reason }),
    );
    Ok(InvokeOutcome { run, coalesced })
}

fn found(tx: &mut dyn Tx, agent: &Agent, run: RunId) -> Result<Run, Failure<RunError>> {
    // The wake was locked or written in this transaction, so its run exists.
    tx.runs()
        .find(agent.scope().into(), run)?
        .ok_or(Failure::Store(StoreError::Contended))
}

fn require_runnable(tx: &mut dyn Tx, agent: &Agent) -> Result<(), Failure<RunError>> {
    let refused = |error| Err(Failure::Refused(error));
    if let Some(reason) = agent.lifecycle.pause_reason() {
        return refused(RunError::AgentPaused { reason });
    }
    match agent.lifecycle.state() {
        AgentState::Enabled | AgentState::Paused => {}
        AgentState::PendingApproval => return refused(RunError::AgentPendingApproval),
        AgentState::Terminated => return refused(RunError::AgentTerminated),
    }
    let Some(company) = tx.companies().find(agent.scope().into(), agent.company)? else {
        return Err(Denied::NotFound("company").into());
    };
    if !company.is_active() {
        return Err(Denied::CompanyNotActive {
            status: company.status(),
        }
        .into());
    }
    if company.lifecycle.paused().is_some() {
        return refused(RunError::BudgetExhausted);
    }
    Ok(())
}

/// What [`cancel`] refuses with.
pub const CANCEL: Codes = Codes::of(&[Code::RunNotLive]);

/// Stops a run: one that waits is cancelled at once, a live one is asked to
/// stop and is cancelled when its processes are gone. The board, or an agent
/// that stands above.
pub fn cancel(tx: &mut dyn Tx, ctx: &Context<'_>, id: RunId) -> Result<Run, Failure<RunError>> {
    let scope = ctx.actor().scope();
    let Some(seen) = tx.runs().find(scope, id)? else {
        return Err(Denied::NotFound("heartbeat run").into());
    };
    let company = seen.scope();
    if let Some(caller) = ctx.agent() {
        ctx.require_working_company()?;
        if !access::manages(tx.reads(), company, caller.agent, seen.agent)? {
            return Err(Denied::Forbidden("only its managers may stop a run").into());
        }
    }
    let run = match seen.status {
        RunStatus::Queued => cancel_queued(tx, ctx, &seen)?,
        _ => None,
    };
    let run = match run {
        Some(run) => run,
        None => {
            let Some(mut run) = tx.runs_mut().lock(company.into(), id)? else {
                return Err(Denied::NotFound("heartbeat run").into());
            };
            match run.status {
                // Its wake has gone since we looked.
                RunStatus::Queued => return Err(Failure::Store(StoreError::Contended)),
                RunStatus::Running => {}
                status => return Err(Failure::Refused(RunError::NotLive { status })),
            }
            if !run.ask_to_stop(RunErrorCode::CancelRequested, ctx.now) {
                return Ok(run.into_inner());
            }
            tx.runs_mut().save(&run)?;
            run.into_inner()
        }
    };
    ctx.signal.raise();
    log_activity(
        tx,
        ctx,
        Action::HeartbeatCancelled,
        &run,
        json!({ "status": run.status }),
    );
    Ok(run)
}

/// Cancels a run that waits, with its wake; `None` when it waits no more.
fn cancel_queued(tx: &mut dyn Tx, ctx: &Context<'_>, run: &Run) -> Result<Option<Run>, StoreError> {
    let company = run.scope();
    let wake = tx
        .runs_mut()
        .lock_pending_wake(company, run.agent, run.issue)?;
    let Some(wake) = wake.filter(|wake| wake.run == run.id) else {
        return Ok(None);
    };
    tx.runs_mut().cancel_wake(wake, ctx.now)?;
    tx.runs().find(company.into(), run.id)
}
