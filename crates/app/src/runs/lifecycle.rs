//! What the engine writes when a run begins and ends.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyScope, Owned};
use workforce_domain::id::RunId;
use workforce_domain::port::{ClaimRequest, ClaimedRun, Failure, Held, TextScrubber, Tx};
use workforce_domain::run::{Run, RunErrorCode, RunKind, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::write_down;
use crate::call::Call;
use crate::wakes::{self, WakeRequest};

/// Work lost with its server is tried again at most once in this time per
/// agent and issue.
const RETRY_SPACING: Duration = Duration::from_secs(60 * 60);

/// Claims the next run that may start and writes down that it started.
///
/// # Errors
/// When the store fails.
pub fn start(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>, Failure<Infallible>> {
    let Some(scope) = call.actor().instance() else {
        return Ok(None);
    };
    let claimed = tx.engine_mut().claim(scope, request)?;
    if let Some(claimed) = &claimed {
        let details = json!({ "reason": claimed.run.reason, "kind": claimed.run.kind });
        write_down(tx, call, Action::HeartbeatStarted, &claimed.run, details);
        wakes::keep_work(tx, call, &claimed.agent, &claimed.wake)?;
    }
    Ok(claimed)
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Its last status.
    pub status: RunStatus,
    /// Why it did not end well.
    pub error_code: Option<RunErrorCode>,
    /// The same for people.
    pub error: Option<String>,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// Bytes of output it wrote.
    pub log_bytes: i64,
    /// The end of its output.
    pub log_tail: Option<String>,
}

impl RunEnd {
    /// Takes the values of the run's secrets out of every text.
    pub fn scrub(&mut self, scrubber: &dyn TextScrubber) {
        for text in [&mut self.error, &mut self.log_tail].into_iter().flatten() {
            if let Some(clean) = scrubber.scrub(text) {
                *text = clean;
            }
        }
    }

    /// A run that ended without a program's doing.
    pub fn failed(code: RunErrorCode, error: impl Into<String>) -> Self {
        Self {
            status: RunStatus::Failed,
            error_code: Some(code),
            error: Some(error.into()),
            exit_code: None,
            signal: None,
            log_bytes: 0,
            log_tail: None,
        }
    }
}

/// Ends a run: in one transaction its token dies, its leases end, its agent
/// shows the outcome and everybody hears of it. False when the run was not
/// this server's any more (`fence` differs or it has ended), and then nothing
/// is written.
///
/// # Errors
/// When the store fails.
pub fn finish(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    company: CompanyScope,
    id: RunId,
    fence: i64,
    end: RunEnd,
) -> Result<bool, Failure<Infallible>> {
    let Some(seen) = tx.runs().find(company.into(), id)? else {
        return Ok(false);
    };
    let agent = tx.agents_mut().lock(company.into(), seen.agent)?;
    if let Some(issue) = seen.issue {
        tx.issues_mut().lock(company.into(), &issue.into())?;
    }
    let Some(mut run) = tx.runs_mut().lock(company.into(), id)? else {
        return Ok(false);
    };
    if run.fence != fence || run.status.go(end.status).is_err() {
        return Ok(false);
    }
    close(&mut run, end, call.now);
    tx.runs_mut().save(&run)?;
    tx.issues_mut().end_leases_of_run(&run)?;
    if let Some(mut agent) = agent {
        agent.last_heartbeat_at = Some(call.now);
        agent.consecutive_failures = match run.status {
            RunStatus::Succeeded => 0,
            RunStatus::Failed | RunStatus::TimedOut => agent.consecutive_failures.saturating_add(1),
            // A stop says nothing about the agent.
            RunStatus::Cancelled | RunStatus::Queued | RunStatus::Running => {
                agent.consecutive_failures
            }
        };
        tx.agents_mut().save(&agent)?;
    }
    call.signal.raise();
    let details = json!({
        "status": run.status,
        "errorCode": run.error_code,
        "exitCode": run.exit_code,
        "signal": run.signal,
    });
    write_down(tx, call, Action::HeartbeatFinished, &run, details);
    Ok(true)
}

fn close(run: &mut Held<Run>, end: RunEnd, now: Timestamp) {
    run.status = end.status;
    run.error_code = end.error_code;
    run.error = end.error;
    run.exit_code = end.exit_code;
    run.signal = end.signal;
    run.log_bytes = end.log_bytes;
    run.log_tail = end.log_tail;
    run.token_digest = None;
    run.instance = None;
    run.lease_expires_at = None;
    run.finished_at = Some(now);
    run.updated_at = now;
}

/// False when a lost run worked on an issue that has ended or is somebody
/// else's by now.
fn is_still_its_own(tx: &mut dyn Tx, run: &Run) -> Result<bool, Failure<Infallible>> {
    let Some(issue) = run.issue.filter(|_| run.kind == RunKind::Execution) else {
        return Ok(true);
    };
    let issue = tx.issues().find(run.scope().into(), &issue.into())?;
    Ok(issue.is_some_and(|issue| {
        !issue.status().is_terminal() && issue.assignee.agent() == Some(run.agent)
    }))
}

/// Ends a run whose server is gone or was stopped, and queues the work once
/// more, unless somebody had asked it to stop or it was retried recently.
///
/// # Errors
/// When the store fails.
pub fn lose(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    run: &Run,
    end: RunEnd,
) -> Result<bool, Failure<Infallible>> {
    let stopped = run.stop_requested_at.is_some();
    let end = if stopped {
        RunEnd {
            status: RunStatus::Cancelled,
            ..end
        }
    } else {
        end
    };
    if !finish(tx, call, run.scope(), run.id, run.fence, end)? {
        return Ok(false);
    }
    if stopped {
        return Ok(true);
    }
    let last = tx
        .engine()
        .last_retry_of(run.scope(), run.agent, run.issue)?;
    if last.is_some_and(|last| call.now.since(last) < RETRY_SPACING) {
        return Ok(true);
    }
    if !is_still_its_own(tx, run)? {
        return Ok(true);
    }
    if let Some(agent) = tx.agents().find(run.scope().into(), run.agent)? {
        let request = WakeRequest {
            agent: &agent,
            issue: run.issue,
            kind: run.kind,
            source: WakeSource::Automation,
            reason: WakeReason::ProcessLostRetry,
            comment: None,
            payload: workforce_domain::Document::new(),
            not_before: None,
        };
        wakes::request(tx, call, request)?;
    }
    Ok(true)
}
