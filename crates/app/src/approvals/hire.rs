//! Hiring: a draft and the approval that decides on it
//! (docs/approvals.md#hires).

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::board::Author;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};

use super::error::ApprovalError;
use super::hire_fields::HireFields;
use super::insert::{NewApproval, SubmittedApproval, insert};
use super::view::ApprovalView;
use super::{links, read};
use crate::access::{self, Denied, FieldFault};
use crate::agents::{self, AgentDetail, CreateAgent};
use crate::approval_records::{draft_snapshot, review_flags};
use crate::context::Context;
use crate::refusal::Codes;

/// Asks for an agent to be hired.
#[derive(Clone, Debug, PartialEq)]
pub struct HireAgent {
    /// The agent.
    pub agent: CreateAgent,
    /// The issues that it is thought for, by id or identifier, each with its
    /// place in the request.
    pub source_issues: Vec<(String, String)>,
}

/// What asking for a hire led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Hired {
    /// The draft, or the agent itself where the company wants no approval.
    pub agent: AgentDetail,
    /// The approval that decides on the draft.
    pub approval: Option<ApprovalView>,
}

/// What [`hire`] refuses with.
pub const HIRE: Codes = agents::INSERT_AGENT;

/// Proposes an agent: a draft, and the approval that decides on it. Where the
/// company wants no approval the agent works at once, unless an agent asks for
/// what only the board may give.
pub fn hire(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: HireAgent,
) -> Result<Hired, Failure<ApprovalError>> {
    let company = access::company(tx.reads(), ctx, company)?;
    let scope = company.scope();
    ctx.require_working_company()?;
    require_may_hire(ctx)?;
    if command.source_issues.len() > Approval::MAX_ISSUES {
        let message = format!("at most {} issues", Approval::MAX_ISSUES);
        let fault = FieldFault::invalid("/sourceIssueIds", message);
        return Err(fault.into());
    }
    agents::lock_company(tx, scope)?;
    let mut issues = Vec::new();
    for (name, pointer) in &command.source_issues {
        issues.push(links::find(tx.reads(), scope, name, pointer)?.id);
    }
    let beyond = ctx.agent().is_some() && command.agent.needs_board();
    if !company.require_board_approval_for_new_agents && !beyond {
        let agent = insert_agent(tx, ctx, scope, command.agent, AgentLifecycle::ENABLED)?;
        return Ok(Hired {
            agent: agents::detail(tx.reads(), ctx, agent.into_inner())?,
            approval: None,
        });
    }
    let proposal = Proposal {
        requested_by: ctx.actor().author(),
        agent: command.agent,
        extras: Document::new(),
    };
    let issues = links::lock(tx, scope, issues)?;
    let (draft, approval) = propose(tx, ctx, scope, proposal, &issues)?;
    Ok(Hired {
        agent: agents::detail(tx.reads(), ctx, draft)?,
        approval: Some(read::view(tx.reads(), ctx, approval)?),
    })
}

/// The board, the ceo, and agents that may hire.
fn require_may_hire(ctx: &Context<'_>) -> Result<(), Failure<ApprovalError>> {
    match ctx.agent() {
        Some(caller) if !caller.is_ceo() && !caller.can_create_agents => {
            Err(Denied::Forbidden("this agent may not hire").into())
        }
        _ => Ok(()),
    }
}

/// Files a hire with its fields in the payload. One that names a draft is the
/// approval that the draft has already.
pub(super) fn submit(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    requested_by: Author,
    payload: Document,
    issues: &[Locked<Issue>],
) -> Result<SubmittedApproval, Failure<ApprovalError>> {
    require_may_hire(ctx)?;
    if let Some(Value::String(id)) = payload.get("agentId") {
        return Ok(SubmittedApproval {
            view: existing(tx, ctx, scope, id)?,
            existing: true,
        });
    }
    let agent = HireFields::read(&payload).and_then(HireFields::new_agent)?;
    let proposal = Proposal {
        requested_by,
        agent,
        extras: flat(payload),
    };
    let (_draft, approval) = propose(tx, ctx, scope, proposal, issues)?;
    Ok(SubmittedApproval {
        view: read::view(tx.reads(), ctx, approval)?,
        existing: false,
    })
}

