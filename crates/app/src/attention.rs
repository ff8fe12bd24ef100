//! What waits for a person in a company (docs/board.md#inbox).

use serde_json::Value;
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::approval::{Approval, ApprovalStanding};
use workforce_domain::company::PauseReason;
use workforce_domain::id::CompanyId;
use workforce_domain::issue::{Issue, IssueStatus, StuckIssue};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AgentFilter, ApprovalFilter, Failure, Reads};
use workforce_domain::string_enum;
use workforce_domain::time::Timestamp;

use crate::access::{self, Denied};
use crate::context::Context;
use crate::refusal::{Code, Refusal};

/// At most so many of each kind are told.
pub const MOST: usize = 50;

/// Why the call is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct AttentionError(#[from] pub Denied);

impl Refusal for AttentionError {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn details(&self) -> Option<Value> {
        self.0.details()
    }
}

string_enum! {
    /// Why a person is wanted.
    pub enum NeedKind {
        /// The budget of an agent is used up.
        BudgetStop = "budget_stop",
        /// An approval waits for a decision.
        Decision = "decision",
        /// An issue is to be reviewed, and no agent does it.
        Review = "review",
        /// An issue is assigned to the board.
        Assigned = "assigned",
        /// The last runs of an agent failed.
        Failing = "failing",
        /// Nothing moves an issue by itself.
        Stuck = "stuck",
    }
}

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// An agent that its budget stopped.
    BudgetStop(Agent),
    /// An approval that nobody decided on.
    Decision(Approval),
    /// An issue that a person is to review, or to do.
    Issue(Issue),
    /// An agent whose last runs failed.
    Failing(Agent),
    /// An issue that is stuck.
    Stuck(StuckIssue),
}

impl Need {
    /// Why a person is wanted.
    pub fn kind(&self) -> NeedKind {
        match self {
            Self::BudgetStop(_) => NeedKind::BudgetStop,
            Self::Decision(_) => NeedKind::Decision,
            Self::Issue(issue) if issue.status() == IssueStatus::InReview => NeedKind::Review,
            Self::Issue(_) => NeedKind::Assigned,
            Self::Failing(_) => NeedKind::Failing,
            Self::Stuck(_) => NeedKind::Stuck,
        }
    }

    /// Since when it waits, or when it changed last.
    pub fn since(&self) -> Timestamp {
        match self {
            Self::BudgetStop(agent) => {
                let pause = agent.lifecycle.paused();
                pause.map_or(agent.updated_at, |pause| pause.at)
            }
            Self::Decision(approval) => approval.created_at,
            Self::Issue(issue) => issue.updated_at,
            Self::Failing(agent) => agent.last_heartbeat_at.unwrap_or(agent.updated_at),
            Self::Stuck(issue) => issue.since,
        }
    }
}

/// All that waits for a person in a company: in the order of [`NeedKind`], what waits longest
/// first, at most [`MOST`] of each kind. The board.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<Vec<Need>, Failure<AttentionError>> {
    ctx.require_board()?;
    let scope = access::company_scope(reads, ctx, company)?;
    let agents = reads.agents();
    let agents = agents.list(scope, EMPLOYED, &PageRequest::first())?.items;
    gather(reads, scope, agents)
}

/// The same where the agents, those that are gone left out, are at hand.
pub fn list_beside(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    agents: impl IntoIterator<Item = Agent>,
) -> Result<Vec<Need>, Failure<AttentionError>> {
    ctx.require_board()?;
    let scope = access::company_scope(reads, ctx, company)?;
    gather(reads, scope, agents)
}

fn gather(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    agents: impl IntoIterator<Item = Agent>,
) -> Result<Vec<Need>, Failure<AttentionError>> {
    let mut needs = of_agents(agents);
    let undecided = ApprovalFilter {
        standings: vec![ApprovalStanding::Pending, ApprovalStanding::Resubmitted],
        ..ApprovalFilter::default()
    };
    let undecided = reads.approvals().list(scope, &undecided, &most())?.items;
    needs.extend(undecided.into_iter().map(Need::Decision));
    let issues = reads.issues().awaiting_board(scope, MOST)?;
    needs.extend(issues.into_iter().map(Need::Issue));
    let stuck = reads.issues().list_stuck(scope, &most())?.items;
    needs.extend(stuck.into_iter().map(Need::Stuck));
    needs.sort_by_key(|need| (need.kind(), need.since()));
    Ok(needs)
}

const EMPLOYED: AgentFilter = AgentFilter {
    include_terminated: false,
};

const fn most<K>() -> PageRequest<K> {
    PageRequest {
        after: None,
        limit: MOST,
        max_bytes: PageRequest::<K>::MAX_BYTES,
    }
}

fn of_agents(agents: impl IntoIterator<Item = Agent>) -> Vec<Need> {
    let mut stopped = Vec::new();
    let mut failing = Vec::new();
    for agent in agents {
        let pause = agent.lifecycle.paused();
        if pause.is_some_and(|pause| pause.reason == PauseReason::Budget) {
            stopped.push(Need::BudgetStop(agent));
        } else if agent.consecutive_failures > 0 && is_employed(&agent) {
            failing.push(Need::Failing(agent));
        }
    }
    for needs in [&mut stopped, &mut failing] {
        needs.sort_by_key(Need::since);
        needs.truncate(MOST);
    }
    stopped.into_iter().chain(failing).collect()
}

fn is_employed(agent: &Agent) -> bool {
    matches!(
        agent.lifecycle.state(),
        AgentState::Enabled | AgentState::Paused
    )
}
