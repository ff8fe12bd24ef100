//! The timers of agents (docs/heartbeats.md#timers): a beat wakes its agent
//! when something waits for it. Otherwise the timer rests until something does.

use std::convert::Infallible;

use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::time::Timestamp;
use workforce_domain::timer::{TimerAction, TimerLook};
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::context::Context;
use crate::wakes::{self, WakeRequest};

/// Looks at the timer of one agent. The agent is locked, so that of several
/// servers that look only one finds a beat due. At `clear_at` it was known that nothing waits
/// for agents whose timers rest.
pub fn check(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: AgentId,
    clear_at: Option<Timestamp>,
) -> Result<(), Failure<Infallible>> {
    let Some(agent) = tx.agents_mut().lock(company.into(), id)? else {
        return Ok(());
    };
    let Some(timer) = tx.agents().timer(agent.scope(), id)? else {
        return Ok(());
    };
    let look = TimerLook {
        now: ctx.now,
        clear_at,
        has_work: agent.always_runs() || tx.agents().has_work(agent.scope(), id)?,
        chance: chance(ctx),
    };
    match timer.decide(&look) {
        TimerAction::Keep => {}
        TimerAction::Set(setting) => tx.engine_mut().set_timer(&agent, &setting)?,
        TimerAction::Beat(setting) => {
            tx.engine_mut().set_timer(&agent, &setting)?;
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
    Ok(())
}

/// Any number: the last bits of a new id, which are random.
fn chance(ctx: &Context<'_>) -> u32 {
    let [.., a, b, c, d] = *ctx.ids.next().as_bytes();
    u32::from_be_bytes([a, b, c, d])
}
