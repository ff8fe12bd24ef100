//! Whom comments wake (docs/issues.md#comments).

use serde_json::{Value, json};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::{AgentId, CommentId};
use workforce_domain::issue::{Comment, Issue};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::activity_log::document;
use crate::context::Context;
use crate::wakes::{self, WakeRequest};

/// What comments come with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Nothing else.
    Talk,
    /// They have just reopened the issue.
    Reopening,
    /// The issue has just gone back to whoever did the work, who is told in any case.
    Return,
    /// Remarks on work that stays in review: whoever did it hears of them, too.
    Remarks,
}

/// Comments that were written down at once.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    /// The comments, in the order in which they are read.
    pub(super) comments: &'a [Comment],
    /// What they come with.
    pub(super) occasion: Occasion,
}

/// Wakes everybody whom comments concern, each agent once.
pub(super) fn wake_concerned(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    said: Said<'_>,
    told: &Value,
) -> Result<(), StoreError> {
    if said.comments.is_empty() {
        return Ok(());
    }
    let call = |agent, kind, reason, comments| Call {
        agent,
        kind,
        reason,
        comments,
    };
    let owner = issue.assignee.agent();
    let mut calls = Vec::new();
    for agent in said.mentioned() {
        // A mention calls the assignee to work; everybody else to give advice.
        let works = owner == Some(agent) && !issue.status().is_terminal();
        let (kind, comments) = match works {
            true => (RunKind::Execution, said.all()),
            false => (RunKind::Consult, said.mentioning(agent)),
        };
        let reason = WakeReason::IssueCommentMentioned;
        calls.push(call(agent, kind, reason, comments));
    }
    if let Some(owner) = owner.filter(|owner| said.reaches(ctx, issue, *owner)) {
        calls.push(call(owner, RunKind::Execution, said.reason(), said.all()));
    }
    if let Some(implementer) = issue.implementer
        && said.occasion == Occasion::Remarks
        && issue.is_under_review()
        && said.is_heard_by(ctx, implementer)
    {
        // It does not have the issue, so that it may answer and do nothing else.
        let (kind, reason) = (RunKind::Consult, WakeReason::IssueCommented);
        calls.push(call(implementer, kind, reason, said.all()));
    }
    calls
        .into_iter()
        .try_for_each(|call| call.make(tx, ctx, issue, told))
}

impl Said<'_> {
    fn all(&self) -> Vec<CommentId> {
        self.comments.iter().map(|comment| comment.id).collect()
    }

    fn mentioning(&self, agent: AgentId) -> Vec<CommentId> {
        let mentioning = |comment: &&Comment| comment.mentions.contains(&agent);
        let comments = self.comments.iter().filter(mentioning);
        comments.map(|comment| comment.id).collect()
    }

    /// Everybody whom they mention, once.
    fn mentioned(&self) -> Vec<AgentId> {
        let mut mentioned: Vec<AgentId> = Vec::new();
        for agent in self.comments.iter().flat_map(|comment| &comment.mentions) {
            if !mentioned.contains(agent) {
                mentioned.push(*agent);
            }
        }
        mentioned
    }

    /// What others write is heard by whom it concerns: what people write always, what
    /// agents write only when they mention nobody. A mention is heard of itself.
    fn is_heard_by(&self, ctx: &Context<'_>, agent: AgentId) -> bool {
        let author = ctx.actor().agent_id();
        let to_others = |comment: &Comment| !comment.mentions.is_empty();
        let by_agent_to_others = author.is_some() && self.comments.iter().all(to_others);
        author != Some(agent) && !by_agent_to_others && self.mentioning(agent).is_empty()
    }

    /// True when the assignee is woken, and not by a mention. A reopened or returned
    /// issue is its work again, whoever did that.
    fn reaches(&self, ctx: &Context<'_>, issue: &Issue, owner: AgentId) -> bool {
        let is_work = match self.occasion {
            Occasion::Talk | Occasion::Remarks => false,
            Occasion::Reopening => true,
            Occasion::Return => self.mentioning(owner).is_empty(),
        };
        let hears = !issue.status().is_terminal() && self.is_heard_by(ctx, owner);
        ctx.actor().agent_id() != Some(owner) && (hears || is_work)
    }

    const fn reason(&self) -> WakeReason {
        match self.occasion {
            Occasion::Talk | Occasion::Remarks => WakeReason::IssueCommented,
            Occasion::Reopening => WakeReason::IssueReopenedViaComment,
            Occasion::Return => WakeReason::IssueAssigned,
        }
    }
}

/// A wake that is to be asked for.
struct Call {
    agent: AgentId,
    kind: RunKind,
    reason: WakeReason,
    comments: Vec<CommentId>,
}

impl Call {
    fn make(
        self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &Issue,
        told: &Value,
    ) -> Result<(), StoreError> {
        let Some(agent) = tx.agents().find(issue.scope().into(), self.agent)? else {
            return Ok(());
        };
        let mut payload = document(json!({
            "issueId": issue.id,
            "commentId": self.comments.last(),
        }));
        payload.extend(document(told.clone()));
        let source = WakeSource::Automation;
        let request = WakeRequest {
            kind: self.kind,
            comments: self.comments,
            payload,
            ..WakeRequest::about(&agent, issue.id, source, self.reason)
        };
        wakes::request(tx, ctx, request)?;
        Ok(())
    }
}
