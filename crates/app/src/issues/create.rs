use serde::Serialize;

use serde::Deserialize;
use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::{AgentId, CompanyId, ExecutionWorkspaceId, GoalId, LabelId, ProjectId};
use workforce_domain::issue::{Assignment, Issue, IssueRef, IssueStatus, NewIssue, Priority};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::text::{Description, Label, Title};
use workforce_domain::wake::{WakeReason, WakeSource};

use super::{
    IssueError, IssueView, MAX_DOCUMENT, PLACED, approval, assignment, duplicates, governance,
    hierarchy, labels, read, worktree_choice,
};
use crate::access::{self};
use crate::activity_log::log_activity;
use crate::agents;
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::wakes;

/// Makes an issue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateIssue {
    /// What is to be done.
    pub title: Title,
    /// More about it.
    pub description: Option<Description>,
    /// Where it stands; `backlog` when left out.
    pub status: Option<IssueStatus>,
    /// How urgent it is; `medium` when left out.
    pub priority: Option<Priority>,
    /// The agent that is to do it.
    pub assignee_agent_id: Option<AgentId>,
    /// The member of the board that is to do it: `local-board`, `start-token`
    /// or the id of a token of the board.
    pub assignee_user_id: Option<String>,
    /// The issue it is part of, by id or identifier.
    pub parent_id: Option<IssueRef>,
    /// Its project.
    pub project_id: Option<ProjectId>,
    /// Its goal.
    pub goal_id: Option<GoalId>,
    /// What its costs are booked on; the parent's code when left out.
    pub billing_code: Option<Label>,
    /// The ticket that branches are named after.
    pub ticket_key: Option<Label>,
    /// Another worktree of its parent's ticket than the one that the plan gives to its
    /// assignee, or else its parent has.
    pub execution_workspace_id: Option<ExecutionWorkspaceId>,
    /// How it was delegated.
    pub delegation: Option<Document>,
    /// Adapter settings for this issue alone; for the board to give.
    pub assignee_adapter_overrides: Option<Document>,
    /// Its labels.
    #[cfg_attr(feature = "openapi", schema(max_items = 50))]
    pub label_ids: Option<Vec<LabelId>>,
    /// The key under which the request was sent, if any: an agent that sends
    /// it again means the same child.
    #[serde(skip)]
    pub request_key: Option<String>,
}

/// An issue that was made, or that an agent had made before.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedIssue {
    /// The issue.
    #[serde(flatten)]
    pub view: IssueView,
    /// True when the agent had made this child before, absent otherwise.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub deduplicated: bool,
}

/// The statuses in which an agent may create an issue; work in progress begins
/// with a checkout.
const BEGUN_BY_AGENTS: &[IssueStatus] = &[
    IssueStatus::Backlog,
    IssueStatus::Todo,
    IssueStatus::Blocked,
];

/// What [`create`] refuses with.
pub const CREATE: Codes = Codes::with(
    &[
        Code::AssigneeRequired,
        Code::BoardRequired,
        Code::InvalidTransition,
    ],
    &[PLACED, agents::OVERRIDES],
);

