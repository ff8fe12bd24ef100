use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::budget::BudgetUsage;
use workforce_domain::id::{AgentId, ApprovalId, IssueId};
use workforce_domain::issue::{Issue, IssueStatus, Priority};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, ClaimedRun, IssueFilter, Reads, Spender, StoreError};
use workforce_domain::project::{Project, Workspace};
use workforce_domain::text::Title;
use workforce_domain::time::{Month, Timestamp};
use workforce_domain::wake::WakeReason;

use super::comments::{self, NewComments};
use crate::budgets;

/// So many parents of an issue are told, the nearest.
pub const MAX_PARENTS: usize = 5;
/// So many children of an issue are told.
pub const MAX_CHILDREN: usize = 16;
/// So many issues that wait for the agent are told.
pub const MAX_WAITING: usize = 10;

/// What a prompt tells beyond the claimed run: as much as it can show, and no
/// more.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptFacts {
    /// The manager of the agent.
    pub manager: Option<Agent>,
    /// The issue of the run.
    pub issue: Option<IssueFacts>,
    /// What others wrote about the issue since the agent last ran about it well.
    pub comments: NewComments,
    /// The decision that woke the agent.
    pub decision: Option<DecisionFacts>,
    /// The primary workspace of the issue's project.
    pub workspace: Option<Workspace>,
    /// The agent's spend of the month.
    pub agent_budget: BudgetUsage,
    /// The company's spend of the month.
    pub company_budget: BudgetUsage,
    /// How that of the project of its issue stands.
    pub project_budget: Option<BudgetUsage>,
    /// The children of the issue, where their end woke the agent.
    pub children: IssueLines,
    /// Other issues that wait for the agent, for a run about none.
    pub waiting: IssueLines,
}

/// The issue of a run with what surrounds it.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueFacts {
    /// The issue.
    pub issue: Issue,
    /// The issues it is part of, nearest first.
    pub parents: IssueLines,
    /// Its project.
    pub project: Option<Project>,
    /// The title of its goal, or else of its project's first one.
    pub goal: Option<Title>,
    /// Whether somebody else must review it before it is done.
    pub review_required: bool,
    /// Whether the agent is to review the work of another.
    pub reviews: bool,
}

/// The beginning of a list of issues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueLines {
    /// Its issues.
    pub lines: Vec<IssueLine>,
    /// Whether there are more.
    pub more: bool,
}

/// An issue in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueLine {
    /// Unique id.
    pub id: IssueId,
    /// `PREFIX-number`.
    pub identifier: String,
    /// What is to be done.
    pub title: Title,
    /// Where it stands.
    pub status: IssueStatus,
    /// How urgent it is.
    pub priority: Priority,
}

impl From<Issue> for IssueLine {
    fn from(issue: Issue) -> Self {
        Self {
            id: issue.id,
            status: issue.status(),
            identifier: issue.identifier,
            title: issue.title,
            priority: issue.priority,
        }
    }
}

/// A decision of the board about what the agent asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionFacts {
    /// The approval.
    pub approval: ApprovalId,
    /// What the agent asked for.
    pub kind: ApprovalType,
    /// Where it stands now.
    pub status: ApprovalStatus,
    /// What the board added.
    pub note: Option<String>,
    /// When it was decided.
    pub at: Option<Timestamp>,
}

/// Gathers what the prompt of a claimed run tells.
pub fn facts(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    now: Timestamp,
) -> Result<PromptFacts, StoreError> {
    let company = claimed.company.scope();
    let agent = &claimed.agent;
    let manager = match agent.reports_to {
        Some(manager) => reads.agents().find(company.into(), manager)?,
        None => None,
    };
    let issue = match claimed.run.issue {
        Some(issue) => reads.issues().find(company.into(), &issue.into())?,
        None => None,
    };
    let issue = match issue {
        Some(issue) => Some(around(reads, claimed, issue)?),
        None => None,
    };
    let workspace = match issue.as_ref().and_then(|it| it.issue.project) {
        Some(project) => reads
            .projects()
            .workspaces(company, &[project])?
            .into_iter()
            .find(|workspace| workspace.is_primary),
        None => None,
    };
    let reasons = &claimed.wake.reasons;
    let children = match claimed.run.issue {
        Some(parent) if reasons.contains(&WakeReason::ChildrenCompleted) => {
            let filter = IssueFilter {
                parent: Some(parent),
                ..IssueFilter::default()
            };
            lines(reads, claimed, &filter, MAX_CHILDREN)?
        }
        _ => IssueLines::default(),
    };
    let waiting = if claimed.run.issue.is_none() {
        lines(reads, claimed, &open_of(agent.id), MAX_WAITING)?
    } else {
        IssueLines::default()
    };
    let month = Month::of(now);
    let (firm, basis) = (&claimed.company, claimed.company.budget_basis);
    let spender = Spender::Agent(agent.id);
    let agent_budget = budgets::usage(reads, company, spender, agent.budget, basis, month)?;
    let company_budget =
        budgets::usage(reads, company, Spender::Company, firm.budget, basis, month)?;
    let project = issue.as_ref().and_then(|it| it.project.as_ref());
    let project_budget = match project {
        Some(project) => Some(budgets::project_usage(reads, firm, project, month)?),
        None => None,
    };
    Ok(PromptFacts {
        manager,
        comments: comments::new_ones(reads, claimed)?,
        decision: decision(reads, claimed)?,
        issue,
        workspace,
        agent_budget,
        company_budget,
        project_budget,
        children,
        waiting,
    })
}

