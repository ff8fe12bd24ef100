//! Comments on approvals: what they say, whom they wake.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalComment};
use workforce_domain::id::{AgentId, ApprovalId};
use workforce_domain::page::{Order, Page, PageRequest};
use workforce_domain::port::{ApprovalCommentCursor, Failure, Reads, StoreError, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::text::CommentBody;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::error::ApprovalError;
use super::lookup::seen;
use super::read;
use crate::activity_log::{document, log_activity};
use crate::context::Context;
use crate::mentions::{Commented, Names};
use crate::wakes::{self, WakeRequest};

/// A wake quotes at most so many bytes of a comment.
const QUOTED: usize = 4 * 1024;

/// Comments on an approval. Anyone of the company. Whoever it mentions is
/// woken, its author never; the agent that asked hears of what people write.
pub fn add_comment(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    body: CommentBody,
) -> Result<Commented<ApprovalComment>, Failure<ApprovalError>> {
    let approval = seen(tx, ctx, id)?;
    ctx.require_working_company()?;
    let mentions = Names::default().mentioned(tx, ctx, approval.scope(), &body)?;
    let comment = ApprovalComment {
        id: ctx.id(),
        company: approval.company,
        approval: id,
        author: ctx.actor().author(),
        run: ctx.actor().run(),
        mentions: mentions.agents,
        body,
        created_at: ctx.now,
    };
    tx.approvals_mut().add_comment(&comment)?;
    let details = json!({ "commentId": comment.id, "mentions": comment.mentions });
    log_activity(tx, ctx, Action::ApprovalCommentAdded, &approval, details);
    for agent in &comment.mentions {
        let reason = WakeReason::IssueCommentMentioned;
        wake(tx, ctx, &approval, &comment, *agent, reason)?;
    }
    if let Some(requester) = approval.requested_by.agent()
        && ctx.agent().is_none()
        && !comment.mentions.contains(&requester)
    {
        let reason = WakeReason::IssueCommented;
        wake(tx, ctx, &approval, &comment, requester, reason)?;
    }
    Ok(Commented {
        comment,
        unknown_mentions: mentions.unknown,
    })
}

/// Wakes an agent to read a comment and to answer it. Work on the issue is not
/// what it is called for.
fn wake(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Approval,
    comment: &ApprovalComment,
    agent: AgentId,
    reason: WakeReason,
) -> Result<(), StoreError> {
    let Some(agent) = tx.agents().find(approval.scope().into(), agent)? else {
        return Ok(());
    };
    let quoted = &comment.body[..comment.body.floor_char_boundary(QUOTED)];
    let request = WakeRequest {
        agent: &agent,
        issue: approval.primary_issue,
        kind: match approval.primary_issue {
            Some(_) => RunKind::Consult,
            None => RunKind::General,
        },
        source: WakeSource::Automation,
        reason,
        comments: Vec::new(),
        payload: document(json!({
            "approvalId": approval.id,
            "approvalType": approval.kind,
            "approvalStatus": approval.status(),
            "approvalCommentId": comment.id,
            "approvalComment": quoted,
        })),
        not_before: None,
    };
    wakes::request(tx, ctx, request)?;
    Ok(())
}

/// Comments on an approval, oldest first unless asked for otherwise.
pub fn comments(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
    order: Order,
    page: &PageRequest<ApprovalCommentCursor>,
) -> Result<Page<ApprovalComment, ApprovalCommentCursor>, Failure<ApprovalError>> {
    let approval = read::find(reads, ctx, id)?;
    Ok(reads
        .approvals()
        .comments(approval.scope(), id, order, page)?)
}
