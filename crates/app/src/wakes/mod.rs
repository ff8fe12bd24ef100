//! Asking for an agent to be run. At most one wake per agent and key is
//! pending; whatever else happens meanwhile is added to it
//! (docs/heartbeats.md#coalescing).

mod advice;
mod loop_breaker;

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::{Entity, Event, EventKind};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::id::{AgentId, CommentId, IssueId, RunId};
use workforce_domain::port::{Locked, StoreError, Tx, WakeableAgent};
use workforce_domain::run::{Run, RunKind, RunStatus, WakeStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};

pub(crate) use advice::{requeue_waiting_work, turn_work_into_advice};

use crate::activity_log::document;
use crate::context::Context;

/// Facts that a pending wake gathers for its agent.
const MAX_FACTS: usize = 100;

/// A reason to run an agent.
#[derive(Clone, Debug)]
pub struct WakeRequest<'a> {
    /// The agent to run.
    pub agent: &'a Agent,
    /// The issue it is about.
    pub issue: Option<IssueId>,
    /// What the run may do.
    pub kind: RunKind,
    /// What kind of thing causes it.
    pub source: WakeSource,
    /// Why.
    pub reason: WakeReason,
    /// The comments that cause it, oldest first.
    pub comments: Vec<CommentId>,
    /// What the caller wants the agent to know.
    pub payload: Document,
    /// Not to be answered before; now when `None`.
    pub not_before: Option<Timestamp>,
}

impl<'a> WakeRequest<'a> {
    /// A wake about an issue, to work on it.
    pub fn about(agent: &'a Agent, issue: IssueId, source: WakeSource, reason: WakeReason) -> Self {
        Self {
            agent,
            issue: Some(issue),
            kind: RunKind::Execution,
            source,
            reason,
            comments: Vec::new(),
            payload: Document::new(),
            not_before: None,
        }
    }

    /// Why there is work to do on the issue, if that is what it asks for.
    fn work(&self) -> Option<WakeReason> {
        (self.kind == RunKind::Execution && !self.reason.is_talk()).then_some(self.reason)
    }
}

/// What became of a wake request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeOutcome {
    /// A run was queued for it.
    Queued(RunId),
    /// It was added to a wake that is pending already, which this run answers.
    Coalesced(RunId),
    /// There is nobody to wake: the agent is a draft or terminated, wants to be
    /// woken by its timer alone, or the board stopped its company.
    Dropped,
}

/// Asks for an agent to be run. Paused agents keep the wake until they may run
/// again; a company that the board stopped takes none
/// (docs/access.md#company-switches).
pub fn request(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    mut request: WakeRequest<'_>,
) -> Result<WakeOutcome, StoreError> {
    let Some(wakeable) = lock_wakeable(tx, request.agent, request.source)? else {
        return Ok(WakeOutcome::Dropped);
    };
    let company = wakeable.company();
    ctx.signal.raise();
    let pending = tx
        .runs_mut()
        .lock_pending_wake(company, request.agent.id, request.issue)?;
    let work = request.work();
    request.kind = advice::kind(tx, ctx, &request, pending.as_ref())?;
    if let Some(mut wake) = pending {
        change_kind(tx, ctx, &mut wake, request.kind)?;
        // Only a request that is no part of the loop releases a wake that is
        // kept back.
        if wake.not_before > ctx.now
            && let Some(until) = loop_breaker::held_until(tx, ctx, &request)?
        {
            request.not_before = Some(until);
        }
        wake.by_board |= ctx.actor().is_board();
        wake.work = wake.work.or(work);
        merge(&mut wake, request, ctx.now);
        tx.runs_mut().save_wake(&wake)?;
        return Ok(WakeOutcome::Coalesced(wake.run));
    }
    let run = queue_with(tx, ctx, wakeable, request, work)?;
    Ok(WakeOutcome::Queued(run))
}

/// Keeps an agent wakeable until the transaction ends; `None` when it may not be woken, or not
/// from this source.
pub fn lock_wakeable(
    tx: &mut dyn Tx,
    agent: &Agent,
    source: WakeSource,
) -> Result<Option<WakeableAgent>, StoreError> {
    if !wants(agent, source) {
        return Ok(None);
    }
    tx.runs_mut().share_wakeability(agent.scope(), agent.id)
}

/// Queues a wake that cannot find a pending one to join, such as the first of an issue. Returns
/// the run that will answer it.
pub fn queue(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    wakeable: WakeableAgent,
    request: WakeRequest<'_>,
) -> Result<RunId, StoreError> {
    let work = request.work();
    queue_with(tx, ctx, wakeable, request, work)
}

