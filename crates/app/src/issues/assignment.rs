//! Who may assign work to whom, and who hears of it
//! (docs/issues.md#assignment).

use serde_json::{Value, json};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::board::BoardMember;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{
    EmployedAgent, Failure, Locked, Reads, Shared, StoreError, Tx, WakeableAgent,
};
use workforce_domain::wake::{WakeReason, WakeSource};

use super::IssueError;
use crate::access::{self, Denied, FieldFault};
use crate::activity_log::document;
use crate::context::Context;
use crate::refusal::Code;
use crate::wakes::{self, WakeRequest};

/// Where a body names the member of the board that work is assigned to.
const BOARD: &str = "/assigneeUserId";

/// The agent that work is to be assigned to: it exists here, works here, and
/// the caller may assign to it. Agents assign to themselves; the ceo to anyone;
/// managers to whoever reports to them.
pub(super) fn assignable(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyScope,
    agent: Option<Shared<Agent>>,
) -> Result<EmployedAgent, Failure<IssueError>> {
    let pointer = "/assigneeAgentId";
    let missing = || Failure::Refused(IssueError::Field(FieldFault::missing(pointer, "agent")));
    let found = agent.ok_or_else(missing)?.employed().ok_or_else(|| {
        let fault = FieldFault::invalid(pointer, "the agent is a draft or terminated");
        Failure::Refused(IssueError::Field(fault))
    })?;
    if !may_assign(reads, ctx, company, found.id)? {
        return Err(Denied::Forbidden(
            "an agent assigns work to itself or to those who report to it",
        )
        .into());
    }
    Ok(found)
}

/// The member of the board that work is to be assigned to, as callers name it.
/// Anybody may hand work to the board.
pub(super) fn board_member(
    reads: &mut dyn Reads,
    named: &str,
) -> Result<BoardMember, Failure<IssueError>> {
    match BoardMember::parse_identity(named) {
        Ok(member) if is_present(reads, member)? => Ok(member),
        Ok(_) | Err(_) => {
            let message = "names nobody of the board";
            let fault = FieldFault::coded(Code::ReferenceNotFound, BOARD, message);
            Err(Failure::Refused(fault.into()))
        }
    }
}

/// True when a member of the board may be given work now.
pub(super) fn is_present(reads: &mut dyn Reads, member: BoardMember) -> Result<bool, StoreError> {
    match member {
        BoardMember::Local | BoardMember::StartToken => Ok(true),
        BoardMember::Token(id) => {
            let token = reads.board_tokens().find(id)?;
            Ok(token.is_some_and(|token| token.revoked_at.is_none()))
        }
        BoardMember::User(_) => Ok(false),
    }
}

/// Refuses two assignees at once.
pub(super) fn require_one(agent: bool, board: bool) -> Result<(), Failure<IssueError>> {
    if agent && board {
        let message = "an issue has no agent and person as assignee at once";
        return Err(FieldFault::invalid(BOARD, message).into());
    }
    Ok(())
}

/// True when the caller may decide over the work of `agent`.
pub(super) fn may_assign(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyScope,
    agent: AgentId,
) -> Result<bool, StoreError> {
    match ctx.agent() {
        None => Ok(true),
        Some(caller) if caller.agent == agent || caller.is_ceo() => Ok(true),
        Some(caller) => access::manages(reads, company, caller.agent, agent),
    }
}

/// Refuses agents that may not change an issue. Its assignee, its author, the ceo
/// and the assignee's managers may. If nobody has the issue, so may an agent that
/// assigns it to `to`.
pub(crate) fn require_stake(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: &Issue,
    to: Option<AgentId>,
) -> Result<(), Failure<IssueError>> {
    let Some(caller) = ctx.agent() else {
        return Ok(());
    };
    let own = issue.assignee.agent() == Some(caller.agent)
        || issue.created_by.agent() == Some(caller.agent)
        || caller.is_ceo();
    let above = match (*issue.assignee, to) {
        _ if own => true,
        (Assignee::Agent(assignee), _) => access::manages(reads, company, caller.agent, assignee)?,
        (Assignee::Nobody, Some(to)) => may_assign(reads, ctx, company, to)?,
        (Assignee::Nobody | Assignee::Board(_), _) => false,
    };
    if above {
        return Ok(());
    }
    Err(Denied::Forbidden(
        "only the assignee, the author and the assignee's managers may change an issue",
    )
    .into())
}

/// Locks the assignee of an ended issue that is about to be reopened, since it
/// may have been terminated. Comes before the lock on the issue.
pub(super) fn lock_former(
    tx: &mut dyn Tx,
    seen: &Issue,
) -> Result<Option<Shared<Agent>>, StoreError> {
    match seen
        .assignee
        .agent()
        .filter(|_| seen.status().is_terminal())
    {
        Some(agent) => tx.agents_mut().share(seen.scope(), agent),
        None => Ok(None),
    }
}