/// Makes an issue. Anyone of the company; its number, activity, event and the
/// wake of its assignee are written with it. An agent does not make the same
/// child twice while the first has not ended.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    mut command: CreateIssue,
) -> Result<CreatedIssue, Failure<IssueError>> {
    let company = access::company(tx.reads(), ctx, company)?;
    let scope = company.scope();
    ctx.require_working_company()?;
    let status = command.status.unwrap_or(IssueStatus::Backlog);
    if ctx.agent().is_some() {
        IssueStatus::Backlog.transition_within(BEGUN_BY_AGENTS, status)?;
    }
    if command.assignee_adapter_overrides.is_some() {
        ctx.require_board()?;
    }
    for (document, pointer) in [
        (&command.delegation, "/delegation"),
        (
            &command.assignee_adapter_overrides,
            "/assigneeAdapterOverrides",
        ),
    ] {
        if let Some(document) = document {
            access::check_document(document, pointer, MAX_DOCUMENT)?;
        }
    }
    if let Some(overrides) = command.assignee_adapter_overrides.take() {
        agents::check_overrides::<IssueError>(tx, ctx, scope, None, &overrides)?;
        command.assignee_adapter_overrides = Some(overrides);
    }
    let (agent, board) = (
        command.assignee_agent_id,
        command.assignee_user_id.as_deref(),
    );
    assignment::require_one(agent.is_some(), board.is_some())?;
    if status == IssueStatus::InProgress && agent.is_none() && board.is_none() {
        return Err(Failure::Refused(IssueError::AssigneeRequired));
    }
    let board = match board {
        Some(named) => Some(assignment::board_member(tx.reads(), named)?),
        None => None,
    };
    let assignee = match command.assignee_agent_id {
        Some(agent) => {
            let agent = tx.agents_mut().share(scope, agent)?;
            Some(assignment::assignable(tx.reads(), ctx, scope, agent)?)
        }
        None => None,
    };
    let parent = match &command.parent_id {
        Some(parent) => {
            let parent = hierarchy::parent_of_new(tx.reads(), ctx, scope, parent)?;
            approval::require_decided(tx.reads(), scope, parent.id)?;
            governance::require_plan(tx.reads(), ctx, &parent)?;
            Some(parent)
        }
        None => None,
    };
    hierarchy::check_places(tx.reads(), scope, command.project_id, command.goal_id)?;
    let label_ids = labels::known(
        tx.reads(),
        scope,
        command.label_ids.clone().unwrap_or_default(),
    )?;
    let child_key = match &parent {
        Some(parent) => duplicates::child_key(tx, ctx, parent, &command)?,
        None => None,
    };
    if let (Some(parent), Some(key)) = (&parent, &child_key)
        && let Some(child) = tx.issues().live_child(scope, parent.id, key)?
    {
        return Ok(CreatedIssue {
            view: read::view(tx.reads(), ctx, child)?,
            deduplicated: true,
        });
    }
    let named = command.execution_workspace_id;
    let agent = assignee.as_deref();
    let execution_workspace =
        worktree_choice::for_child(tx.reads(), parent.as_ref(), named, agent)?;
    let wakeable = match &assignee {
        Some(agent) => assignment::lock_wakeable(tx, ctx, agent, status)?,
        None => None,
    };
    // The counters of the company are locked last, after everything else.
    let number = tx.companies_mut().next_issue_number(scope)?;
    let mut issue = Issue {
        project: command.project_id,
        goal: command.goal_id,
        description: command.description,
        priority: command.priority.unwrap_or(Priority::Medium),
        assignee: match (&assignee, board) {
            (Some(agent), _) => Assignment::to_agent(agent),
            (None, Some(member)) => Assignment::to_board(member),
            (None, None) => Assignment::NOBODY,
        },
        billing_code: command.billing_code,
        ticket_key: command.ticket_key,
        delegation: command.delegation,
        assignee_adapter_overrides: command.assignee_adapter_overrides,
        execution_workspace,
        ..Issue::new(NewIssue {
            id: ctx.id(),
            company: company.id,
            prefix: &company.issue_prefix,
            number,
            title: command.title,
            status,
            created_by: ctx.actor().author(),
            now: ctx.now,
        })
    };
    if let Some(parent) = &parent {
        issue.begin_below(parent);
    }
    let issue = tx.issues_mut().insert(issue)?;
    if let Some(key) = &child_key {
        tx.issues_mut().set_child_key(&issue, key)?;
    }
    let labels = if label_ids.is_empty() {
        Vec::new()
    } else {
        tx.labels_mut().set_for_issue(&issue, &label_ids)?;
        labels::of(tx.reads(), &issue)?
    };
    let details = json!({ "title": issue.title, "status": status });
    log_activity(tx, ctx, Action::IssueCreated, &issue, details);
    if let (Some(agent), Some(wakeable)) = (&assignee, wakeable) {
        let reason = WakeReason::IssueAssigned;
        let request = assignment::wake_about(&issue, agent, WakeSource::Assignment, reason);
        wakes::queue(tx, ctx, wakeable, request)?;
    }
    Ok(CreatedIssue {
        view: IssueView::new(issue.into_inner(), labels, None),
        deduplicated: false,
    })
}
