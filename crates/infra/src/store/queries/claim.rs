//! The one place where a run begins (docs/heartbeats.md#claims).
//!
//! The company comes first, then its most urgent wake that meets every condition: both are walks
//! along an index to the first that may start, not sorts of all that wait. Then everything that
//! the conditions depend on is locked, in the order of the port, and the same conditions are
//! checked again: another server may have changed something between the choice and the locks.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use workforce_domain::id::{
    AgentId, CompanyId, ExecutionWorkspaceId, InstanceId, IssueId, RunId, WakeId,
};
use workforce_domain::issue::{Holder, Lease};
use workforce_domain::port::{ClaimRequest, ClaimedRun, Lock, StartConditionInputs, StoreError};
use workforce_domain::run::{Run, RunKind, RunStatus, WakeStatus};
use workforce_domain::time::{Month, Timestamp};

use super::super::transaction::Transaction;
use super::super::{Connection, for_update};
use super::advisory::advisory_lock;
use super::agent_row::AgentRow;
use super::companies::CompanyRow;
use super::row::{Row, exactly_one};
use super::run_row::RunRow;
use super::runs::queued;
use super::start_conditions::{COMPANIES_IN_TURN, STARTABLE, asked};
use super::wakes::{WakeRow, pending};
use super::{issue_leases, run_spends};
use crate::store::cached::cached;
use crate::store::columns::{
    DigestColumn, IdColumn, Instant, InstantColumn, Key, StringEnumColumn,
};
use crate::store::errors::failed;
use crate::store::schema::{
    agents, companies, execution_workspaces, heartbeat_runs, issues, wakes,
};

/// The wake of one company whose turn it is.
static FIRST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} ORDER BY w.priority, w.created_at, w.id LIMIT 1",
        *STARTABLE
    )
});

/// One wake, if it may be answered.
static STILL: LazyLock<String> = LazyLock::new(|| format!("{} AND w.id = $6", *STARTABLE));

/// A company that has a pending wake.
#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
}

/// A wake that may be answered now.
#[derive(QueryableByName)]
struct Candidate {
    #[diesel(sql_type = Key)]
    wake: IdColumn<WakeId>,
    #[diesel(sql_type = Key)]
    run: IdColumn<RunId>,
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
    #[diesel(sql_type = Key)]
    agent: IdColumn<AgentId>,
    #[diesel(sql_type = Nullable<Key>)]
    issue: Option<IdColumn<IssueId>>,
}

