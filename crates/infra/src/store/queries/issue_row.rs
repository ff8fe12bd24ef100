//! Issues as rows.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::board::NoBoardMember;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{
    AgentId, CompanyId, ExecutionWorkspaceId, GoalId, IssueId, ProjectId, UserId,
};
use workforce_domain::issue::{
    Assignee, Assignment, Issue, IssueStatus, Priority, Progress, ProgressRecord,
};

use super::row::{Row, admit, admit_some, author, author_board, document_length, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::issues;

#[derive(Queryable, QueryableByName, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = issues, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct IssueRow {
    pub(super) id: IdColumn<IssueId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    #[diesel(skip_update)]
    number: i64,
    #[diesel(skip_update)]
    identifier: String,
    project_id: Option<IdColumn<ProjectId>>,
    goal_id: Option<IdColumn<GoalId>>,
    parent_id: Option<IdColumn<IssueId>>,
    title: String,
    description: Option<String>,
    status: StringEnumColumn<IssueStatus>,
    priority: i16,
    assignee_agent_id: Option<IdColumn<AgentId>>,
    /// Whoever of the board has it, as a member is written down.
    assignee_user_id: Option<String>,
    created_by_agent_id: Option<IdColumn<AgentId>>,
    created_by_user_id: Option<IdColumn<UserId>>,
    billing_code: Option<String>,
    ticket_key: Option<String>,
    request_depth: i32,
    delegation: Option<JsonColumn<Document>>,
    assignee_adapter_overrides: Option<JsonColumn<Document>>,
    execution_workspace_id: Option<IdColumn<ExecutionWorkspaceId>>,
    workflow_epoch: i32,
    started_at: Option<InstantColumn>,
    last_started_at: Option<InstantColumn>,
    completed_at: Option<InstantColumn>,
    cancelled_at: Option<InstantColumn>,
    hidden_at: Option<InstantColumn>,
    #[diesel(skip_update)]
    created_at: InstantColumn,
    updated_at: InstantColumn,
    created_by_board: Option<String>,
    implementer_agent_id: Option<IdColumn<AgentId>>,
}

impl Row for IssueRow {
    type Record = Issue;

    fn weight(&self) -> usize {
        let documents = [&self.delegation, &self.assignee_adapter_overrides];
        let documents = documents.map(|it| it.as_ref().map_or(0, |it| document_length(&it.0)));
        self.title.len() + length(self.description.as_ref()) + documents.iter().sum::<usize>()
    }

    fn restore(self) -> Result<Issue, Corrupt> {
        const KIND: &str = "issue";
        let board = self.assignee_user_id.as_deref().map(str::parse);
        let board = board.transpose();
        let board = board.map_err(|error: NoBoardMember| Corrupt::new(KIND, error.to_string()))?;
        let assignee = match (self.assignee_agent_id, board) {
            (None, None) => Assignee::Nobody,
            (Some(agent), None) => Assignee::Agent(agent.0),
            (None, Some(member)) => Assignee::Board(member),
            (Some(_), Some(_)) => return Err(Corrupt::new(KIND, "it has two assignees")),
        };
        Ok(Issue {
            id: self.id.0,
            company: self.company_id.0,
            number: self.number,
            identifier: self.identifier,
            project: self.project_id.map(|id| id.0),
            goal: self.goal_id.map(|id| id.0),
            parent: self.parent_id.map(|id| id.0),
            title: admit(KIND, self.title)?,
            description: admit_some(KIND, self.description)?,
            progress: Progress::restore(ProgressRecord {
                status: self.status.0,
                started_at: self.started_at.map(|at| at.0),
                last_started_at: self.last_started_at.map(|at| at.0),
                completed_at: self.completed_at.map(|at| at.0),
                cancelled_at: self.cancelled_at.map(|at| at.0),
                workflow_epoch: self.workflow_epoch,
            })?,
            priority: Priority::from_rank(self.priority)
                .ok_or_else(|| Corrupt::new(KIND, "its priority is unknown"))?,
            assignee: Assignment::stored(assignee),
            implementer: self.implementer_agent_id.map(|id| id.0),
            created_by: author(
                KIND,
                self.created_by_agent_id,
                self.created_by_user_id,
                self.created_by_board.as_deref(),
            )?,
            billing_code: admit_some(KIND, self.billing_code)?,
            ticket_key: admit_some(KIND, self.ticket_key)?,
            request_depth: self.request_depth,
            delegation: self.delegation.map(|document| document.0),
            assignee_adapter_overrides: self.assignee_adapter_overrides.map(|document| document.0),
            execution_workspace: self.execution_workspace_id.map(|id| id.0),
            hidden_at: self.hidden_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Issue> for IssueRow {
    fn from(issue: &Issue) -> Self {
        let progress = issue.progress.record();
        Self {
            id: IdColumn(issue.id),
            company_id: IdColumn(issue.company),
            number: issue.number,
            identifier: issue.identifier.clone(),
            project_id: issue.project.map(IdColumn),
            goal_id: issue.goal.map(IdColumn),
            parent_id: issue.parent.map(IdColumn),
            title: issue.title.to_string(),
            description: issue.description.as_ref().map(ToString::to_string),
            status: StringEnumColumn(progress.status),
            priority: issue.priority.rank(),
            assignee_agent_id: issue.assignee.agent().map(IdColumn),
            assignee_user_id: issue.assignee.board().map(|member| member.to_string()),
            created_by_agent_id: issue.created_by.agent().map(IdColumn),
            created_by_user_id: issue.created_by.user().map(IdColumn),
            billing_code: issue.billing_code.as_ref().map(ToString::to_string),
            ticket_key: issue.ticket_key.as_ref().map(ToString::to_string),
            request_depth: issue.request_depth,
            delegation: issue.delegation.clone().map(JsonColumn),
            assignee_adapter_overrides: issue.assignee_adapter_overrides.clone().map(JsonColumn),
            execution_workspace_id: issue.execution_workspace.map(IdColumn),
            workflow_epoch: progress.workflow_epoch,
            started_at: progress.started_at.map(InstantColumn),
            last_started_at: progress.last_started_at.map(InstantColumn),
            completed_at: progress.completed_at.map(InstantColumn),
            cancelled_at: progress.cancelled_at.map(InstantColumn),
            hidden_at: issue.hidden_at.map(InstantColumn),
            created_at: InstantColumn(issue.created_at),
            updated_at: InstantColumn(issue.updated_at),
            created_by_board: author_board(issue.created_by),
            implementer_agent_id: issue.implementer.map(IdColumn),
        }
    }
}