fn queue_with(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    wakeable: WakeableAgent,
    mut request: WakeRequest<'_>,
    work: Option<WakeReason>,
) -> Result<RunId, StoreError> {
    ctx.signal.raise();
    if let Some(until) = loop_breaker::held_until(tx, ctx, &request)? {
        loop_breaker::log_suspected_loop(tx, ctx, &request, until);
        request.not_before = Some(until);
    }
    let (wake, run) = fresh(ctx, request, work);
    tx.runs_mut().queue(wakeable, &wake, &run)?;
    tx.journal().event(Event {
        company: run.company,
        kind: EventKind::RunQueued,
        payload: document(json!({
            "runId": run.id,
            "agentId": run.agent,
            "issueId": run.issue,
            "reason": run.reason,
            "entityType": Entity::HeartbeatRun,
        })),
        created_at: ctx.now,
    });
    Ok(run.id)
}

/// Whether an agent takes wakes from this source. One that follows its timer
/// alone ignores assignments and automation; it can still be woken by hand.
fn wants(agent: &Agent, source: WakeSource) -> bool {
    match source {
        WakeSource::Timer | WakeSource::OnDemand => true,
        WakeSource::Assignment | WakeSource::Automation => agent.wakes_on_demand(),
    }
}

/// Takes back an agent's pending wake to work on an issue that it lost. If a
/// comment also mentioned the agent, the wake becomes one to give advice.
pub fn withdraw(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    agent: AgentId,
    issue: IssueId,
) -> Result<(), StoreError> {
    let pending = tx
        .runs_mut()
        .lock_pending_wake(company, agent, Some(issue))?;
    let Some(mut wake) = pending.filter(|wake| wake.kind == RunKind::Execution) else {
        return Ok(());
    };
    if !wake.reasons.contains(&WakeReason::IssueCommentMentioned) {
        tx.runs_mut().cancel_wake(wake, ctx.now)?;
        return Ok(());
    }
    change_kind(tx, ctx, &mut wake, RunKind::Consult)?;
    wake.work = None;
    wake.updated_at = ctx.now;
    tx.runs_mut().save_wake(&wake)
}

/// Changes what the run of a pending wake may do. The wake is changed, not
/// saved.
fn change_kind(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    wake: &mut Locked<Wake>,
    kind: RunKind,
) -> Result<(), StoreError> {
    if wake.kind == kind {
        return Ok(());
    }
    wake.kind = kind;
    if let Some(mut run) = tx.runs_mut().lock(wake.scope().into(), wake.run)? {
        run.kind = kind;
        run.updated_at = ctx.now;
        tx.runs_mut().save(&run)?;
    }
    Ok(())
}

fn merge(wake: &mut Locked<Wake>, request: WakeRequest<'_>, now: Timestamp) {
    if !wake.reasons.contains(&request.reason) {
        wake.reasons.push(request.reason);
    }
    wake.comments.extend(request.comments);
    let surplus = wake.comments.len().saturating_sub(Wake::MAX_COMMENTS);
    wake.comments.drain(..surplus);
    // One more fact is not worth a wake that no agent could read.
    if wake.payload.len() < MAX_FACTS {
        wake.payload.extend(request.payload);
    }
    wake.count = wake.count.saturating_add(1);
    wake.not_before = wake.not_before.min(request.not_before.unwrap_or(now));
    wake.updated_at = now;
}

fn fresh(ctx: &Context<'_>, request: WakeRequest<'_>, work: Option<WakeReason>) -> (Wake, Run) {
    let (wake, run) = (ctx.id(), ctx.id());
    let requested_by = (request.source == WakeSource::OnDemand).then(|| ctx.actor().name());
    let row = Run {
        id: run,
        company: request.agent.company,
        agent: request.agent.id,
        issue: request.issue,
        kind: request.kind,
        status: RunStatus::Queued,
        source: request.source,
        reason: request.reason,
        wake,
        fence: 0,
        token_digest: None,
        instance: None,
        lease_expires_at: None,
        stop_requested_at: None,
        stop_reason: None,
        exit_code: None,
        signal: None,
        error_code: None,
        error: None,
        log_bytes: 0,
        log_tail: None,
        containment: None,
        session: None,
        session_resumed: None,
        prompt_sha256: None,
        prompt_bytes: None,
        result_text: None,
        retry_at: None,
        started_at: None,
        finished_at: None,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let wake = Wake {
        id: wake,
        company: request.agent.company,
        agent: request.agent.id,
        issue: request.issue,
        kind: request.kind,
        status: WakeStatus::Pending,
        source: request.source,
        reasons: vec![request.reason],
        comments: request.comments,
        payload: request.payload,
        count: 1,
        not_before: request.not_before.unwrap_or(ctx.now),
        run,
        requested_by,
        by_board: ctx.actor().is_board(),
        work,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    (wake, row)
}
