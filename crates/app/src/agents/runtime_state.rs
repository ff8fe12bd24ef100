use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentStatus};
use workforce_domain::budget::BudgetUsage;
use workforce_domain::id::AgentId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, Reads, RunFilter, Spender};
use workforce_domain::run::Run;
use workforce_domain::session::ProviderGate;
use workforce_domain::time::Month;
use workforce_domain::timer::Timer;
use workforce_domain::wake::Wake;

use super::{AgentError, waits};
use crate::access::Denied;
use crate::budgets;
use crate::context::Context;

/// At most so many pending wakes are shown.
const SHOWN_WAKES: usize = 50;
/// Among how many of the newest runs the last ended one is looked for; newer
/// ones still wait or run.
const NEWEST_RUNS: usize = 100;

/// Why an agent runs, or does not.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeState {
    /// The agent.
    pub agent: Agent,
    /// Its status.
    pub status: AgentStatus,
    /// Its live runs, oldest first.
    pub live: Vec<Run>,
    /// Its pending wakes, oldest first.
    pub pending: Vec<Wake>,
    /// Its newest run that has ended.
    pub last: Option<Run>,
    /// Its timer as it is now.
    pub timer: Timer,
    /// How its spend of the month stands.
    pub usage: BudgetUsage,
    /// What the provider of its model said of its account, while that counts.
    pub gate: Option<ProviderGate>,
}

/// Why an agent runs, or does not. Anyone of the company.
pub fn runtime_state(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<RuntimeState, Failure<AgentError>> {
    let Some(agent) = reads.agents().find(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("agent").into());
    };
    let scope = agent.scope();
    let filter = RunFilter {
        agent: Some(id),
        ..RunFilter::default()
    };
    let page = PageRequest {
        limit: NEWEST_RUNS,
        ..PageRequest::first()
    };
    let newest = reads.runs().list(scope, &filter, &page)?.items;
    let live = reads.runs().live_of(scope, id)?;
    let (spender, month) = (Spender::Agent(id), Month::of(ctx.now));
    let basis = budgets::basis_of(reads, scope)?;
    let timer = reads.agents().timer(scope, id)?.unwrap_or_default();
    Ok(RuntimeState {
        status: agent.status(!live.is_empty()),
        live,
        pending: reads.runs().pending_of(scope, id, SHOWN_WAKES)?,
        last: newest.into_iter().find(|run| run.status.is_terminal()),
        timer: timer.seen_at(ctx.now),
        usage: budgets::usage(reads, scope, spender, agent.budget, basis, month)?,
        gate: waits::gate(reads, &agent, ctx.now)?,
        agent,
    })
}
