use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::approvals::ApprovalView;
use workforce_domain::approval::{Approval, ApprovalEvent, ApprovalStatus, ExecutionView};
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentId, IssueId, UserId};
use workforce_domain::port::Preflight;
use workforce_domain::time::Timestamp;

/// An approval: something that the board must agree to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(super) struct ApprovalBody {
    #[serde(flatten)]
    approval: Approval,
    /// Where it stands. What was sent again is pending; its history tells.
    status: ApprovalStatus,
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
    /// What the caller might want to do better next time.
    warnings: Vec<&'static str>,
    /// How far what it asks for outside of the store has come; none where it
    /// asks for nothing there, or the board has not approved yet.
    execution: Option<ExecutionView>,
    /// What approving an undecided plan would find now, workspace by workspace;
    /// only in the answer about a single approval.
    preflight: Option<Vec<Preflight>>,
}

impl ApprovalBody {
    pub(super) fn with_preflight(self, preflight: Option<Vec<Preflight>>) -> Self {
        Self { preflight, ..self }
    }
}

impl From<ApprovalView> for ApprovalBody {
    fn from(view: ApprovalView) -> Self {
        let approval = view.approval;
        let status = approval.status();
        let decision = approval.state.decision().cloned();
        let decided_by = decision.as_ref().map(|decision| decision.by.0);
        Self {
            status,
            decided_by_user_id: decided_by.and_then(BoardMember::user),
            decided_by: decided_by.map(|member| member.to_string()),
            decided_at: decision.as_ref().map(|decision| decision.at),
            decision_note: decision.and_then(|decision| decision.note),
            requested_by: approval.requested_by.name(),
            requested_by_agent_id: approval.requested_by.agent(),
            requested_by_user_id: approval.requested_by.user(),
            linked_issue_ids: view.linked_issues,
            events: view.events,
            warnings: view.warnings,
            execution: view.execution,
            preflight: None,
            approval,
        }
    }
}
