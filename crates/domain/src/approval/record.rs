//! An approval with its history, its comments and what it warns of.

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

use super::{ApprovalHistoryKind, ApprovalState, ApprovalStatus, ApprovalType};
use crate::Document;
use crate::actor::{ActorKind, company_owned};
use crate::board::Author;
use crate::fields;
use crate::id::{
    AgentId, ApprovalCommentId, ApprovalEventId, ApprovalId, CompanyId, IssueId, RunId,
};
use crate::string_enum;
use crate::text::CommentBody;
use crate::time::Timestamp;

/// An approval: something that the board must agree to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ApprovalRecord))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Unique id.
    pub id: ApprovalId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// What the board is asked to agree to.
    #[serde(rename = "type")]
    pub kind: ApprovalType,
    /// Where it stands.
    #[serde(skip)]
    pub state: ApprovalState,
    /// What it is about, by its type. Values under secret names are never part
    /// of it.
    pub payload: Document,
    /// What the board should look at twice.
    pub attention: Vec<ReviewFlag>,
    /// Who asked.
    #[serde(skip)]
    pub requested_by: Author,
    /// The issue it is about in the first place; at most one undecided
    /// approval of each type is about an issue.
    #[serde(skip)]
    pub primary_issue: Option<IssueId>,
    /// How often it was sent again.
    pub resubmit_count: i32,
    /// Counts its changes, its decisions among them; its ETag.
    pub revision: i32,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Approval {
    /// It is linked to at most so many issues.
    pub const MAX_ISSUES: usize = 100;

    /// Its payload is at most so many bytes of JSON.
    pub const MAX_PAYLOAD: usize = 64 * 1024;

    /// Where it stands.
    pub const fn status(&self) -> ApprovalStatus {
        self.state.status()
    }
}

company_owned!(Approval, company);

string_enum! {
    /// Why a part of a proposal deserves a second look.
    pub enum ReviewFlagKind {
        /// A command that would run on the server's machine.
        Command = "command",
        /// A command that a shell would read.
        Shell = "shell",
        /// A switch that turns off a protection.
        DangerousFlag = "dangerous_flag",
        /// A secret that the agent would be given.
        SecretReference = "secret_reference",
        /// Instructions that lie outside of what the board can read here.
        ExternalInstructions = "external_instructions",
        /// An address that would be called.
        Address = "address",
        /// No monthly limit.
        NoBudgetLimit = "no_budget_limit",
        /// The right to hire.
        CanCreateAgents = "can_create_agents",
        /// The one role that carries privileges.
        PrivilegedRole = "privileged_role",
    }
}

/// A part of a proposal that the board should look at twice.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ApprovalAttention))]
#[serde(rename_all = "camelCase")]
pub struct ReviewFlag {
    /// The part, as a JSON pointer into the payload.
    pub pointer: String,
    /// What kind of risk it is.
    pub kind: ReviewFlagKind,
    /// The risk in a sentence.
    pub message: String,
}

/// An entry of an approval's history.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalEvent {
    /// Unique id.
    pub id: ApprovalEventId,
    /// The company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The approval.
    #[serde(skip)]
    pub approval: ApprovalId,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: ApprovalHistoryKind,
    /// What kind of actor did it.
    #[serde(rename = "actorType")]
    pub actor_kind: ActorKind,
    /// Who did it: the agent's id, `system`, or of the board `local-board`,
    /// `start-token`, `token:ID` or a user's id.
    pub actor_id: String,
    /// What was said to it.
    pub note: Option<String>,
    /// More about it, such as `changed`: the fields of a draft that the board
    /// changed.
    pub details: Document,
    /// When.
    pub created_at: Timestamp,
}

/// An entry of an approval's history with what was submitted by it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalHistoryEntry {
    /// What happened.
    #[serde(flatten)]
    pub event: ApprovalEvent,
    /// The payload as it was when the approval was `created` or `resubmitted`,
    /// or the board had `edited` its draft; hides what the payload of the
    /// approval hides. `None` of other entries, and of those that were written
    /// before payloads were kept.
    pub payload: Option<Document>,
}

/// A comment on an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalComment {
    /// Unique id.
    pub id: ApprovalCommentId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The approval.
    #[serde(rename = "approvalId")]
    pub approval: ApprovalId,
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
    /// The same instant: comments do not change.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedOnce, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedOnce))]
    pub created_at: Timestamp,
}

company_owned!(ApprovalComment, company);
