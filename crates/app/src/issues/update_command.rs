use serde::Deserialize;
use workforce_domain::Document;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, GoalId, LabelId, ProjectId};
use workforce_domain::issue::{IssueRef, IssueStatus, Priority};
use workforce_domain::text::{CommentBody, Description, Label, Title};
use workforce_domain::time::Timestamp;

/// Changes an issue's fields, and optionally comments in the same
/// transaction.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateIssue {
    /// What is to be done.
    #[serde(default)]
    pub title: Replace<Title>,
    /// More about it.
    #[serde(default)]
    pub description: Change<Description>,
    /// Where it is to stand.
    #[serde(default)]
    pub status: Replace<IssueStatus>,
    /// How urgent it is.
    #[serde(default)]
    pub priority: Replace<Priority>,
    /// The agent that is to do it.
    #[serde(default)]
    pub assignee_agent_id: Change<AgentId>,
    /// The member of the board that is to do it: `local-board`, `start-token`
    /// or the id of a token of the board. Takes the place of an agent.
    #[serde(default)]
    pub assignee_user_id: Change<String>,
    /// Its project.
    #[serde(default)]
    pub project_id: Change<ProjectId>,
    /// Its goal.
    #[serde(default)]
    pub goal_id: Change<GoalId>,
    /// The issue it is part of, by id or identifier.
    #[serde(default)]
    pub parent_id: Change<IssueRef>,
    /// What its costs are booked on.
    #[serde(default)]
    pub billing_code: Change<Label>,
    /// The ticket that branches are named after.
    #[serde(default)]
    pub ticket_key: Change<Label>,
    /// Adapter settings for this issue alone; for the board to set.
    #[serde(default)]
    pub assignee_adapter_overrides: Change<Document>,
    /// Its labels, in place of the present ones.
    #[cfg_attr(feature = "openapi", schema(max_items = 50))]
    #[serde(default)]
    pub label_ids: Change<Vec<LabelId>>,
    /// Any instant hides it from lists, `null` shows it again; for the board.
    #[serde(default)]
    pub hidden_at: Change<Timestamp>,
    /// A comment to add.
    pub comment: Option<CommentBody>,
}

impl UpdateIssue {
    /// True when it changes nothing but, perhaps, adds a comment.
    pub(super) fn only_comments(&self) -> bool {
        *self
            == Self {
                comment: self.comment.clone(),
                ..Self::default()
            }
    }

    /// True when it takes up work and changes nothing else.
    pub(super) fn only_takes_up(&self) -> bool {
        let rest = Self {
            status: self.status,
            assignee_agent_id: self.assignee_agent_id,
            assignee_user_id: self.assignee_user_id.clone(),
            comment: self.comment.clone(),
            ..Self::default()
        };
        self.status == Replace::Set(IssueStatus::InProgress) && *self == rest
    }
}
