use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::approvals::ApprovalView;
use workforce_domain::Document;
use workforce_domain::approval::{ApprovalEvent, ApprovalStatus, ApprovalType, ReviewFlag};
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentId, ApprovalId, CompanyId, IssueId, UserId};
use workforce_domain::time::Timestamp;

/// An approval: something that the board must agree to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(super) struct ApprovalBody {
    /// Unique id.
    id: ApprovalId,
    /// Its company.
    company_id: CompanyId,
    /// What the board is asked to agree to.
    #[serde(rename = "type")]
    kind: ApprovalType,
    /// Where it stands. What was sent again is pending; its history tells.
    status: ApprovalStatus,
    /// What it is about, by its type. Values under secret names do not show.
    payload: Document,
    /// What the board added to its last decision.
    decision_note: Option<String>,
    /// The person who decided last, where accounts exist.
    decided_by_user_id: Option<UserId>,
    /// Who decided last: `local-board`, `start-token`, `token:ID` or a user's
    /// id.
    decided_by: Option<String>,
    /// When that was.
    decided_at: Option<Timestamp>,
    /// Who asked: the agent's id, or of the board `local-board`, `start-token`,
    /// `token:ID` or a user's id.
    requested_by: String,
    /// The agent that asked.
    requested_by_agent_id: Option<AgentId>,
    /// The person who asked.
    requested_by_user_id: Option<UserId>,
    /// The issues it is linked to, the one it is about first.
    linked_issue_ids: Vec<IssueId>,
    /// What happened to it, oldest first; its history tells what was submitted
    /// too.
    events: Vec<ApprovalEvent>,
    /// How often it was sent again.
    resubmit_count: i32,
    /// What the board should look at twice.
    attention: Vec<ReviewFlag>,
    /// What the caller might want to do better next time.
    warnings: Vec<&'static str>,
    /// How far the work that follows the decision has come; none so far.
    execution: Option<Document>,
    /// When it was asked for.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl From<ApprovalView> for ApprovalBody {
    fn from(view: ApprovalView) -> Self {
        let approval = view.approval;
        let status = approval.status();
        let decision = approval.state.decision().cloned();
        let decided_by = decision.as_ref().map(|decision| decision.by.0);
        Self {
            id: approval.id,
            company_id: approval.company,
            kind: approval.kind,
            status,
            payload: approval.payload,
            decided_by_user_id: decided_by.and_then(BoardMember::user),
            decided_by: decided_by.map(|member| member.to_string()),
            decided_at: decision.as_ref().map(|decision| decision.at),
            decision_note: decision.and_then(|decision| decision.note),
            requested_by: approval.requested_by.name(),
            requested_by_agent_id: approval.requested_by.agent(),
            requested_by_user_id: approval.requested_by.user(),
            linked_issue_ids: view.linked_issues,
            events: view.events.into_iter().collect(),
            resubmit_count: approval.resubmit_count,
            attention: approval.attention.into_iter().collect(),
            warnings: view.warnings,
            execution: None,
            created_at: approval.created_at,
            updated_at: approval.updated_at,
        }
    }
}
