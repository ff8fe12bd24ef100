//! Pause, resume, terminate (docs/lifecycles.md#agents). Board only.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::company::PauseReason;
use workforce_domain::id::AgentId;
use workforce_domain::issue::Assignee;
use workforce_domain::port::{Failure, Locked, Spender, StopScope, StoreError, Tx};
use workforce_domain::run::RunErrorCode;
use workforce_domain::time::Month;

use super::revisions::move_reports;
use super::{AgentDetail, AgentError, EMPLOYED, detail, lock, lock_with_company, require_employed};
use crate::activity_log::log_change;
use crate::approval_records;
use crate::budgets;
use crate::context::Context;
use crate::given_back::{Leaver, give_back};
use crate::refusal::{Code, Codes};

/// What [`pause`] refuses with.
pub const PAUSE: Codes = EMPLOYED;

/// Stops an agent's heartbeats and asks its live runs to stop. Pausing again
/// changes nothing, except that a budget's pause becomes the board's.
pub fn pause(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<AgentDetail, Failure<AgentError>> {
    let mut agent = lock(tx, ctx, id)?;
    ctx.require_board()?;
    require_employed(&agent).map_err(Failure::Refused)?;
    if let Ok(paused) = agent.lifecycle.pause(PauseReason::Manual, ctx.now)
        && paused != agent.lifecycle
    {
        agent.lifecycle = paused;
        agent.updated_at = ctx.now;
        tx.agents_mut().save(&agent)?;
        stop(tx, ctx, &agent)?;
        let details = json!({ "reason": PauseReason::Manual });
        log_change(tx, ctx, Action::AgentPaused, &mut agent, details);
    }
    Ok(detail(tx.reads(), ctx, agent.into_inner())?)
}

/// What [`resume`] refuses with.
pub const RESUME: Codes = Codes::with(&[Code::BudgetExhausted], &[EMPLOYED]);

/// Lets a paused agent run again; its pending wakes may start then. While the
/// month's budget is used up this is refused, unless the board forces it. Then
/// the agent works on for the rest of the month, or until its budget is changed.
pub fn resume(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    force: bool,
) -> Result<AgentDetail, Failure<AgentError>> {
    let mut agent = lock_with_company(tx, ctx, id)?;
    ctx.require_board()?;
    require_employed(&agent).map_err(Failure::Refused)?;
    if let (Some(reason), Ok(enabled)) = (agent.lifecycle.pause_reason(), agent.lifecycle.enable())
    {
        let month = Month::of(ctx.now);
        let scope = agent.scope();
        let basis = budgets::basis_of(tx.reads(), scope)?;
        let spender = Spender::Agent(id);
        let usage = budgets::usage(tx.reads(), scope, spender, agent.budget, basis, month)?;
        let overspent = usage.exhausted() && !agent.may_overspend(month);
        if overspent && !force {
            let utilization = usage.utilization();
            return Err(Failure::Refused(AgentError::BudgetExhausted {
                utilization,
            }));
        }
        let mut details = json!({});
        if overspent {
            agent.budget_override = Some(month);
            details = json!({
                "override": true,
                "month": month.to_string(),
                "utilizationPercent": usage.utilization().to_string(),
            });
        }
        agent.lifecycle = enabled;
        agent.end_backoff();
        agent.updated_at = ctx.now;
        tx.agents_mut().save(&agent)?;
        ctx.signal.raise();
        log_change(tx, ctx, Action::AgentResumed, &mut agent, details);
        if reason == PauseReason::Budget {
            budgets::wake_for_unfinished(tx, ctx, &agent)?;
        }
    }
    Ok(detail(tx.reads(), ctx, agent.into_inner())?)
}

/// Deactivates an agent for good: its keys are revoked, its wakes cancelled,
/// its runs asked to stop, its open issues given back, and whoever reports to
/// it reports to its manager. Terminating again changes nothing.
pub fn terminate(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<AgentDetail, Failure<AgentError>> {
    // With its company, so that nobody is put below it at the same time.
    let mut agent = lock_with_company(tx, ctx, id)?;
    ctx.require_board()?;
    if agent.lifecycle.state() != AgentState::Terminated {
        if agent.lifecycle.state() == AgentState::PendingApproval {
            approval_records::cancel_for_terminated_draft(tx, ctx, &agent)?;
        }
        deactivate(tx, ctx, &mut agent)?;
    }
    Ok(detail(tx.reads(), ctx, agent.into_inner())?)
}

/// Terminates an agent, with all that depends on it except the approval of a
/// draft. A terminated agent stays as it is.
pub(super) fn deactivate(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &mut Locked<Agent>,
) -> Result<(), Failure<AgentError>> {
    let Ok(terminated) = agent.lifecycle.terminate(ctx.now) else {
        return Ok(());
    };
    agent.lifecycle = terminated;
    agent.updated_at = ctx.now;
    tx.agents_mut().save(agent)?;
    move_reports(tx, ctx, agent)?;
    tx.credentials_mut().revoke_keys(agent, ctx.now)?;
    // Work that is handed in waits for whoever took its reviewer away.
    let leaver = Leaver {
        who: Assignee::Agent(agent.id),
        told: &format!("{} was terminated", agent.name),
        details: &json!({ "agentTerminated": agent.id }),
        heir: ctx.actor().board(),
    };
    give_back(tx, ctx, agent.scope(), &leaver)?;
    stop(tx, ctx, agent)?;
    tx.runs_mut()
        .cancel_pending(agent.scope(), StopScope::Agent(agent.id), ctx.now)?;
    let details = json!({ "name": agent.name });
    log_change(tx, ctx, Action::AgentTerminated, agent, details);
    Ok(())
}

fn stop(tx: &mut dyn Tx, ctx: &Context<'_>, agent: &Locked<Agent>) -> Result<(), StoreError> {
    let (stop, reason) = (StopScope::Agent(agent.id), RunErrorCode::CancelRequested);
    tx.runs_mut()
        .request_stop(agent.scope(), stop, None, reason, ctx.now)?;
    ctx.signal.raise();
    Ok(())
}
