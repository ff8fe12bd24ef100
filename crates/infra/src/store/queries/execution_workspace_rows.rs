//! Rows about the worktrees of governed tickets.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::execution_workspace::{
    ChecksState, ExecutionWorkspace, ExecutionWorkspaceStatus, PullRequest, PullRequestState,
    PullRequestWatch, WorktreeDisorder,
};
use workforce_domain::id::{CompanyId, ExecutionWorkspaceId, InstanceId, IssueId, WorkspaceId};

use super::row::{Row, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::{execution_workspaces, pull_request_watches};

/// So many bytes.
const TYPICAL_VALIDATORS: usize = 4096;

pub(super) const READY: StringEnumColumn<ExecutionWorkspaceStatus> =
    StringEnumColumn(ExecutionWorkspaceStatus::Ready);
pub(super) const REMOVED: StringEnumColumn<ExecutionWorkspaceStatus> =
    StringEnumColumn(ExecutionWorkspaceStatus::Removed);

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = execution_workspaces,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
pub(super) struct WorkspaceRow {
    id: IdColumn<ExecutionWorkspaceId>,
    company_id: IdColumn<CompanyId>,
    project_workspace_id: IdColumn<WorkspaceId>,
    ticket_key: String,
    branch: String,
    base_branch: String,
    path: String,
    owner_issue_id: Option<IdColumn<IssueId>>,
    status: StringEnumColumn<ExecutionWorkspaceStatus>,
    repository_url: Option<String>,
    fetch_address: Option<String>,
    push_address: Option<String>,
    base_commit: Option<String>,
    head_commit: Option<String>,
    pushed_commit: Option<String>,
    pull_request_number: Option<i64>,
    pull_request_url: Option<String>,
    pull_request_state: Option<StringEnumColumn<PullRequestState>>,
    conflict_wakes: i32,
    held_until: Option<InstantColumn>,
    held_by: Option<IdColumn<InstanceId>>,
    clean_up_after: InstantColumn,
    kept_because: Option<String>,
    disorder: Option<StringEnumColumn<WorktreeDisorder>>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for WorkspaceRow {
    type Record = ExecutionWorkspace;

    fn weight(&self) -> usize {
        self.branch.len() + self.path.len() + length(self.push_address.as_ref())
    }

    fn restore(self) -> Result<ExecutionWorkspace, Corrupt> {
        let pull_request = match (
            self.pull_request_number,
            self.pull_request_url,
            self.pull_request_state,
        ) {
            (Some(number), Some(url), Some(state)) => Some(PullRequest {
                number,
                url,
                state: state.0,
            }),
            (None, None, None) => None,
            _ => {
                let message = "a part of its pull request is missing";
                return Err(Corrupt::new("execution workspace", message));
            }
        };
        Ok(ExecutionWorkspace {
            id: self.id.0,
            company: self.company_id.0,
            owner: self.owner_issue_id.map(|id| id.0),
            project_workspace: self.project_workspace_id.0,
            ticket_key: self.ticket_key,
            branch: self.branch,
            base_branch: self.base_branch,
            path: self.path,
            status: self.status.0,
            repository_url: self.repository_url,
            fetch_address: self.fetch_address,
            push_address: self.push_address,
            base_commit: self.base_commit,
            head_commit: self.head_commit,
            pushed_commit: self.pushed_commit,
            pull_request,
            conflict_wakes: self.conflict_wakes,
            held_until: self.held_until.map(|at| at.0),
            held_by: self.held_by.map(|server| server.0),
            clean_up_after: self.clean_up_after.0,
            kept_because: self.kept_because,
            disorder: self.disorder.map(|disorder| disorder.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&ExecutionWorkspace> for WorkspaceRow {
    fn from(workspace: &ExecutionWorkspace) -> Self {
        let pull_request = workspace.pull_request.as_ref();
        Self {
            id: IdColumn(workspace.id),
            company_id: IdColumn(workspace.company),
            project_workspace_id: IdColumn(workspace.project_workspace),
            ticket_key: workspace.ticket_key.clone(),
            branch: workspace.branch.clone(),
            base_branch: workspace.base_branch.clone(),
            path: workspace.path.clone(),
            owner_issue_id: workspace.owner.map(IdColumn),
            status: StringEnumColumn(workspace.status),
            repository_url: workspace.repository_url.clone(),
            fetch_address: workspace.fetch_address.clone(),
            push_address: workspace.push_address.clone(),
            base_commit: workspace.base_commit.clone(),
            head_commit: workspace.head_commit.clone(),
            pushed_commit: workspace.pushed_commit.clone(),
            pull_request_number: pull_request.map(|it| it.number),
            pull_request_url: pull_request.map(|it| it.url.clone()),
            pull_request_state: pull_request.map(|it| StringEnumColumn(it.state)),
            conflict_wakes: workspace.conflict_wakes,
            held_until: workspace.held_until.map(InstantColumn),
            held_by: workspace.held_by.map(IdColumn),
            clean_up_after: InstantColumn(workspace.clean_up_after),
            kept_because: workspace.kept_because.clone(),
            disorder: workspace.disorder.map(StringEnumColumn),
            created_at: InstantColumn(workspace.created_at),
            updated_at: InstantColumn(workspace.updated_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = pull_request_watches,
    primary_key(workspace_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
pub(super) struct WatchRow {
    workspace_id: IdColumn<ExecutionWorkspaceId>,
    company_id: IdColumn<CompanyId>,
    due_at: InstantColumn,
    fence: i64,
    attempts: i32,
    validators: JsonColumn<Document>,
    checks: StringEnumColumn<ChecksState>,
    head_commit: Option<String>,
    drift_due_at: InstantColumn,
    merged_base: Option<String>,
    merged_head: Option<String>,
    obstacle: Option<String>,
    escalated: bool,
    created_at: InstantColumn,
}

impl Row for WatchRow {
    type Record = PullRequestWatch;

    fn weight(&self) -> usize {
        // What a forge told of a pull request and its checks, shortened by its client.
        TYPICAL_VALIDATORS + length(self.obstacle.as_ref())
    }

    fn restore(self) -> Result<PullRequestWatch, Corrupt> {
        Ok(PullRequestWatch {
            workspace: self.workspace_id.0,
            company: self.company_id.0,
            due_at: self.due_at.0,
            fence: self.fence,
            attempts: self.attempts,
            validators: self.validators.0,
            checks: self.checks.0,
            head_commit: self.head_commit,
            drift_due_at: self.drift_due_at.0,
            merged_base: self.merged_base,
            merged_head: self.merged_head,
            obstacle: self.obstacle,
            escalated: self.escalated,
            created_at: self.created_at.0,
        })
    }
}

impl From<&PullRequestWatch> for WatchRow {
    fn from(watch: &PullRequestWatch) -> Self {
        Self {
            workspace_id: IdColumn(watch.workspace),
            company_id: IdColumn(watch.company),
            due_at: InstantColumn(watch.due_at),
            fence: watch.fence,
            attempts: watch.attempts,
            validators: JsonColumn(watch.validators.clone()),
            checks: StringEnumColumn(watch.checks),
            head_commit: watch.head_commit.clone(),
            drift_due_at: InstantColumn(watch.drift_due_at),
            merged_base: watch.merged_base.clone(),
            merged_head: watch.merged_head.clone(),
            obstacle: watch.obstacle.clone(),
            escalated: watch.escalated,
            created_at: InstantColumn(watch.created_at),
        }
    }
}
