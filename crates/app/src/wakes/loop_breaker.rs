//! Keeping agents from waking each other without end (docs/heartbeats.md#loops).
//!
//! An agent may be run for one issue and one reason more than a few times in half
//! an hour, while no person comments and the issue neither starts nor ends. Then
//! its next automatic wake is kept pending for a time that doubles with each
//! further run. Nothing is lost: further wakes are added to the kept one, and a
//! comment of a person releases it at once. The same holds for runs about no
//! issue that an agent asks for.

use std::time::Duration;

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::IssueId;
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::port::{RunFilter, StoreError, Tx};
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::WakeRequest;
use crate::activity_log::log_activity;
use crate::context::Context;

/// How far back runs count.
const WINDOW: Duration = Duration::from_secs(30 * 60);

/// Up to so many runs within the window are no loop.
const HARMLESS_RUNS: usize = 6;

/// How long the first wake beyond is kept; each further one twice as long.
const FIRST_DELAY: Duration = Duration::from_secs(60);

/// No wake is kept longer.
const LONGEST_DELAY: Duration = Duration::from_secs(60 * 60);

/// Runs that are looked through for those about no issue.
const RECENT_RUNS: usize = 100;

/// Comments that are looked through for a person's word.
const RECENT_COMMENTS: usize = 20;

/// Until when a wake is to be kept; `None` for one that is no part of a loop.
pub(super) fn held_until(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    request: &WakeRequest<'_>,
) -> Result<Option<Timestamp>, StoreError> {
    let company = request.agent.scope();
    let runs = match request.issue {
        Some(issue) if is_automatic(ctx, request) => {
            let runs = runs_of(tx, request, ctx.now, HARMLESS_RUNS + 8)?;
            let same = |run: &&Run| run.reason == request.reason;
            if runs.iter().filter(same).count() <= HARMLESS_RUNS {
                return Ok(None);
            }
            let progress = last_progress(tx, company, issue)?;
            let since = |run: &&Run| progress.is_none_or(|progress| run.created_at > progress);
            runs.iter().filter(same).filter(since).count()
        }
        // An agent may give any reason, so all of them count as one.
        None if ctx.agent().is_some() => {
            let runs = runs_of(tx, request, ctx.now, RECENT_RUNS)?;
            runs.iter().filter(|run| run.issue.is_none()).count()
        }
        Some(_) | None => return Ok(None),
    };
    let Some(surplus) = runs.checked_sub(HARMLESS_RUNS + 1) else {
        return Ok(None);
    };
    let doublings = u32::try_from(surplus).unwrap_or(u32::MAX).min(10);
    let delay = FIRST_DELAY
        .saturating_mul(2_u32.pow(doublings))
        .min(LONGEST_DELAY);
    Ok(Some(ctx.now.plus(delay)))
}

/// True for a wake that nobody asked for by hand. What workforce itself resumes
/// has a bound of its own.
fn is_automatic(ctx: &Context<'_>, request: &WakeRequest<'_>) -> bool {
    let by_itself = matches!(
        request.source,
        WakeSource::Automation | WakeSource::Assignment
    );
    let resumed = matches!(
        request.reason,
        WakeReason::ProcessLostRetry | WakeReason::ProviderRetry | WakeReason::BudgetResumed
    );
    by_itself && !resumed && !ctx.actor().is_board()
}

/// The latest runs of the window, at most `limit`: those about the issue, or
/// all where there is none.
fn runs_of(
    tx: &mut dyn Tx,
    request: &WakeRequest<'_>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Run>, StoreError> {
    let filter = RunFilter {
        agent: Some(request.agent.id),
        issue: request.issue,
        statuses: Vec::new(),
    };
    let page = PageRequest {
        limit,
        ..PageRequest::first()
    };
    let since = now.minus(WINDOW);
    let mut runs = tx.runs().list(request.agent.scope(), &filter, &page)?.items;
    runs.retain(|run| run.created_at > since);
    Ok(runs)
}

/// When the issue last got anywhere, or a person last spoke on it.
fn last_progress(
    tx: &mut dyn Tx,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<Timestamp>, StoreError> {
    let page = PageRequest {
        limit: RECENT_COMMENTS,
        ..PageRequest::first()
    };
    let spoken = tx
        .comments()
        .list(company, issue, Order::Descending, &page)?
        .items
        .into_iter()
        .find(|comment| comment.author.board().is_some())
        .map(|comment| comment.created_at);
    let moved = tx
        .issues()
        .find(company.into(), &issue.into())?
        .map(|issue| issue.progress)
        .and_then(|progress| {
            progress
                .last_started_at()
                .max(progress.completed_at())
                .max(progress.cancelled_at())
        });
    Ok(spoken.max(moved))
}

/// Tells that a wake is kept because it looks like a part of a loop.
pub(super) fn log_suspected_loop(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    request: &WakeRequest<'_>,
    until: Timestamp,
) {
    let details = json!({
        "issueId": request.issue,
        "reason": request.reason,
        "notBefore": until,
    });
    let (system, action) = (ctx.as_system(), Action::WakeLoopSuspected);
    log_activity(tx, &system, action, request.agent, details);
}
