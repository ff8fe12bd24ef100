//! The transactions of the engine, and what it decides on their outcome, as plain functions.
//!
//! The tasks of the engine call them, and so does the simulation, which brings their order about
//! by itself: what it proves of them holds here.

use std::convert::Infallible;
use std::time::Duration;

use workforce_app::costs::{self, RunUse};
use workforce_app::runs::{self, SessionUse};
use workforce_app::{Context, Failure};
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope};
use workforce_domain::id::{InstanceId, RunId};
use workforce_domain::port::{Locked, RenewedRun, StoreError, Tx};
use workforce_domain::run::{ProcessRecord, Run, RunEnd, RunErrorCode, RunOutcome, RunStart};
use workforce_domain::text::AccountKey;
use workforce_domain::time::Timestamp;

pub use crate::live::Halt;

/// Whether a run is still its server's, and is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It goes on.
    Ours,
    /// Somebody asked it to stop, for this reason.
    ToStop(RunErrorCode),
    /// It has ended, or is another server's.
    Lost,
}

/// What a renewal saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    renewed: Vec<RenewedRun>,
    completed: Vec<RunId>,
}

impl Renewal {
    /// Where a run stands that was claimed with `fence`.
    pub fn standing(&self, run: RunId, fence: i64) -> Standing {
        match self.renewed.iter().find(|row| row.run == run) {
            Some(row) if row.fence == fence => {
                row.stop_reason.map_or(Standing::Ours, Standing::ToStop)
            }
            Some(_) | None => Standing::Lost,
        }
    }

    /// The runs whose agents have said how they ended.
    pub fn completed(&self) -> &[RunId] {
        &self.completed
    }
}

/// A run of which nothing executes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// Its company.
    pub company: CompanyScope,
    /// The run.
    pub run: RunId,
    /// What it was claimed with.
    pub fence: i64,
    /// Whether its process may be on record.
    pub had_process: bool,
}

/// What the program of a run leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leavings {
    /// Its session.
    pub session: Option<SessionUse>,
    /// The account that it used.
    pub account: Option<AccountKey>,
    /// What it used.
    pub used: Option<RunUse>,
}

/// Renews the leases of a server's live runs until `lease` from now.
///
/// # Errors
/// When the store fails.
pub fn renew(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    instance: InstanceId,
    runs: &[RunId],
    lease: Duration,
) -> Result<Renewal, Failure<Infallible>> {
    let (scope, until) = (InstanceScope::SYSTEM, ctx.now.plus(lease));
    let renewed = tx.engine_mut().renew(scope, instance, runs, until)?;
    let completed = tx.runs().completed(scope, runs)?;
    Ok(Renewal { renewed, completed })
}

/// For how long a server on a shared store stays with a run whose lease it cannot renew. Another
/// server takes the run over when the lease expires, so its processes must be gone by then. An
/// attempt that hangs takes up to one interval, and so may the killing.
pub fn patience(lease: Duration, renew_every: Duration) -> Duration {
    lease
        .saturating_sub(2 * renew_every)
        .min(lease * 3 / 4)
        .max(lease / 2)
}

/// Records the process of a run before it may execute anything, unless it is not to go on. Renews
/// its lease until `lease` from now: a server that stood still since the claim must not start a
/// program that another one is about to take over.
///
/// # Errors
/// When the store fails.
pub fn record_process(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    process: &ProcessRecord,
    fence: i64,
    told: &RunStart,
    lease: Duration,
) -> Result<Standing, Failure<Infallible>> {
    let (company, run) = (process.scope(), process.run);
    let renewal = renew(tx, ctx, process.instance, &[run], lease)?;
    let standing = renewal.standing(run, fence);
    if standing != Standing::Ours {
        return Ok(standing);
    }
    tx.engine_mut().record_process(process)?;
    tx.engine_mut().note_run_start(company, run, fence, told)?;
    if told.may_be_completed {
        tx.runs_mut().await_completion(company, run)?;
    }
    Ok(Standing::Ours)
}

/// Writes the end of a run down, books what it used, keeps what becomes of its session, and
/// forgets its process. No end is written of a run that is another server's; what it used is
/// booked all the same, since only its server knows it. Tells what is written down as its outcome;
/// `None` when it was not this server's any more. May be done again after a failure.
///
/// # Errors
/// When the store fails.
pub fn write_end(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    ended: EndedRun,
    end: Option<RunEnd>,
    left: &Leavings,
) -> Result<Option<RunOutcome>, Failure<Infallible>> {
    let EndedRun {
        company,
        run,
        fence,
        had_process,
    } = ended;
    let used = left.used.as_ref();
    let written = match end {
        Some(end) => runs::finish(tx, ctx, company, run, fence, end, used)?,
        None => None,
    };
    if written.is_some() {
        if let Some(session) = &left.session {
            runs::keep_session(tx, ctx, company, run, session)?;
        }
        runs::heed_refusal(tx, ctx, company, run, left.account.as_ref())?;
    } else if used.is_some() {
        costs::settle(tx, ctx, company, run, used)?;
    }
    if had_process {
        tx.engine_mut().delete_process(company, run)?;
    }
    Ok(written)
}

/// Ends a run whose server did not renew its lease, and queues its work once more. `None` when it
/// has a server by now.
///
/// # Errors
/// When the store fails.
pub fn take_over(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    run: &Run,
    end: RunEnd,
    used: Option<&RunUse>,
) -> Result<Option<RunOutcome>, Failure<Infallible>> {
    match still_expired(tx, ctx, run)? {
        Some(run) => runs::finish(tx, ctx, run.scope(), run.id, run.fence, end, used),
        None => Ok(None),
    }
}

/// The run as it is now, if it still has no server. Takes the locks that ending
/// it takes, in the same order, so that its server cannot renew the lease
/// meanwhile.
fn still_expired(tx: &mut dyn Tx, ctx: &Context<'_>, run: &Run) -> Result<Option<Run>, StoreError> {
    let company = run.scope();
    tx.companies_mut().lock(company.into(), run.company)?;
    tx.agents_mut().lock(company.into(), run.agent)?;
    if let Some(issue) = run.issue {
        tx.issues_mut().lock(company.into(), &issue.into())?;
    }
    let run = tx.runs_mut().lock(company.into(), run.id)?;
    Ok(run
        .map(Locked::into_inner)
        .filter(|run| run.status.is_live() && !has_server(run, ctx.now)))
}

/// Whether a server holds the lease of a run.
pub fn has_server(run: &Run, now: Timestamp) -> bool {
    run.status.is_live() && run.lease_expires_at.is_some_and(|until| until > now)
}
