//! Issues: the unit of work.

mod checkout;
mod creation;
mod governance;
mod lease;
mod lifecycle;
mod position;
mod stuck;

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

pub use checkout::{
    CheckoutConflict, CheckoutDecision, CheckoutFacts, CheckoutRequest, ConflictReason,
    DEFAULT_EXPECTED,
};
pub use creation::NewIssue;
pub use governance::Governance;
pub use lease::{AGENT_LEASE, Holder, Lease};
pub use lifecycle::{
    IssueStatus, Moved, Mover, Priority, Progress, ProgressRecord, StatusMismatch,
};
pub use position::{DiffSide, LineNumber, Position, ReviewVerdict};
pub use stuck::{StuckIssue, StuckReason};

use crate::Document;
use crate::actor::company_owned;
pub use crate::board::Author;
use crate::board::BoardMember;
use crate::fields;
use crate::id::{
    AgentId, CommentId, CompanyId, ExecutionWorkspaceId, GoalId, IssueId, ProjectId, ReviewId,
    RunId,
};
use crate::port::EmployedAgent;
use crate::text::{CommentBody, Description, Label, Title};
use crate::time::Timestamp;

/// Who an issue is assigned to: never an agent and the board at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assignee {
    /// Nobody.
    #[default]
    Nobody,
    /// One agent.
    Agent(AgentId),
    /// One member of the board.
    Board(BoardMember),
}

impl Assignee {
    /// The agent, when an agent is assigned.
    pub const fn agent(self) -> Option<AgentId> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Nobody | Self::Board(_) => None,
        }
    }

    /// The member of the board, when one is assigned.
    pub const fn board(self) -> Option<BoardMember> {
        match self {
            Self::Board(member) => Some(member),
            Self::Nobody | Self::Agent(_) => None,
        }
    }
}

/// An assignee that was proven to be one: an agent that cannot leave before the assignment is
/// stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assignment(Assignee);

impl Assignment {
    /// Assigned to nobody.
    pub const NOBODY: Self = Self(Assignee::Nobody);

    /// Assigned to an agent.
    pub fn to_agent(agent: &EmployedAgent) -> Self {
        Self(Assignee::Agent(agent.id))
    }

    /// Assigned to a member of the board.
    pub const fn to_board(member: BoardMember) -> Self {
        Self(Assignee::Board(member))
    }

    /// The assignment that a stored issue has. For implementations of the port only; the rules
    /// of the repository refuse it elsewhere.
    pub const fn stored(assignee: Assignee) -> Self {
        Self(assignee)
    }
}

impl Deref for Assignment {
    type Target = Assignee;

    fn deref(&self) -> &Assignee {
        &self.0
    }
}

/// An issue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = IssueRecord))]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// Unique id.
    pub id: IssueId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its number within the company.
    #[serde(rename = "issueNumber")]
    pub number: i64,
    /// `PREFIX-number`, accepted wherever an issue's id is.
    pub identifier: String,
    /// Its project.
    #[serde(rename = "projectId")]
    pub project: Option<ProjectId>,
    /// Its goal.
    #[serde(rename = "goalId")]
    pub goal: Option<GoalId>,
    /// The issue it is part of.
    #[serde(rename = "parentId")]
    pub parent: Option<IssueId>,
    /// What is to be done.
    pub title: Title,
    /// More about it.
    pub description: Option<Description>,
    /// Where it stands, and since when.
    #[serde(flatten)]
    pub progress: Progress,
    /// How urgent it is.
    pub priority: Priority,
    /// Who works on it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::AssignedTo, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::AssignedTo))]
    pub assignee: Assignment,
    /// The agent whose work is reviewed, or was sent back to it.
    #[serde(rename = "implementerAgentId")]
    pub implementer: Option<AgentId>,
    /// Who made it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedBy, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedBy))]
    pub created_by: Author,
    /// What its costs are booked on.
    pub billing_code: Option<Label>,
    /// The ticket that branches are named after.
    pub ticket_key: Option<Label>,
    /// How many delegations lie above it.
    pub request_depth: i32,
    /// How it was delegated.
    pub delegation: Option<Document>,
    /// Adapter settings for this issue alone.
    #[serde(skip)]
    pub assignee_adapter_overrides: Option<Document>,
    /// The worktree of its ticket.
    #[serde(rename = "executionWorkspaceId")]
    pub execution_workspace: Option<ExecutionWorkspaceId>,
    /// When the board hid it from lists.
    pub hidden_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Issue {
    /// A chain of parents is at most so long.
    pub const MAX_DEPTH: usize = 32;

    /// Where it stands.
    pub const fn status(&self) -> IssueStatus {
        self.progress.status()
    }

    /// True while somebody else is to say whether the implementer's work is
    /// good: in review, or parked by the reviewer.
    pub fn is_under_review(&self) -> bool {
        let waits = matches!(self.status(), IssueStatus::InReview | IssueStatus::Blocked);
        waits && self.implementer.is_some() && self.implementer != self.assignee.agent()
    }

    /// Forgets the implementer where there is no review of its work any more: when
    /// the issue ends, when it is the reviewer itself, and when somebody else has
    /// begun to work. To be called after a change of status or assignee.
    pub fn settle_review(&mut self) {
        let is_its_own = self.implementer == self.assignee.agent();
        let keeps = match self.status() {
            IssueStatus::Done | IssueStatus::Cancelled => false,
            IssueStatus::InReview => !is_its_own,
            IssueStatus::Blocked => true,
            IssueStatus::Backlog | IssueStatus::Todo | IssueStatus::InProgress => is_its_own,
        };
        if !keeps {
            self.implementer = None;
        }
    }
}

company_owned!(Issue, company);

/// How a caller names an issue: by id or by identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueRef {
    /// Its id.
    Id(IssueId),
    /// Its identifier in upper case, `ABC-12`.
    Identifier(String),
}

impl IssueRef {
    /// Reads an id or an identifier; `None` for anything else, which names no
    /// issue.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(id) = text.parse() {
            return Some(Self::Id(id));
        }
        let (prefix, number) = text.rsplit_once('-')?;
        let well_formed = (1..=12).contains(&prefix.len())
            && prefix.bytes().all(|b| b.is_ascii_alphanumeric())
            && (1..=18).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
            && !number.starts_with('0');
        well_formed.then(|| Self::Identifier(text.to_ascii_uppercase()))
    }
}

impl<'de> serde::Deserialize<'de> for IssueRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("must be an issue's id or identifier"))
    }
}

impl From<IssueId> for IssueRef {
    fn from(id: IssueId) -> Self {
        Self::Id(id)
    }
}

/// A comment on an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Unique id.
    pub id: CommentId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The issue.
    #[serde(rename = "issueId")]
    pub issue: IssueId,
    /// Who wrote it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::WrittenBy, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::WrittenBy))]
    pub author: Author,
    /// The run it was written in.
    #[serde(rename = "createdByRunId")]
    pub run: Option<RunId>,
    /// What it says, in Markdown.
    pub body: CommentBody,
    /// The agents it mentions.
    pub mentions: Vec<AgentId>,
    /// The review that it is part of.
    #[serde(rename = "reviewId")]
    pub review: Option<ReviewId>,
    /// The lines that it is about.
    pub position: Option<Position>,
    /// The same instant: comments do not change.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedOnce, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedOnce))]
    pub created_at: Timestamp,
}

company_owned!(Comment, company);
