//! Approvals, their history and their comments as rows.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::actor::ActorKind;
use workforce_domain::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalHistoryEntry, ApprovalHistoryKind,
    ApprovalState, ApprovalStateRecord, ApprovalStatus, ApprovalType, ReviewFlag,
};
use workforce_domain::board::NoBoardMember;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{
    AgentId, ApprovalCommentId, ApprovalEventId, ApprovalId, CompanyId, IssueId, RunId, UserId,
};

use super::row::{Row, admit, author, author_board, document_length, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::{approval_comments, approval_events, approvals};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = approvals, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct ApprovalRow {
    id: IdColumn<ApprovalId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    type_: StringEnumColumn<ApprovalType>,
    status: StringEnumColumn<ApprovalStatus>,
    payload: JsonColumn<Document>,
    attention: JsonColumn<Vec<ReviewFlag>>,
    requested_by_agent_id: Option<IdColumn<AgentId>>,
    requested_by_user_id: Option<IdColumn<UserId>>,
    requested_by_board: Option<String>,
    primary_issue_id: Option<IdColumn<IssueId>>,
    decision_note: Option<String>,
    decided_by: Option<String>,
    decided_at: Option<InstantColumn>,
    resubmit_count: i32,
    revision: i32,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for ApprovalRow {
    type Record = Approval;

    fn weight(&self) -> usize {
        document_length(&self.payload.0) + length(self.decision_note.as_ref())
    }

    fn restore(self) -> Result<Approval, Corrupt> {
        let state =
            ApprovalState::restore(ApprovalStateRecord {
                status: self.status.0,
                decided_by: match &self.decided_by {
                    Some(name) => Some(name.parse().map_err(|error: NoBoardMember| {
                        Corrupt::new("approval", error.to_string())
                    })?),
                    None => None,
                },
                note: self.decision_note,
                decided_at: self.decided_at.map(|at| at.0),
            })?;
        Ok(Approval {
            id: self.id.0,
            company: self.company_id.0,
            kind: self.type_.0,
            state,
            payload: self.payload.0,
            attention: self.attention.0,
            requested_by: author(
                "approval",
                self.requested_by_agent_id,
                self.requested_by_user_id,
                self.requested_by_board.as_deref(),
            )?,
            primary_issue: self.primary_issue_id.map(|id| id.0),
            resubmit_count: self.resubmit_count,
            revision: self.revision,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Approval> for ApprovalRow {
    fn from(approval: &Approval) -> Self {
        let state = approval.state.record();
        Self {
            id: IdColumn(approval.id),
            company_id: IdColumn(approval.company),
            type_: StringEnumColumn(approval.kind),
            status: StringEnumColumn(state.status),
            payload: JsonColumn(approval.payload.clone()),
            attention: JsonColumn(approval.attention.clone()),
            requested_by_agent_id: approval.requested_by.agent().map(IdColumn),
            requested_by_user_id: approval.requested_by.user().map(IdColumn),
            requested_by_board: author_board(approval.requested_by),
            primary_issue_id: approval.primary_issue.map(IdColumn),
            decision_note: state.note,
            decided_by: state.decided_by.map(|member| member.to_string()),
            decided_at: state.decided_at.map(InstantColumn),
            resubmit_count: approval.resubmit_count,
            revision: approval.revision,
            created_at: InstantColumn(approval.created_at),
            updated_at: InstantColumn(approval.updated_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = approval_events, treat_none_as_default_value = false)]
pub(super) struct ApprovalEventRow {
    id: IdColumn<ApprovalEventId>,
    company_id: IdColumn<CompanyId>,
    approval_id: IdColumn<ApprovalId>,
    kind: StringEnumColumn<ApprovalHistoryKind>,
    actor_type: StringEnumColumn<ActorKind>,
    actor_id: String,
    note: Option<String>,
    details: JsonColumn<Document>,
    created_at: InstantColumn,
}

impl Row for ApprovalEventRow {
    type Record = ApprovalEvent;

    fn weight(&self) -> usize {
        document_length(&self.details.0) + length(self.note.as_ref())
    }

    fn restore(self) -> Result<ApprovalEvent, Corrupt> {
        Ok(ApprovalEvent {
            id: self.id.0,
            company: self.company_id.0,
            approval: self.approval_id.0,
            kind: self.kind.0,
            actor_kind: self.actor_type.0,
            actor_id: self.actor_id,
            note: self.note,
            details: self.details.0,
            created_at: self.created_at.0,
        })
    }
}

impl From<&ApprovalEvent> for ApprovalEventRow {
    fn from(event: &ApprovalEvent) -> Self {
        Self {
            id: IdColumn(event.id),
            company_id: IdColumn(event.company),
            approval_id: IdColumn(event.approval),
            kind: StringEnumColumn(event.kind),
            actor_type: StringEnumColumn(event.actor_kind),
            actor_id: event.actor_id.clone(),
            note: event.note.clone(),
            details: JsonColumn(event.details.clone()),
            created_at: InstantColumn(event.created_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = approval_events, treat_none_as_default_value = false)]
pub(super) struct HistoryRow {
    #[diesel(embed)]
    event: ApprovalEventRow,
    payload: Option<JsonColumn<Document>>,
}

impl Row for HistoryRow {
    type Record = ApprovalHistoryEntry;

    fn weight(&self) -> usize {
        let payload = self.payload.as_ref();
        self.event.weight() + payload.map_or(0, |payload| document_length(&payload.0))
    }

    fn restore(self) -> Result<ApprovalHistoryEntry, Corrupt> {
        Ok(ApprovalHistoryEntry {
            event: self.event.restore()?,
            payload: self.payload.map(|payload| payload.0),
        })
    }
}

impl From<&ApprovalHistoryEntry> for HistoryRow {
    fn from(entry: &ApprovalHistoryEntry) -> Self {
        Self {
            event: ApprovalEventRow::from(&entry.event),
            payload: entry.payload.clone().map(JsonColumn),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = approval_comments, treat_none_as_default_value = false)]
pub(super) struct ApprovalCommentRow {
    id: IdColumn<ApprovalCommentId>,
    company_id: IdColumn<CompanyId>,
    approval_id: IdColumn<ApprovalId>,
    author_agent_id: Option<IdColumn<AgentId>>,
    author_user_id: Option<IdColumn<UserId>>,
    author_board: Option<String>,
    run_id: Option<IdColumn<RunId>>,
    body: String,
    mentions: JsonColumn<Vec<AgentId>>,
    created_at: InstantColumn,
}

impl Row for ApprovalCommentRow {
    type Record = ApprovalComment;

    fn weight(&self) -> usize {
        self.body.len()
    }

    fn restore(self) -> Result<ApprovalComment, Corrupt> {
        Ok(ApprovalComment {
            id: self.id.0,
            company: self.company_id.0,
            approval: self.approval_id.0,
            author: author(
                "approval comment",
                self.author_agent_id,
                self.author_user_id,
                self.author_board.as_deref(),
            )?,
            run: self.run_id.map(|id| id.0),
            body: admit("approval comment", self.body)?,
            mentions: self.mentions.0,
            created_at: self.created_at.0,
        })
    }
}

impl From<&ApprovalComment> for ApprovalCommentRow {
    fn from(comment: &ApprovalComment) -> Self {
        Self {
            id: IdColumn(comment.id),
            company_id: IdColumn(comment.company),
            approval_id: IdColumn(comment.approval),
            author_agent_id: comment.author.agent().map(IdColumn),
            author_user_id: comment.author.user().map(IdColumn),
            author_board: author_board(comment.author),
            run_id: comment.run.map(IdColumn),
            body: comment.body.to_string(),
            mentions: JsonColumn(comment.mentions.clone()),
            created_at: InstantColumn(comment.created_at),
        }
    }
}