/// Takes a reopened issue from an agent that was terminated: nobody would work
/// on it. The issue is changed, not saved.
///
/// # Errors
/// [`StoreError::Contended`] when the issue has another assignee than the one
/// that is held.
pub(super) fn require_present(
    issue: &mut Locked<Issue>,
    former: Option<&Shared<Agent>>,
) -> Result<(), StoreError> {
    let Some(assignee) = issue.assignee.agent() else {
        return Ok(());
    };
    match former.filter(|former| former.id == assignee) {
        Some(former) if former.is_employed() => Ok(()),
        Some(_) => {
            issue.assignee = Assignment::NOBODY;
            Ok(())
        }
        None => Err(StoreError::Contended),
    }
}

/// Wakes the agent an issue was given to, unless it gave the issue to itself
/// or the issue is parked or ended.
pub(super) fn wake_assignee(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &Agent,
    reason: WakeReason,
) -> Result<(), StoreError> {
    if issue.status() == IssueStatus::Backlog {
        return Ok(());
    }
    wake(tx, ctx, issue, agent, WakeSource::Assignment, reason)
}

/// Wakes the agent that an issue is assigned to, since it can be worked on again.
pub(crate) fn wake_for_work(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
) -> Result<(), StoreError> {
    let Some(assignee) = issue.assignee.agent() else {
        return Ok(());
    };
    match tx.agents().find(issue.scope().into(), assignee)? {
        Some(agent) => wake_assignee(tx, ctx, issue, &agent, WakeReason::IssueAssigned),
        None => Ok(()),
    }
}

/// Wakes the agent an issue was handed to for a review, or after one, unless it did
/// that itself.
pub(super) fn wake_after_handover(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &Agent,
    told: Value,
) -> Result<(), StoreError> {
    if ctx.actor().agent_id() == Some(agent.id) {
        return Ok(());
    }
    let (source, reason) = (WakeSource::Assignment, WakeReason::IssueAssigned);
    let mut request = wake_about(issue, agent, source, reason);
    request.payload.extend(document(told));
    wakes::request(tx, ctx, request)?;
    Ok(())
}

/// Keeps the assignee of a new issue wakeable, if it is to be woken.
pub(super) fn lock_wakeable(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Agent,
    status: IssueStatus,
) -> Result<Option<WakeableAgent>, StoreError> {
    let parked = status == IssueStatus::Backlog || status.is_terminal();
    if parked || ctx.actor().agent_id() == Some(agent.id) {
        return Ok(None);
    }
    wakes::lock_wakeable(tx, agent, WakeSource::Assignment)
}

/// A wake that tells its agent which issue it is about.
pub(super) fn wake_about<'a>(
    issue: &Issue,
    agent: &'a Agent,
    source: WakeSource,
    reason: WakeReason,
) -> WakeRequest<'a> {
    WakeRequest {
        payload: document(json!({ "issueId": issue.id, "identifier": issue.identifier })),
        ..WakeRequest::about(agent, issue.id, source, reason)
    }
}

/// Wakes an agent about an open issue, unless it is the one that acts.
fn wake(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &Agent,
    source: WakeSource,
    reason: WakeReason,
) -> Result<(), StoreError> {
    if issue.status().is_terminal() || ctx.actor().agent_id() == Some(agent.id) {
        return Ok(());
    }
    wakes::request(tx, ctx, wake_about(issue, agent, source, reason))?;
    Ok(())
}

/// Wakes the assignee of the parent when the last open child of it has ended
/// (docs/issues.md#hierarchy). The parent is locked, so that of two children
/// that end at the same time one is the last.
pub(super) fn wake_for_children(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &Locked<Issue>,
) -> Result<(), StoreError> {
    let company = parent.scope();
    let Some(assignee) = parent.assignee.agent() else {
        return Ok(());
    };
    let Some(agent) = tx.agents().find(company.into(), assignee)? else {
        return Ok(());
    };
    if parent.status().is_terminal() || sees_parent(tx, ctx, parent, &agent)? {
        return Ok(());
    }
    let (source, reason) = (WakeSource::Automation, WakeReason::ChildrenCompleted);
    wakes::request(tx, ctx, wake_about(parent, &agent, source, reason))?;
    Ok(())
}

/// Whether this agent acts itself, and not in a run that is about something else than `parent`.
fn sees_parent(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &Issue,
    agent: &Agent,
) -> Result<bool, StoreError> {
    let actor = ctx.actor();
    if actor.agent_id() != Some(agent.id) {
        return Ok(false);
    }
    let Some(run) = actor.run() else {
        return Ok(true);
    };
    let run = tx.runs().find(parent.scope().into(), run)?;
    Ok(run.is_none_or(|run| run.issue == Some(parent.id)))
}