/// The undecided approval of the draft with this id.
fn existing(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    id: &str,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let approval = match id.parse::<AgentId>() {
        Ok(id) => tx.approvals().find_by_draft(scope, id)?,
        Err(_) => None,
    };
    let approval = match approval {
        Some(approval) => tx.approvals().find(scope.into(), approval)?,
        None => None,
    };
    match approval.filter(|approval| !approval.status().is_terminal()) {
        Some(approval) => Ok(read::view(tx.reads(), ctx, approval)?),
        None => {
            let message = "the agent is no draft that waits for the board";
            let fault = FieldFault::invalid("/payload/agentId", message);
            Err(fault.into())
        }
    }
}

/// The payload with what stands within `hire` at its top.
fn flat(mut payload: Document) -> Document {
    if let Some(Value::Object(hire)) = payload.remove("hire") {
        payload.extend(hire);
    }
    payload
}

/// An agent that is proposed.
struct Proposal {
    requested_by: Author,
    agent: CreateAgent,
    /// What the payload says beyond the agent.
    extras: Document,
}

/// Makes the draft and its approval.
fn propose(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    proposal: Proposal,
    issues: &[Locked<Issue>],
) -> Result<(Agent, Approval), Failure<ApprovalError>> {
    let lifecycle = AgentLifecycle::DRAFT;
    let draft = insert_agent(tx, ctx, scope, proposal.agent, lifecycle)?;
    let payload = draft_snapshot::of(&draft, proposal.extras)?;
    let attention = if proposal.requested_by.agent().is_some() {
        review_flags::of(&draft)
    } else {
        Vec::new()
    };
    // Several hires may be for one issue, so it is no hire's primary issue.
    let new = NewApproval {
        kind: ApprovalType::HireAgent,
        requested_by: proposal.requested_by,
        payload,
        attention,
        primary_issue: None,
    };
    let approval = insert(tx, ctx, scope, new, issues, Some(&draft))?;
    Ok((draft.into_inner(), approval.into_inner()))
}

fn insert_agent(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    agent: CreateAgent,
    lifecycle: AgentLifecycle,
) -> Result<Locked<Agent>, Failure<ApprovalError>> {
    agents::insert_agent(tx, ctx, scope, agent, lifecycle)
        .map_err(|failure| failure.map(ApprovalError::from))
}

/// Locks the draft that an approval decides on, if it is one of a hire.
pub(super) fn lock_draft_of(
    tx: &mut dyn Tx,
    approval: &Approval,
) -> Result<Option<Locked<Agent>>, StoreError> {
    if approval.kind != ApprovalType::HireAgent {
        return Ok(None);
    }
    let scope = approval.scope();
    match tx.approvals().find_draft(scope, approval.id)? {
        Some(draft) => agents::lock_draft(tx, scope, draft),
        None => Ok(None),
    }
}

/// Lets the draft work, exactly as it is stored (docs/approvals.md#hires). A used-up
/// budget pauses it at once.
pub(super) fn activate(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: Option<Locked<Agent>>,
) -> Result<(), StoreError> {
    match draft {
        Some(draft) => agents::activate(tx, ctx, draft),
        None => Ok(()),
    }
}

/// Ends the draft.
pub(super) fn discard(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: Option<Locked<Agent>>,
) -> Result<(), Failure<ApprovalError>> {
    match draft {
        Some(mut draft) => {
            agents::discard(tx, ctx, &mut draft).map_err(|failure| failure.map(ApprovalError::from))
        }
        None => Ok(()),
    }
}

/// Makes the draft what a new payload proposes, which replaces the present one
/// (docs/approvals.md#sending-again), and shows it as it is then.
pub(super) fn revise(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    mut draft: Locked<Agent>,
    payload: Document,
) -> Result<(), Failure<ApprovalError>> {
    let proposal = HireFields::read(&payload).and_then(HireFields::new_agent)?;
    agents::revise(tx, ctx, &mut draft, proposal)
        .map_err(|failure| failure.map(ApprovalError::from))?;
    approval.payload = draft_snapshot::of(&draft, flat(payload))?;
    if approval.requested_by.agent().is_some() {
        approval.attention = review_flags::of(&draft);
    }
    Ok(())
}
