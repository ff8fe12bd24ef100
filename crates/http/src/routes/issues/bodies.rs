use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::issues::{
    CreatedIssue, IssueDetail, IssueView, ParentView, Rewrite, UpdatedIssue,
};
use workforce_app::masking::masked;
use workforce_domain::Document;
use workforce_domain::actor::ActorKind;
use workforce_domain::board::BoardMember;
use workforce_domain::id::{
    AgentId, CompanyId, ExecutionWorkspaceId, GoalId, IssueId, LabelId, ProjectId, RunId, UserId,
};
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::text::{Description, Label, Title};
use workforce_domain::time::Timestamp;

use super::super::goals::GoalBody;
use super::super::labels::LabelBody;
use super::super::projects::ProjectBody;
use super::comments::CommentedBody;

/// An issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Issue)]
pub(in super::super) struct IssueBody {
    /// Unique id.
    id: IssueId,
    /// Its company.
    company_id: CompanyId,
    /// `PREFIX-number`, accepted wherever an issue's id is.
    identifier: String,
    /// Its number within the company.
    issue_number: i64,
    /// Its project.
    project_id: Option<ProjectId>,
    /// Its goal.
    goal_id: Option<GoalId>,
    /// The issue it is part of.
    parent_id: Option<IssueId>,
    /// What is to be done.
    title: Title,
    /// More about it.
    description: Option<Description>,
    /// Where it stands.
    status: IssueStatus,
    /// How urgent it is.
    priority: Priority,
    /// The agent it is assigned to.
    assignee_agent_id: Option<AgentId>,
    /// The member of the board it is assigned to: `local-board`, `start-token` or
    /// the id of a token of the board.
    assignee_user_id: Option<String>,
    /// What kind of actor made it.
    created_by_type: ActorKind,
    /// Who made it: the agent's id, `system`, or of the board `local-board`,
    /// `start-token`, `token:ID` or a user's id.
    created_by_id: String,
    /// The agent that made it.
    created_by_agent_id: Option<AgentId>,
    /// The person that made it.
    created_by_user_id: Option<UserId>,
    /// What its costs are booked on.
    billing_code: Option<Label>,
    /// The ticket that branches are named after.
    ticket_key: Option<Label>,
    /// How many delegations lie above it.
    request_depth: i32,
    /// How it was delegated.
    delegation: Option<Document>,
    /// Adapter settings for this issue alone.
    assignee_adapter_overrides: Option<Document>,
    /// Its labels, by name.
    labels: Vec<LabelBody>,
    /// The ids of its labels, in the same order.
    label_ids: Vec<LabelId>,
    /// The worktree of its ticket.
    execution_workspace_id: Option<ExecutionWorkspaceId>,
    /// The run that holds it.
    checkout_run_id: Option<RunId>,
    /// Since when somebody holds it.
    checked_out_at: Option<Timestamp>,
    /// Who holds it.
    lease: Option<LeaseBody>,
    /// Always `null`: workforce has no workflow sessions.
    active_workflow_session_id: Option<RunId>,
    /// How often the work began anew: by a reopening or an approved plan.
    workflow_epoch: i32,
    /// When it first became in_progress.
    started_at: Option<Timestamp>,
    /// The same instant.
    #[serde(rename = "started_at")]
    started_at_alias: Option<Timestamp>,
    /// When it last became in_progress.
    last_started_at: Option<Timestamp>,
    /// When it became done.
    completed_at: Option<Timestamp>,
    /// The same instant.
    #[serde(rename = "completed_at")]
    completed_at_alias: Option<Timestamp>,
    /// When it became cancelled.
    cancelled_at: Option<Timestamp>,
    /// When the board hid it from lists.
    hidden_at: Option<Timestamp>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

/// Who works on an issue right now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Lease)]
struct LeaseBody {
    /// The run; none for an agent that works outside of any.
    run_id: Option<RunId>,
    /// The agent.
    agent_id: AgentId,
    /// When it ends by itself; never for a run, which ends it.
    expires_at: Option<Timestamp>,
}

impl From<IssueView> for IssueBody {
    fn from(view: IssueView) -> Self {
        let IssueView {
            issue,
            lease,
            labels,
        } = view;
        let progress = issue.progress;
        let started_at = progress.started_at();
        let completed_at = progress.completed_at();
        Self {
            id: issue.id,
            company_id: issue.company,
            identifier: issue.identifier,
            issue_number: issue.number,
            project_id: issue.project,
            goal_id: issue.goal,
            parent_id: issue.parent,
            title: issue.title,
            description: issue.description,
            status: progress.status(),
            priority: issue.priority,
            assignee_agent_id: issue.assignee.agent(),
            assignee_user_id: issue.assignee.board().map(BoardMember::identity),
            created_by_type: issue.created_by.kind(),
            created_by_id: issue.created_by.name(),
            created_by_agent_id: issue.created_by.agent(),
            created_by_user_id: issue.created_by.user(),
            billing_code: issue.billing_code,
            ticket_key: issue.ticket_key,
            request_depth: issue.request_depth,
            delegation: issue.delegation,
            assignee_adapter_overrides: issue.assignee_adapter_overrides.map(masked),
            label_ids: labels.iter().map(|label| label.id).collect(),
            labels: labels.into_iter().map(LabelBody::from).collect(),
            execution_workspace_id: issue.execution_workspace,
            checkout_run_id: lease.as_ref().and_then(|lease| lease.holder.run()),
            checked_out_at: lease.as_ref().and(progress.last_started_at()),
            lease: lease.map(|lease| LeaseBody {
                run_id: lease.holder.run(),
                agent_id: lease.holder.agent(),
                expires_at: lease.expires_at,
            }),
            active_workflow_session_id: None,
            workflow_epoch: progress.workflow_epoch(),
            started_at,
            started_at_alias: started_at,
            last_started_at: progress.last_started_at(),
            completed_at,
            completed_at_alias: completed_at,
            cancelled_at: progress.cancelled_at(),
            hidden_at: issue.hidden_at,
            created_at: issue.created_at,
            updated_at: issue.updated_at,
        }
    }
}

/// An issue with everything around it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IssueDetail)]
pub(super) struct IssueDetailBody {
    #[serde(flatten)]
    issue: IssueBody,
    /// Its project.
    project: Option<ProjectBody>,
    /// Its goal.
    goal: Option<GoalBody>,
    /// Its parents, the nearest first.
    ancestors: Vec<AncestorBody>,
    /// The projects that its title and description link to as
    /// `[name](project://id)`.
    mentioned_projects: Vec<ProjectBody>,
}

/// A parent of an issue with its own project and goal.
#[derive(Serialize, ToSchema)]
#[schema(as = IssueAncestor)]
struct AncestorBody {
    #[serde(flatten)]
    issue: IssueBody,
    /// Its project.
    project: Option<ProjectBody>,
    /// Its goal.
    goal: Option<GoalBody>,
}

impl From<ParentView> for AncestorBody {
    fn from(parent: ParentView) -> Self {
        Self {
            issue: parent.view.into(),
            project: parent.project.map(Into::into),
            goal: parent.goal.map(Into::into),
        }
    }
}

impl From<IssueDetail> for IssueDetailBody {
    fn from(detail: IssueDetail) -> Self {
        Self {
            issue: detail.view.into(),
            project: detail.project.map(Into::into),
            goal: detail.goal.map(Into::into),
            ancestors: detail.ancestors.into_iter().map(Into::into).collect(),
            mentioned_projects: detail
                .mentioned_projects
                .into_iter()
                .map(Into::into)
                .collect(),
        }
    }
}

/// A new issue, or the child that an agent meant.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedIssue)]
pub(super) struct CreatedIssueBody {
    #[serde(flatten)]
    issue: IssueBody,
    /// True when the agent had made this child before, absent otherwise.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[schema(required = false)]
    deduplicated: bool,
}

impl From<CreatedIssue> for CreatedIssueBody {
    fn from(created: CreatedIssue) -> Self {
        Self {
            issue: created.view.into(),
            deduplicated: created.deduplicated,
        }
    }
}

/// A changed issue.
#[derive(Serialize, ToSchema)]
#[schema(as = UpdatedIssue)]
pub(super) struct UpdatedIssueBody {
    #[serde(flatten)]
    issue: IssueBody,
    /// Present when another status than the one asked for was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rewritten: Option<RewriteBody>,
    /// The comment, when one was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    comment: Option<CommentedBody>,
}

/// A status that was replaced by another.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusRewrite)]
struct RewriteBody {
    /// What was asked for.
    from: IssueStatus,
    /// Why it was replaced.
    reason: &'static str,
}

impl From<Rewrite> for RewriteBody {
    fn from(rewrite: Rewrite) -> Self {
        Self {
            from: rewrite.from,
            reason: rewrite.reason,
        }
    }
}

impl From<UpdatedIssue> for UpdatedIssueBody {
    fn from(updated: UpdatedIssue) -> Self {
        Self {
            issue: updated.view.into(),
            rewritten: updated.rewritten.map(Into::into),
            comment: updated.comment.map(Into::into),
        }
    }
}
