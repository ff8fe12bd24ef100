//! Who may assign work to whom, and who hears of it (contract section 5).

use serde_json::json;
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::Agent;
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentId, IssueId};
use workforce_domain::issue::{Assignee, Issue, IssueStatus};
use workforce_domain::port::{Failure, Reads, StoreError, Tx};
use workforce_domain::wake::{WakeReason, WakeSource};

use super::IssueError;
use crate::access::{self, Denied, FieldFault, denied};
use crate::call::Call;
use crate::record::document;
use crate::refusal::Code;
use crate::wakes::{self, WakeRequest};

/// Where a body names the member of the board that work is assigned to.
const BOARD: &str = "/assigneeUserId";

/// The agent that work is to be assigned to: it exists here, works here, and
/// the caller may assign to it. Agents assign to themselves; the ceo to anyone;
/// managers to whoever reports to them.
pub(super) fn assignable(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyScope,
    agent: AgentId,
) -> Result<Agent, Failure<IssueError>> {
    let pointer = "/assigneeAgentId";
    let missing = || Failure::Refused(IssueError::Field(FieldFault::missing(pointer, "agent")));
    let found = reads
        .agents()
        .find(company.into(), agent)?
        .ok_or_else(missing)?;
    if !found.is_employed() {
        let fault = FieldFault::invalid(pointer, "the agent is a draft or terminated");
        return Err(Failure::Refused(fault.into()));
    }
    if !may_assign(reads, call, company, agent)? {
        return Err(denied(Denied::Forbidden(
            "an agent assigns work to itself or to those who report to it",
        )));
    }
    Ok(found)
}

/// The member of the board that work is to be assigned to, as callers name it.
/// Anybody may hand work to the board.
pub(super) fn board_member(
    reads: &mut dyn Reads,
    named: &str,
) -> Result<BoardMember, Failure<IssueError>> {
    let member = match BoardMember::parse_identity(named) {
        Ok(BoardMember::Token(id)) => {
            let token = reads.board_tokens().find(id)?;
            token
                .filter(|token| token.revoked_at.is_none())
                .map(|_| BoardMember::Token(id))
        }
        Ok(BoardMember::User(_)) | Err(_) => None,
        Ok(member) => Some(member),
    };
    member.ok_or_else(|| {
        let message = "names nobody of the board";
        let fault = FieldFault::coded(Code::ReferenceNotFound, BOARD, message);
        Failure::Refused(fault.into())
    })
}

/// Refuses two assignees at once.
pub(super) fn require_one(agent: bool, board: bool) -> Result<(), Failure<IssueError>> {
    if agent && board {
        let message = "an issue has no agent and person as assignee at once";
        return Err(Failure::Refused(FieldFault::invalid(BOARD, message).into()));
    }
    Ok(())
}

/// True when the caller may decide over the work of `agent`.
pub(super) fn may_assign(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyScope,
    agent: AgentId,
) -> Result<bool, StoreError> {
    match call.agent() {
        None => Ok(true),
        Some(caller) if caller.agent == agent || caller.is_ceo() => Ok(true),
        Some(caller) => access::manages(reads, company, caller.agent, agent),
    }
}

/// Refuses agents that have nothing to do with an issue: its assignee, its
/// author, the ceo and the assignee's managers may change it, and where nobody
/// has it, whoever hands it out (`to`).
pub(crate) fn require_stake(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyScope,
    issue: &Issue,
    to: Option<AgentId>,
) -> Result<(), Failure<IssueError>> {
    let Some(caller) = call.agent() else {
        return Ok(());
    };
    let own = issue.assignee.agent() == Some(caller.agent)
        || issue.created_by.agent() == Some(caller.agent)
        || caller.is_ceo();
    let above = match (issue.assignee, to) {
        _ if own => true,
        (Assignee::Agent(assignee), _) => access::manages(reads, company, caller.agent, assignee)?,
        (Assignee::Nobody, Some(to)) => may_assign(reads, call, company, to)?,
        (Assignee::Nobody | Assignee::Board(_), _) => false,
    };
    if above {
        return Ok(());
    }
    Err(denied(Denied::Forbidden(
        "only the assignee, the author and the assignee's managers may change an issue",
    )))
}

/// Wakes the agent an issue was given to, unless it gave the issue to itself
/// or the issue is parked or ended.
pub(super) fn wake_assignee(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &Issue,
    agent: &Agent,
    reason: WakeReason,
) -> Result<(), StoreError> {
    if issue.status() == IssueStatus::Backlog {
        return Ok(());
    }
    wake(tx, call, issue, agent, WakeSource::Assignment, reason)
}

/// Wakes an agent about an open issue, unless it is the one that acts.
fn wake(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &Issue,
    agent: &Agent,
    source: WakeSource,
    reason: WakeReason,
) -> Result<(), StoreError> {
    if issue.status().is_terminal() || call.actor().agent_id() == Some(agent.id) {
        return Ok(());
    }
    let request = WakeRequest {
        payload: document(json!({ "issueId": issue.id, "identifier": issue.identifier })),
        ..WakeRequest::about(agent, issue.id, source, reason)
    };
    wakes::request(tx, call, request)?;
    Ok(())
}

/// Wakes the assignee of the parent when the last open child of it has ended
/// (amendment A13.14). The parent is locked before its children are counted,
/// so that of two that end at the same time one is the last.
pub(super) fn wake_for_children(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    company: CompanyScope,
    parent: IssueId,
) -> Result<(), StoreError> {
    let Some(parent) = tx.issues_mut().lock(company.into(), &parent.into())? else {
        return Ok(());
    };
    if tx.issues().open_children(company, parent.id)? > 0 {
        return Ok(());
    }
    let Some(assignee) = parent.assignee.agent() else {
        return Ok(());
    };
    let Some(agent) = tx.agents().find(company.into(), assignee)? else {
        return Ok(());
    };
    let (source, reason) = (WakeSource::Automation, WakeReason::ChildrenCompleted);
    wake(tx, call, &parent, &agent, source, reason)
}
