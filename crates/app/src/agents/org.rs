//! The organisation's tree.

use std::collections::{HashMap, HashSet};

use workforce_domain::agent::{Agent, AgentStatus, CHAIN_LIMIT, OrgNode};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{Failure, Reads};

use super::AgentError;
use super::read::everyone;
use crate::access;
use crate::context::Context;

/// How deep the tree nests at most, so that neither the server nor a reader of
/// the answer runs out of stack.
const DEPTH_LIMIT: usize = CHAIN_LIMIT;

/// What the tree shows of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct OrgEntry {
    /// The agent.
    pub agent: Agent,
    /// Its status.
    pub status: AgentStatus,
}

/// A company's organisation, without terminated agents. An agent without a
/// manager in it is a root. So is an agent beyond the deepest level, with those
/// below it.
pub fn org(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Vec<OrgNode<OrgEntry>>, Failure<AgentError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let agents = everyone(reads, scope, false)?;
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let running: HashSet<AgentId> = reads.agents().running(scope, &ids)?.into_iter().collect();
    let known: HashSet<AgentId> = ids.iter().copied().collect();
    let mut reports = Groups::new();
    for agent in agents {
        let manager = agent.reports_to.filter(|manager| known.contains(manager));
        let status = agent.status(running.contains(&agent.id));
        reports
            .entry(manager)
            .or_default()
            .push(OrgEntry { agent, status });
    }
    let mut cut_off = Vec::new();
    let mut roots = grow(&mut reports, None, 0, &mut cut_off);
    while let Some(manager) = cut_off.pop() {
        roots.extend(grow(&mut reports, Some(manager), 0, &mut cut_off));
    }
    Ok(roots)
}

type Groups = HashMap<Option<AgentId>, Vec<OrgEntry>>;

/// Takes each group of reports once, so that it ends even in a cycle. Managers
/// whose reports would stand too deep are left in `cut_off`.
fn grow(
    reports: &mut Groups,
    manager: Option<AgentId>,
    depth: usize,
    cut_off: &mut Vec<AgentId>,
) -> Vec<OrgNode<OrgEntry>> {
    let group = reports.remove(&manager).unwrap_or_default();
    group
        .into_iter()
        .map(|item| {
            let below = if depth < DEPTH_LIMIT {
                grow(reports, Some(item.agent.id), depth + 1, cut_off)
            } else {
                cut_off.push(item.agent.id);
                Vec::new()
            };
            OrgNode {
                item,
                reports: below,
            }
        })
        .collect()
}
