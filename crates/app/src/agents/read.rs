use std::collections::{HashMap, HashSet};

use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::{Agent, AgentStatus, OrgNode};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::money::Cents;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{AgentFilter, AgentKeyset, Failure, Reads, StoreError};
use workforce_domain::time::Month;

use super::{AgentDetail, AgentError, AgentView, detail};
use crate::access::{self, Denied, denied};
use crate::call::Call;

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
///
/// # Errors
/// [`AgentError`]
pub fn get(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    agent: &AgentRef,
) -> Result<AgentDetail, Failure<AgentError>> {
    let found = match agent {
        AgentRef::Id(id) => reads.agents().find(call.actor().scope(), *id)?,
        AgentRef::UrlKey { key, company } => {
            let own = call.agent().map(|caller| caller.company);
            let Some(company) = company.or(own) else {
                return Err(denied(Denied::NotFound("agent")));
            };
            let Some(scope) = call.actor().enter(company) else {
                return Err(denied(Denied::NotFound("agent")));
            };
            reads.agents().find_by_url_key(scope, key)?
        }
    };
    let found = found.ok_or_else(|| denied(Denied::NotFound("agent")))?;
    Ok(detail(reads, call, found)?)
}

/// The record of the agent that asks.
///
/// # Errors
/// [`AgentError`]
pub fn me(reads: &mut dyn Reads, call: &Call<'_>) -> Result<AgentDetail, Failure<AgentError>> {
    let caller = call.agent().ok_or_else(|| denied(Denied::AgentRequired))?;
    get(reads, call, &AgentRef::Id(caller.agent))
}

/// All agents of a company, oldest first, terminated ones too unless the
/// filter leaves them out.
///
/// # Errors
/// [`AgentError`]
pub fn list(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyId,
    filter: AgentFilter,
    page: &PageRequest<AgentKeyset>,
) -> Result<Page<AgentView, AgentKeyset>, Failure<AgentError>> {
    let scope = access::company_scope(reads, call, company)?;
    let page = reads.agents().list(scope, filter, page)?;
    let next = page.next;
    Ok(Page {
        items: views(reads, call, scope, page.items)?,
        next,
    })
}

fn views(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    scope: CompanyScope,
    agents: Vec<Agent>,
) -> Result<Vec<AgentView>, StoreError> {
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let running: HashSet<AgentId> = reads.agents().running(scope, &ids)?.into_iter().collect();
    let spent: HashMap<AgentId, Cents> = reads
        .ledger()
        .spent_by(scope, &ids, Month::of(call.now))?
        .into_iter()
        .collect();
    // Those a caller stands above are found by walking up from each agent
    // within the page's own company, without a query per agent.
    let managed = match call.agent() {
        Some(caller) => Some((caller.agent, managers(reads, scope)?)),
        None => None,
    };
    Ok(agents
        .into_iter()
        .map(|agent| AgentView {
            status: agent.status(running.contains(&agent.id)),
            spent: spent.get(&agent.id).copied().unwrap_or_default(),
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

/// What the tree shows of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct OrgEntry {
    /// The agent.
    pub agent: Agent,
    /// Its status.
    pub status: AgentStatus,
}

/// A company's organisation: agents without a living manager at the roots,
/// terminated ones left out.
///
/// # Errors
/// [`AgentError`]
pub fn org(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyId,
) -> Result<Vec<OrgNode<OrgEntry>>, Failure<AgentError>> {
    let scope = access::company_scope(reads, call, company)?;
    let agents = everyone(reads, scope, false)?;
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let running: HashSet<AgentId> = reads.agents().running(scope, &ids)?.into_iter().collect();
    let known: HashSet<AgentId> = ids.iter().copied().collect();
    let mut reports: HashMap<Option<AgentId>, Vec<OrgEntry>> = HashMap::new();
    for agent in agents {
        let manager = agent.reports_to.filter(|manager| known.contains(manager));
        let status = agent.status(running.contains(&agent.id));
        reports
            .entry(manager)
            .or_default()
            .push(OrgEntry { agent, status });
    }
    Ok(grow(&mut reports, None))
}

/// Takes each group of reports once, so that it ends even in a cycle.
fn grow(
    reports: &mut HashMap<Option<AgentId>, Vec<OrgEntry>>,
    manager: Option<AgentId>,
) -> Vec<OrgNode<OrgEntry>> {
    let group = reports.remove(&manager).unwrap_or_default();
    group
        .into_iter()
        .map(|entry| {
            let below = grow(reports, Some(entry.agent.id));
            OrgNode {
                item: entry,
                reports: below,
            }
        })
        .collect()
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
