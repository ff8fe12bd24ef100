use std::collections::{HashMap, HashSet};

use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::{Agent, AgentStatus};
use workforce_domain::budget::Spend;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::mention::only_alike;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{AgentCursor, AgentFilter, Failure, Reads, StoreError};
use workforce_domain::time::Month;

use super::{AgentDetail, AgentError, AgentView, detail};
use crate::access::{self, Denied};
use crate::context::Context;

/// How a caller names an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentRef {
    /// By id.
    Id(AgentId),
    /// By its short name, within a company or within the caller's own.
    UrlKey {
        /// The short name.
        key: String,
        /// The company the caller named.
        company: Option<CompanyId>,
    },
}

/// One agent with its chain of command.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    agent: &AgentRef,
) -> Result<AgentDetail, Failure<AgentError>> {
    let found = match agent {
        AgentRef::Id(id) => reads.agents().find(ctx.actor().scope(), *id)?,
        AgentRef::UrlKey { key, company } => {
            let own = ctx.agent().map(|caller| caller.company);
            let Some(company) = company.or(own) else {
                return Err(Denied::NotFound("agent").into());
            };
            let Some(scope) = ctx.actor().enter(company) else {
                return Err(Denied::NotFound("agent").into());
            };
            by_url_key(reads, scope, key)?
        }
    };
    let found = found.ok_or(Denied::NotFound("agent"))?;
    Ok(detail(reads, ctx, found)?)
}

/// The agent with a short name, compared as mentions are.
fn by_url_key(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    key: &str,
) -> Result<Option<Agent>, StoreError> {
    let found = reads.agents().find_by_url_key(scope, key)?;
    if found.is_some() {
        return Ok(found);
    }
    let all = reads.agents().url_keys(scope, "")?;
    match only_alike(&all, key) {
        Some(key) => reads.agents().find_by_url_key(scope, key),
        None => Ok(None),
    }
}

/// The record of the agent that asks.
pub fn me(reads: &mut dyn Reads, ctx: &Context<'_>) -> Result<AgentDetail, Failure<AgentError>> {
    let caller = ctx.agent().ok_or(Denied::AgentRequired)?;
    get(reads, ctx, &AgentRef::Id(caller.agent))
}

/// Which agents a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListAgents {
    /// With one of these statuses; with any when empty.
    pub statuses: Vec<AgentStatus>,
    /// Terminated ones too.
    pub include_terminated: bool,
}

/// All agents of a company, oldest first. A status is derived, so a page that
/// asks for some may hold fewer agents than its limit and still go on.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: &ListAgents,
    page: &PageRequest<AgentCursor>,
) -> Result<Page<AgentView, AgentCursor>, Failure<AgentError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let include_terminated = query.include_terminated;
    let page = reads
        .agents()
        .list(scope, AgentFilter { include_terminated }, page)?;
    let next = page.next;
    let mut items = views(reads, ctx, scope, page.items)?;
    if !query.statuses.is_empty() {
        items.retain(|view| query.statuses.contains(&view.status));
    }
    Ok(Page { items, next })
}

fn views(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    agents: Vec<Agent>,
) -> Result<Vec<AgentView>, StoreError> {
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let running: HashSet<AgentId> = reads.agents().running(scope, &ids)?.into_iter().collect();
    let spent: HashMap<AgentId, Spend> = reads
        .ledger()
        .spent_by(scope, &ids, Month::of(ctx.now))?
        .into_iter()
        .collect();
    // Which agents report to the caller is found by walking up from each agent
    // in the company's list of managers, without a query per agent.
    let managed = match ctx.agent() {
        Some(caller) => Some((caller.agent, managers(reads, scope)?)),
        None => None,
    };
    Ok(agents
        .into_iter()
        .map(|agent| AgentView {
            status: agent.status(running.contains(&agent.id)),
            spend: spent.get(&agent.id).copied().unwrap_or_default(),
            shows_config: managed
                .as_ref()
                .is_none_or(|(caller, managers)| stands_above(managers, *caller, agent.id)),
            agent,
        })
        .collect())
}

type Managers = HashMap<AgentId, AgentId>;

fn managers(reads: &mut dyn Reads, scope: CompanyScope) -> Result<Managers, StoreError> {
    Ok(everyone(reads, scope, false)?
        .into_iter()
        .filter_map(|agent| agent.reports_to.map(|manager| (agent.id, manager)))
        .collect())
}

fn stands_above(managers: &Managers, caller: AgentId, agent: AgentId) -> bool {
    let mut at = Some(agent);
    for _ in 0..=workforce_domain::agent::CHAIN_LIMIT {
        match at {
            Some(id) if id == caller => return true,
            Some(id) => at = managers.get(&id).copied(),
            None => return false,
        }
    }
    false
}

/// A company's tree or breakdown shows about so many agents at most.
const ORG_LIMIT: usize = 5000;

/// Every agent of a company, oldest first, up to the limit above.
pub(crate) fn everyone(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    include_terminated: bool,
) -> Result<Vec<Agent>, StoreError> {
    let filter = AgentFilter { include_terminated };
    let mut agents = Vec::new();
    let mut page = PageRequest::first();
    while agents.len() < ORG_LIMIT {
        let found = reads.agents().list(scope, filter, &page)?;
        agents.extend(found.items);
        match found.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    Ok(agents)
}
