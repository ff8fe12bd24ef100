//! What an agent waits for since its runs failed
//! (docs/heartbeats.md#back-off).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, ProviderAccount};
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};
use workforce_domain::session::ProviderGate;
use workforce_domain::text::AccountKey;
use workforce_domain::time::Timestamp;

use super::{AgentError, RuntimeState, lock, runtime_state};
use crate::activity_log::log_activity;
use crate::context::Context;

/// What keeps the account of an agent waiting now.
pub(super) fn gate(
    reads: &mut dyn Reads,
    agent: &Agent,
    now: Timestamp,
) -> Result<Option<ProviderGate>, StoreError> {
    let mut last: Option<ProviderGate> = None;
    for account in accounts(agent) {
        let gate = reads.sessions().find_gate(agent.scope(), &account)?;
        let closed = gate.filter(|gate| gate.blocked_until > now);
        last = last
            .into_iter()
            .chain(closed)
            .max_by_key(|gate| gate.blocked_until);
    }
    Ok(last)
}

/// The keys under which the account of an agent may be kept waiting: the one it
/// shares, and its own.
fn accounts(agent: &Agent) -> impl Iterator<Item = AccountKey> {
    let account = agent.provider_account();
    let shared = account.as_ref().and_then(ProviderAccount::shared_key);
    let own = account.and_then(|account| account.own_key(agent.id));
    [shared, own].into_iter().flatten()
}

/// Lets an agent run at once whose runs failed or whose provider refused its
/// account, and with it every agent that uses the same account: whatever was in
/// the way is mended. Board only.
pub fn lift_wait(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<RuntimeState, Failure<AgentError>> {
    ctx.require_board()?;
    let mut agent = lock(tx, ctx, id)?;
    let scope = agent.scope();
    let backs_off = agent.backoff_until.is_some_and(|until| until > ctx.now);
    let waits = backs_off || gate(tx.reads(), &agent, ctx.now)?.is_some();
    agent.end_backoff();
    for account in accounts(&agent) {
        tx.sessions_mut().delete_gate(scope, &account)?;
    }
    tx.agents_mut().save(&agent)?;
    if waits {
        log_activity(tx, ctx, Action::AgentWaitLifted, &agent, json!({}));
        ctx.signal.raise();
    }
    runtime_state(tx.reads(), ctx, id)
}