/// Claims the next run that may start.
pub(super) fn claim(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>, StoreError> {
    // The cap of a server counts runs of all companies, so none of the locks
    // below protects it.
    advisory_lock(tx.conn, "claims", request.instance.into()).map_err(failed)?;
    match first_company(tx.conn, &request.terms())? {
        Some(company) => claim_of(tx, request, company).map(Some),
        None => Ok(None),
    }
}

/// Whether a claim would start a run.
pub(super) fn is_due(
    conn: &mut Connection,
    terms: &StartConditionInputs,
) -> Result<bool, StoreError> {
    Ok(first_company(conn, terms)?.is_some())
}

/// The company whose turn it is among those that have a wake that may be answered.
fn first_company(
    conn: &mut Connection,
    terms: &StartConditionInputs,
) -> Result<Option<IdColumn<CompanyId>>, StoreError> {
    for company in companies_in_turn(conn)? {
        if first(conn, terms, company)?.is_some() {
            return Ok(Some(company));
        }
    }
    Ok(None)
}

/// Claims the next run of a company that has one. A transaction that holds one company must not
/// wait for another, so when this one has none any more, a fresh transaction chooses again.
fn claim_of(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    id: IdColumn<CompanyId>,
) -> Result<ClaimedRun, StoreError> {
    let company = lock_company(tx, id)?;
    let candidate = first(tx.conn, &request.terms(), id)?.ok_or(StoreError::Contended)?;
    let agent = lock_rest(tx, &candidate)?;
    if !still(tx.conn, request, &candidate)? {
        return Err(StoreError::Contended);
    }
    tx.note_dispatch(id.0, request.now);
    start(tx.conn, request, &candidate, agent, company)
}

/// The companies in which a run may start, the one whose turn it is first.
fn companies_in_turn(conn: &mut Connection) -> Result<Vec<IdColumn<CompanyId>>, StoreError> {
    let companies = cached(sql_query(COMPANIES_IN_TURN.as_str()));
    let companies: Vec<Waiting> = companies.load(conn).map_err(failed)?;
    Ok(companies
        .into_iter()
        .map(|waiting| waiting.company)
        .collect())
}

/// The wake of a company whose turn it is.
fn first(
    conn: &mut Connection,
    terms: &StartConditionInputs,
    company: IdColumn<CompanyId>,
) -> Result<Option<Candidate>, StoreError> {
    let first = cached(asked!(FIRST, terms, company));
    first.get_result(conn).optional().map_err(failed)
}

/// True while a wake may be answered.
fn still(
    conn: &mut Connection,
    request: &ClaimRequest,
    candidate: &Candidate,
) -> Result<bool, StoreError> {
    let still = cached(asked!(STILL, request, candidate.company).bind::<Key, _>(candidate.wake));
    let found: Option<Candidate> = still.get_result(conn).optional().map_err(failed)?;
    Ok(found.is_some())
}

fn lock_company(
    tx: &mut Transaction<'_>,
    company: IdColumn<CompanyId>,
) -> Result<CompanyRow, StoreError> {
    tx.locks(Lock::Company, company.0);
    for_update!(
        companies::table
            .find(company)
            .select(CompanyRow::as_select())
    )
    .first(tx.conn)
    .map_err(failed)
}

/// Locks agent, issue, wake and run; the agent.
fn lock_rest(tx: &mut Transaction<'_>, candidate: &Candidate) -> Result<AgentRow, StoreError> {
    tx.locks(Lock::Agent, candidate.agent.0);
    let agent = for_update!(
        agents::table
            .find(candidate.agent)
            .select(AgentRow::as_select())
    )
    .first(tx.conn)
    .map_err(failed)?;
    if let Some(issue) = candidate.issue {
        tx.locks(Lock::Issue, issue.0);
        for_update!(issues::table.find(issue).select(issues::id))
            .first::<IdColumn<IssueId>>(tx.conn)
            .map_err(failed)?;
    }
    tx.locks(Lock::Wake, candidate.wake.0);
    for_update!(wakes::table.find(candidate.wake).select(wakes::id))
        .first::<IdColumn<WakeId>>(tx.conn)
        .map_err(failed)?;
    for_update!(
        heartbeat_runs::table
            .find(candidate.run)
            .select(heartbeat_runs::id)
    )
    .first::<IdColumn<RunId>>(tx.conn)
    .map_err(failed)?;
    Ok(agent)
}

/// Starts what was locked.
fn start(
    conn: &mut Connection,
    request: &ClaimRequest,
    candidate: &Candidate,
    agent: AgentRow,
    company: CompanyRow,
) -> Result<ClaimedRun, StoreError> {
    let now = InstantColumn(request.now);
    let wake: WakeRow = diesel::update(wakes::table.find(candidate.wake))
        .filter(pending())
        .set((
            wakes::status.eq(StringEnumColumn(WakeStatus::Dispatched)),
            wakes::updated_at.eq(now),
        ))
        .returning(WakeRow::as_returning())
        .get_result(conn)
        .map_err(failed)?;
    // A reason that was added meanwhile may have made it a wake to work.
    let wake = wake.restore()?;
    let run: RunRow = diesel::update(heartbeat_runs::table.find(candidate.run))
        .filter(queued())
        .set((
            heartbeat_runs::status.eq(StringEnumColumn(RunStatus::Running)),
            heartbeat_runs::kind.eq(StringEnumColumn(wake.kind)),
            heartbeat_runs::fence.eq(heartbeat_runs::fence + 1),
            heartbeat_runs::instance_id.eq(IdColumn(request.instance)),
            heartbeat_runs::token_hash.eq(DigestColumn(request.token_digest)),
            heartbeat_runs::lease_expires_at.eq(InstantColumn(request.lease_until)),
            heartbeat_runs::started_at.eq(now),
            heartbeat_runs::updated_at.eq(now),
        ))
        .returning(RunRow::as_returning())
        .get_result(conn)
        .map_err(failed)?;
    let run = run.restore()?;
    if run.kind == RunKind::Execution
        && let Some(issue) = run.issue
    {
        occupy(conn, &run, issue, request.now)?;
    }
    let (agent, company) = (agent.restore()?, company.restore()?);
    run_spends::reserve(conn, &run, &agent, &company, request.now)?;
    Ok(ClaimedRun {
        run,
        wake,
        agent,
        company,
    })
}

/// Gives an execution run the lease of its issue and the worktree of its
/// ticket, which no other run may have at the same time.
fn occupy(
    conn: &mut Connection,
    run: &Run,
    issue: IssueId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let workspace: Option<IdColumn<ExecutionWorkspaceId>> = issues::table
        .find(IdColumn(issue))
        .select(issues::execution_workspace_id)
        .first(conn)
        .map_err(failed)?;
    if let Some(workspace) = workspace {
        // Whoever holds it looks for runs under the same lock.
        let held: Option<InstantColumn> = for_update!(
            execution_workspaces::table
                .find(workspace)
                .select(execution_workspaces::held_until)
        )
        .first(conn)
        .map_err(failed)?;
        if held.is_some_and(|until| until.0 > now) {
            return Err(StoreError::Contended);
        }
    }
    diesel::update(heartbeat_runs::table.find(IdColumn(run.id)))
        .set(heartbeat_runs::execution_workspace_id.eq(workspace))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)?;
    let lease = Lease {
        issue,
        company: run.company,
        holder: Holder::Run {
            agent: run.agent,
            run: run.id,
        },
        fence: 0,
        expires_at: None,
    };
    issue_leases::take(conn, run.company, issue, &lease)?;
    Ok(())
}
