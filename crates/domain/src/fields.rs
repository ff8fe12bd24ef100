//! Values that an answer shows as several fields: who made a record, who does
//! the work, where a workspace is.

use alloc::string::String;

use serde::{Serialize, Serializer};

use crate::actor::ActorKind;
use crate::board::{Author, BoardMember};
use crate::id::{AgentId, RunId, UserId};
use crate::issue::{Assignment, Holder};
use crate::project::WorkspaceSource;
use crate::text::Location;
use crate::time::Timestamp;

/// Writes a value as the fields `F`; for `#[serde(flatten, serialize_with)]`.
pub(crate) fn show<T, F, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    F: for<'a> From<&'a T> + Serialize,
    S: Serializer,
{
    F::from(value).serialize(serializer)
}

/// Who made a record.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedBy {
    /// What kind of actor made it.
    created_by_type: ActorKind,
    /// Who made it: the agent's id, `system`, or of the board `local-board`,
    /// `start-token`, `token:ID` or a user's id.
    created_by_id: String,
    /// The agent that made it.
    created_by_agent_id: Option<AgentId>,
    /// The person that made it.
    created_by_user_id: Option<UserId>,
}

impl From<&Author> for CreatedBy {
    fn from(author: &Author) -> Self {
        Self {
            created_by_type: author.kind(),
            created_by_id: author.name(),
            created_by_agent_id: author.agent(),
            created_by_user_id: author.user(),
        }
    }
}

/// Who wrote a text.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenBy {
    /// What kind of actor wrote it.
    author_type: ActorKind,
    /// Who wrote it: the agent's id, `system`, or of the board `local-board`,
    /// `start-token`, `token:ID` or a user's id.
    author_id: String,
    /// The agent that wrote it.
    author_agent_id: Option<AgentId>,
    /// The person that wrote it.
    author_user_id: Option<UserId>,
}

impl From<&Author> for WrittenBy {
    fn from(author: &Author) -> Self {
        Self {
            author_type: author.kind(),
            author_id: author.name(),
            author_agent_id: author.agent(),
            author_user_id: author.user(),
        }
    }
}

/// When a record was made that does not change afterwards.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedOnce {
    /// When it was made.
    created_at: Timestamp,
    /// The same instant: it does not change.
    updated_at: Timestamp,
}

impl From<&Timestamp> for CreatedOnce {
    fn from(at: &Timestamp) -> Self {
        Self {
            created_at: *at,
            updated_at: *at,
        }
    }
}

/// Who does the work.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssignedTo {
    /// The agent it is assigned to.
    assignee_agent_id: Option<AgentId>,
    /// The member of the board it is assigned to: `local-board`, `start-token` or
    /// the id of a token of the board.
    assignee_user_id: Option<String>,
}

impl From<&Assignment> for AssignedTo {
    fn from(assignment: &Assignment) -> Self {
        Self {
            assignee_agent_id: assignment.agent(),
            assignee_user_id: assignment.board().map(BoardMember::identity),
        }
    }
}

/// Who holds a lease.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldBy {
    /// The run; none for an agent that works outside of any.
    run_id: Option<RunId>,
    /// The agent.
    agent_id: AgentId,
}

impl From<&Holder> for HeldBy {
    fn from(holder: &Holder) -> Self {
        Self {
            run_id: holder.run(),
            agent_id: holder.agent(),
        }
    }
}

/// Where a workspace is.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct LocatedAt {
    /// Its directory.
    cwd: Option<Location>,
    /// Its repository.
    repo_url: Option<Location>,
}

impl From<&WorkspaceSource> for LocatedAt {
    fn from(source: &WorkspaceSource) -> Self {
        Self {
            cwd: source.cwd().cloned(),
            repo_url: source.repo_url().cloned(),
        }
    }
}
