//! The timers of agents (docs/heartbeats.md#timers): a beat wakes its agent
//! when something waits for it, and is counted otherwise.

use std::convert::Infallible;

use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::timer::TimerAction;
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::context::Context;
use crate::wakes::{self, WakeRequest};

/// Looks at the timer of one agent. The agent is locked, so that of several
/// servers that look only one finds a beat due.
pub fn check(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: AgentId,
) -> Result<(), Failure<Infallible>> {
    let Some(agent) = tx.agents_mut().lock(company.into(), id)? else {
        return Ok(());
    };
    let Some(timer) = tx.agents().timer(agent.scope(), id)? else {
        return Ok(());
    };
    match timer.decide(ctx.now, chance(ctx)) {
        TimerAction::NotDue => {}
        TimerAction::Set(next) => tx.engine_mut().set_timer(&agent, next, false)?,
        TimerAction::Due(next) => {
            let has_work = agent.always_runs() || tx.agents().has_work(agent.scope(), id)?;
            tx.engine_mut().set_timer(&agent, Some(next), !has_work)?;
            if has_work {
                let request = WakeRequest {
                    agent: &agent,
                    issue: None,
                    kind: RunKind::General,
                    source: WakeSource::Timer,
                    reason: WakeReason::HeartbeatTimer,
                    comments: Vec::new(),
                    payload: Document::new(),
                    not_before: None,
                };
                wakes::request(tx, ctx, request)?;
            }
        }
    }
    Ok(())
}

/// Any number: the last bits of a new id, which are random.
fn chance(ctx: &Context<'_>) -> u32 {
    let [.., a, b, c, d] = *ctx.ids.next().as_bytes();
    u32::from_be_bytes([a, b, c, d])
}
