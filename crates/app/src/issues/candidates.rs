//! The agents that a change may leave an issue with.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Replace;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Reads, Shared, StoreError, Tx};

use super::update_command::UpdateIssue;
use super::{IssueError, seen, status};
use crate::context::Context;

/// The agents that a change may leave the issue with. They are held before the
/// issue, and looked at when their turn comes.
#[derive(Default)]
pub(super) struct Candidates {
    /// Who is to get it: the agent that the change names, or the caller that
    /// takes it up.
    pub(super) new: Option<Shared<Agent>>,
    /// Who had it when it ended, where it is reopened.
    pub(super) former: Option<Shared<Agent>>,
    /// Who has its parent, where the work of an agent may have to be reviewed.
    pub(super) parents_assignee: Option<Shared<Agent>>,
    /// The manager of the calling agent, where its work is to be reviewed.
    pub(super) manager: Option<Shared<Agent>>,
    /// Whose work is reviewed, where it may be sent back.
    pub(super) implementer: Option<Shared<Agent>>,
}

impl Candidates {
    /// Holds whoever may get the issue by a change.
    pub(super) fn lock(
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &IssueRef,
        command: &UpdateIssue,
    ) -> Result<Self, Failure<IssueError>> {
        let Replace::Set(to) = command.status else {
            let Some(named) = command.assignee_agent_id.value().copied() else {
                return Ok(Self::default());
            };
            let seen = seen(tx.reads(), ctx, issue)?;
            return Ok(Self {
                new: tx.agents_mut().share(seen.scope(), named)?,
                ..Self::default()
            });
        };
        let seen = seen(tx.reads(), ctx, issue)?;
        let named = command.assignee_agent_id.value().copied();
        let caller = ctx.actor().agent_id();
        let new = named.or(caller.filter(|_| to == IssueStatus::InProgress));
        let reopens = caller.is_none() && !to.is_terminal() && seen.status().is_terminal();
        let former = seen.assignee.agent().filter(|_| reopens);
        let ends = matches!(to, IssueStatus::Done | IssueStatus::InReview);
        let (parents_assignee, manager) = match caller.filter(|_| ends) {
            Some(caller) => (
                parents_assignee(tx.reads(), &seen)?,
                manager_for_review(tx, &seen, caller, to)?,
            ),
            None => (None, None),
        };
        let returns = matches!(to, IssueStatus::Todo | IssueStatus::InProgress);
        let implementer = seen.implementer.filter(|_| returns);
        let all = [new, former, parents_assignee, manager, implementer];
        let mut in_order: Vec<AgentId> = all.into_iter().flatten().collect();
        in_order.sort_unstable();
        let mut held = Vec::with_capacity(in_order.len());
        for agent in in_order {
            held.push((agent, tx.agents_mut().share(seen.scope(), agent)?));
        }
        let mut take = |agent: Option<AgentId>| {
            let place = held.iter().position(|(held, _)| Some(*held) == agent)?;
            held.swap_remove(place).1
        };
        Ok(Self {
            new: take(new),
            former: take(former),
            parents_assignee: take(parents_assignee),
            manager: take(manager),
            implementer: take(implementer),
        })
    }
}

fn parents_assignee(reads: &mut dyn Reads, issue: &Issue) -> Result<Option<AgentId>, StoreError> {
    let Some(parent) = issue.parent else {
        return Ok(None);
    };
    let parent = reads.issues().find(issue.scope().into(), &parent.into())?;
    Ok(parent.and_then(|parent| parent.assignee.agent()))
}

/// The manager of `agent` if its work on an issue is to be reviewed when it sets `to`.
fn manager_for_review(
    tx: &mut dyn Tx,
    issue: &Issue,
    agent: AgentId,
    to: IssueStatus,
) -> Result<Option<AgentId>, StoreError> {
    if to == IssueStatus::Done && !status::review_required(tx, issue)? {
        return Ok(None);
    }
    let agent = tx.agents().find(issue.scope().into(), agent)?;
    Ok(agent.and_then(|agent| agent.reports_to))
}