/// The open issues of an agent, those in `backlog` aside.
fn open_of(agent: AgentId) -> IssueFilter {
    IssueFilter {
        statuses: vec![
            IssueStatus::Todo,
            IssueStatus::InProgress,
            IssueStatus::InReview,
            IssueStatus::Blocked,
        ],
        assignee: Some(AssigneeFilter::Agent(agent)),
        ..IssueFilter::default()
    }
}

fn around(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    issue: Issue,
) -> Result<IssueFacts, StoreError> {
    let company = claimed.company.scope();
    let mut parents = IssueLines::default();
    let mut next = issue.parent;
    // Step by step, since the whole chain is longer than what is told.
    while let Some(parent) = next {
        if parents.lines.len() == MAX_PARENTS {
            parents.more = true;
            break;
        }
        let Some(parent) = reads.issues().find(company.into(), &parent.into())? else {
            break;
        };
        next = parent.parent;
        parents.lines.push(parent.into());
    }
    let project = match issue.project {
        Some(project) => reads.projects().find(company.into(), project)?,
        None => None,
    };
    let goal = match (issue.goal, issue.project) {
        (Some(goal), _) => reads.goals().find(company.into(), goal)?.map(|it| it.title),
        (None, Some(project)) => {
            let goals = reads.projects().goals(company, &[project])?;
            goals.into_iter().next().map(|(_, goal)| goal.title)
        }
        (None, None) => None,
    };
    let review_required = claimed.company.review_required
        || project
            .as_ref()
            .is_some_and(|project| project.review_required)
        || reads.issues().governance(company, issue.id)?.governed;
    let is_assignee = issue.assignee.agent() == Some(claimed.agent.id);
    Ok(IssueFacts {
        reviews: issue.is_under_review() && is_assignee,
        issue,
        parents,
        project,
        goal,
        review_required,
    })
}

fn lines(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    filter: &IssueFilter,
    limit: usize,
) -> Result<IssueLines, StoreError> {
    let page = PageRequest {
        limit,
        ..PageRequest::first()
    };
    let company = claimed.company.scope();
    let page = reads.issues().list(company, filter, &page)?;
    Ok(IssueLines {
        more: page.next.is_some(),
        lines: page.items.into_iter().map(IssueLine::from).collect(),
    })
}

/// The approval that the wake names, if its decision is why the agent runs.
fn decision(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
) -> Result<Option<DecisionFacts>, StoreError> {
    let wake = &claimed.wake;
    let told = |key: &str| wake.payload.get(key).and_then(|value| value.as_str());
    let was_decided = wake.reasons.iter().any(|reason| {
        matches!(
            reason,
            WakeReason::ApprovalApproved
                | WakeReason::ApprovalRejected
                | WakeReason::ApprovalRevisionRequested
        )
    });
    let Some(approval) = told("approvalId")
        .filter(|_| was_decided)
        .and_then(|id| id.parse::<ApprovalId>().ok())
    else {
        return Ok(None);
    };
    let company = claimed.company.scope();
    let Some(approval) = reads.approvals().find(company.into(), approval)? else {
        return Ok(None);
    };
    let decision = approval.state.decision();
    // Sent again meanwhile, it keeps no decision, but the wake still tells it.
    let note = decision.map_or_else(
        || told("decisionNote").map(str::to_owned),
        |decision| decision.note.clone(),
    );
    Ok(Some(DecisionFacts {
        approval: approval.id,
        kind: approval.kind,
        status: approval.status(),
        note,
        at: decision.map(|decision| decision.at),
    }))
}
