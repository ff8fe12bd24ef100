//! Who reports to whom, as a chart.

use std::collections::{HashMap, HashSet};

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_app::agents::AgentView;
use workforce_domain::agent::{AgentStatus, CHAIN_LIMIT};
use workforce_domain::budget::BudgetBasis;
use workforce_domain::id::AgentId;

use crate::html::filters;
use crate::html::meter::Meter;
use crate::html::people::Who;
use crate::html::status::Pill;
use crate::links::Links;

/// A branch with more leaves than these is folded.
const LEAVES: usize = 7;

/// An agent in the chart, with whoever reports to it.
#[derive(Template)]
#[template(path = "parts/node.html")]
pub(super) struct Node {
    who: Who,
    link: String,
    is_at_work: bool,
    /// Its state, or the issue that it works on.
    pill: Pill,
    issue: Option<String>,
    /// How much of its limit is used.
    percent: Option<i64>,
    meter: Meter,
    below: Vec<Self>,
    /// How many agents at the ends of its branches.
    leaves: usize,
    is_folded: bool,
}

impl HtmlSafe for Node {}

/// All agents, as branches of those without a manager.
pub(super) fn tree(
    agents: &[AgentView],
    at_work: &HashMap<AgentId, String>,
    basis: BudgetBasis,
    links: &Links,
) -> Vec<Node> {
    let known: HashSet<AgentId> = agents.iter().map(|view| view.agent.id).collect();
    let mut reports: Reports<'_> = HashMap::new();
    for view in agents {
        let manager = view.agent.reports_to.filter(|it| known.contains(it));
        reports.entry(manager).or_default().push(view);
    }
    let grown = Growing {
        at_work,
        basis,
        links,
    };
    grown.below(&mut reports, None, 0)
}

type Reports<'a> = HashMap<Option<AgentId>, Vec<&'a AgentView>>;

struct Growing<'a> {
    at_work: &'a HashMap<AgentId, String>,
    basis: BudgetBasis,
    links: &'a Links,
}

impl Growing<'_> {
    /// Takes each group of reports once, so that it ends.
    fn below(
        &self,
        reports: &mut Reports<'_>,
        manager: Option<AgentId>,
        depth: usize,
    ) -> Vec<Node> {
        if depth > CHAIN_LIMIT {
            return Vec::new();
        }
        let group = reports.remove(&manager).unwrap_or_default();
        group
            .into_iter()
            .map(|view| {
                let below = self.below(reports, Some(view.agent.id), depth + 1);
                self.node(view, below)
            })
            .collect()
    }

    fn node(&self, view: &AgentView, below: Vec<Node>) -> Node {
        let agent = &view.agent;
        let meter = Meter::new(view.spend, agent.budget, self.basis);
        let leaves = match below.is_empty() {
            true => 1,
            false => below.iter().map(|node| node.leaves).sum(),
        };
        Node {
            who: Who::agent(view),
            link: self.links.agent(&agent.url_key),
            is_at_work: view.status == AgentStatus::Running,
            pill: Pill::of_employee(view),
            issue: self.at_work.get(&agent.id).cloned(),
            percent: meter.percent(),
            meter,
            leaves,
            is_folded: below.len() > LEAVES,
            below,
        }
    }
}
