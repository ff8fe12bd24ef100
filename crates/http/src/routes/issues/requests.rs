use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::issues::{CreateIssue, UpdateIssue};
use workforce_domain::Document;
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, GoalId, LabelId, ProjectId};
use workforce_domain::issue::{IssueRef, IssueStatus, Priority};
use workforce_domain::text::{CommentBody, Description, Label, Title};
use workforce_domain::time::Timestamp;

use crate::problem::Problem;
use crate::schema;
use crate::wire::{FieldPresence, non_null};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateIssueBody {
    /// What is to be done.
    #[schema(value_type = schema::Title)]
    title: Title,
    /// More about it.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Where it stands; `backlog` when left out.
    #[schema(value_type = Option<schema::IssueStatus>)]
    status: Option<IssueStatus>,
    /// How urgent it is; `medium` when left out.
    #[schema(value_type = Option<schema::Priority>)]
    priority: Option<Priority>,
    /// The agent that is to do it.
    #[schema(value_type = Option<schema::Id>)]
    assignee_agent_id: Option<AgentId>,
    /// The member of the board that is to do it: `local-board`, `start-token`
    /// or the id of a token of the board.
    assignee_user_id: Option<String>,
    /// The issue it is part of, by id or identifier.
    #[schema(value_type = Option<String>)]
    parent_id: Option<IssueRef>,
    /// Its project.
    #[schema(value_type = Option<schema::Id>)]
    project_id: Option<ProjectId>,
    /// Its goal.
    #[schema(value_type = Option<schema::Id>)]
    goal_id: Option<GoalId>,
    /// What its costs are booked on; the parent's code when left out.
    #[schema(value_type = Option<schema::Label>)]
    billing_code: Option<Label>,
    /// The ticket that branches are named after.
    #[schema(value_type = Option<schema::Label>)]
    ticket_key: Option<Label>,
    /// How it was delegated.
    #[schema(value_type = Option<schema::Document>)]
    delegation: Option<Document>,
    /// Adapter settings for this issue alone; for the board to give.
    #[schema(value_type = Option<schema::Document>)]
    assignee_adapter_overrides: Option<Document>,
    /// Its labels.
    #[schema(value_type = Option<Vec<schema::Id>>, max_items = 50)]
    label_ids: Option<Vec<LabelId>>,
}

impl CreateIssueBody {
    pub(super) fn command(self, request_key: Option<&str>) -> CreateIssue {
        CreateIssue {
            title: self.title,
            description: self.description,
            status: self.status,
            priority: self.priority,
            assignee_agent: self.assignee_agent_id,
            assignee_board: self.assignee_user_id,
            parent: self.parent_id,
            project: self.project_id,
            goal: self.goal_id,
            billing_code: self.billing_code,
            ticket_key: self.ticket_key,
            delegation: self.delegation,
            assignee_adapter_overrides: self.assignee_adapter_overrides,
            labels: self.label_ids.unwrap_or_default(),
            request_key: request_key.map(str::to_owned),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateIssueBody {
    /// What is to be done.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Title)]
    title: Option<Title>,
    /// More about it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    description: Change<Description>,
    /// Where it is to stand.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::IssueStatus)]
    status: Option<IssueStatus>,
    /// How urgent it is.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Priority)]
    priority: Option<Priority>,
    /// The agent that is to do it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    assignee_agent_id: Change<AgentId>,
    /// The member of the board that is to do it: `local-board`, `start-token`
    /// or the id of a token of the board. Takes the place of an agent.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    assignee_user_id: Change<String>,
    /// Its project.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    project_id: Change<ProjectId>,
    /// Its goal.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    goal_id: Change<GoalId>,
    /// The issue it is part of, by id or identifier.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    parent_id: Change<IssueRef>,
    /// What its costs are booked on.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    billing_code: Change<Label>,
    /// The ticket that branches are named after.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    ticket_key: Change<Label>,
    /// Adapter settings for this issue alone; for the board to set.
    #[serde(default)]
    #[schema(value_type = Option<schema::Document>)]
    assignee_adapter_overrides: Change<Document>,
    /// Its labels, in place of the present ones.
    #[serde(default)]
    #[schema(value_type = Option<Vec<schema::Id>>, max_items = 50)]
    label_ids: Change<Vec<LabelId>>,
    /// Any instant hides it from lists, `null` shows it again; for the board.
    #[serde(default)]
    #[schema(value_type = Option<schema::Timestamp>)]
    hidden_at: Change<Timestamp>,
    /// A comment to add.
    #[schema(value_type = Option<schema::CommentBody>)]
    comment: Option<CommentBody>,
    #[serde(default)]
    #[schema(ignore)]
    company_id: FieldPresence,
}

impl UpdateIssueBody {
    pub(super) fn command(self) -> Result<UpdateIssue, Problem> {
        self.company_id.refuse("companyId")?;
        Ok(UpdateIssue {
            title: self.title,
            description: self.description,
            status: self.status,
            priority: self.priority,
            assignee_agent: self.assignee_agent_id,
            assignee_board: self.assignee_user_id,
            project: self.project_id,
            goal: self.goal_id,
            parent: self.parent_id,
            billing_code: self.billing_code,
            ticket_key: self.ticket_key,
            assignee_adapter_overrides: self.assignee_adapter_overrides,
            labels: self.label_ids,
            hidden: match self.hidden_at {
                Change::Keep => None,
                Change::Clear => Some(false),
                Change::Set(_at) => Some(true),
            },
            comment: self.comment,
        })
    }
}
