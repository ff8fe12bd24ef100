//! The one place where a run begins (contract section 10.1).
//!
//! A candidate is chosen by one statement that holds every condition. Then
//! everything the conditions speak of is locked, in the order of the port, and
//! the same conditions are asked again: what another server changed between
//! the choice and the locks is seen by then.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId, WakeId};
use workforce_domain::issue::{Holder, Lease};
use workforce_domain::port::{ClaimRequest, ClaimedRun, StoreError};
use workforce_domain::run::{Run, RunKind, RunStatus, WakeStatus};
use workforce_domain::time::Month;

use super::super::{Connection, held};
use super::advisory::advisory_lock;
use super::agent_row::AgentRow;
use super::companies::CompanyRow;
use super::leases;
use super::row::{Row, exactly_one};
use super::run_row::RunRow;
use super::wakes::{WakeRow, pending};
use crate::store::columns::{DigestColumn, IdColumn, Instant, InstantColumn, Key, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::{agents, companies, company_counters, heartbeat_runs, issues, wakes};

/// So many candidates may be lost to other servers before the claim gives up
/// until it is asked again.
const ATTEMPTS: usize = 8;

/// The conditions of a start. `$1` is the present, `$2` the month, `$3` the
/// server and `$4` its cap. Parents are followed only in companies that have
/// an undecided plan at all. Whoever is to revise a plan may work on its issue
/// meanwhile, but on nothing below it.
macro_rules! startable {
    ($rest:literal) => {
        concat!(
            "SELECT w.id AS wake, w.run_id AS run, w.company_id AS company, \
                w.agent_id AS agent, w.issue_id AS issue \
            FROM wakes w \
            JOIN heartbeat_runs q ON q.company_id = w.company_id AND q.id = w.run_id \
            JOIN agents a ON a.company_id = w.company_id AND a.id = w.agent_id \
            JOIN companies c ON c.id = w.company_id \
            JOIN company_counters n ON n.company_id = w.company_id \
            LEFT JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id \
            WHERE w.status = 'pending' AND w.not_before <= $1 AND q.status = 'queued' \
            AND a.lifecycle = 'enabled' \
            AND c.status = 'active' AND c.pause_reason IS NULL \
            AND (a.budget_monthly_cents = 0 OR a.budget_override_month = $2 \
                OR a.budget_monthly_cents * 1000000 > COALESCE(( \
                SELECT t.spent_micros FROM spend_totals t \
                WHERE t.company_id = w.company_id AND t.scope_type = 'agent' \
                AND t.scope_id = a.id AND t.month = $2), 0)) \
            AND (c.budget_monthly_cents = 0 OR c.budget_monthly_cents * 1000000 > COALESCE(( \
                SELECT t.spent_micros FROM spend_totals t \
                WHERE t.company_id = w.company_id AND t.scope_type = 'company' \
                AND t.scope_id = c.id AND t.month = $2), 0)) \
            AND (SELECT COUNT(*) FROM heartbeat_runs r \
                WHERE r.status = 'running' AND r.instance_id = $3) < $4 \
            AND (SELECT COUNT(*) FROM heartbeat_runs r \
                WHERE r.status = 'running' AND r.company_id = w.company_id) \
                < c.max_concurrent_runs \
            AND (SELECT COUNT(*) FROM heartbeat_runs r \
                WHERE r.status = 'running' AND r.company_id = w.company_id \
                AND r.agent_id = w.agent_id) < a.max_concurrent_runs \
            AND (w.kind <> 'execution' OR w.issue_id IS NULL OR ( \
                i.status NOT IN ('done', 'cancelled') \
                AND NOT EXISTS (SELECT 1 FROM heartbeat_runs r \
                    WHERE r.status = 'running' AND r.kind = 'execution' AND r.issue_id = i.id) \
                AND NOT EXISTS (SELECT 1 FROM heartbeat_runs r \
                    WHERE r.status = 'running' \
                    AND r.execution_workspace_id = i.execution_workspace_id) \
                AND NOT EXISTS (SELECT 1 FROM issue_leases l \
                    WHERE l.issue_id = i.id AND (l.run_id IS NOT NULL \
                        OR (l.expires_at > $1 AND l.agent_id <> w.agent_id))) \
                AND (NOT EXISTS (SELECT 1 FROM approvals v \
                    WHERE v.company_id = w.company_id AND v.type = 'approve_issue_plan' \
                    AND v.status IN ('pending', 'revision_requested')) \
                OR NOT EXISTS ( \
                    WITH RECURSIVE chain (id, depth) AS ( \
                        SELECT i.id, 0 \
                        UNION \
                        SELECT p.parent_id, chain.depth + 1 \
                        FROM chain CROSS JOIN issues p \
                        WHERE p.company_id = w.company_id AND p.id = chain.id \
                        AND p.parent_id IS NOT NULL AND chain.depth < 50 \
                    ) \
                    SELECT 1 FROM chain CROSS JOIN approvals v \
                    WHERE v.company_id = w.company_id AND v.type = 'approve_issue_plan' \
                    AND v.status IN ('pending', 'revision_requested') \
                    AND (v.status = 'pending' OR chain.depth > 0 \
                        OR v.requested_by_agent_id IS NULL \
                        OR v.requested_by_agent_id <> w.agent_id) \
                    AND (v.primary_issue_id = chain.id OR EXISTS ( \
                        SELECT 1 FROM approval_issues k \
                        WHERE k.approval_id = v.id AND k.issue_id = chain.id)))) \
            )) ",
            $rest
        )
    };
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
    conn: &mut Connection,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>, StoreError> {
    // The cap of a server is counted over companies, so nothing else that is
    // locked below protects it.
    advisory_lock(conn, "claims", request.instance.into()).map_err(failed)?;
    let mut locked = None;
    for _ in 0..ATTEMPTS {
        let Some(candidate) = next(conn, request)? else {
            return Ok(None);
        };
        // Whoever holds one company must not wait for another, so the others
        // are left to a fresh transaction.
        if locked.is_some_and(|company| company != candidate.company) {
            return Err(StoreError::Contended);
        }
        let company = lock_company(conn, candidate.company)?;
        locked = Some(candidate.company);
        if !still(conn, request, candidate.wake)? {
            continue;
        }
        let agent = lock_rest(conn, &candidate)?;
        if !still(conn, request, candidate.wake)? {
            return Err(StoreError::Contended);
        }
        return start(conn, request, &candidate, agent, company).map(Some);
    }
    Ok(None)
}

/// The wake whose turn it is.
fn next(conn: &mut Connection, request: &ClaimRequest) -> Result<Option<Candidate>, StoreError> {
    sql_query(startable!(
        "ORDER BY n.last_dispatched_at ASC NULLS FIRST, COALESCE(i.priority, 2), \
         w.created_at, w.id LIMIT 1"
    ))
    .bind::<Instant, _>(InstantColumn(request.now))
    .bind::<Integer, _>(Month::of(request.now).number())
    .bind::<Key, _>(IdColumn::<InstanceId>(request.instance))
    .bind::<BigInt, _>(request.instance_cap)
    .get_result(conn)
    .optional()
    .map_err(failed)
}

/// True while a wake may be answered.
fn still(
    conn: &mut Connection,
    request: &ClaimRequest,
    wake: IdColumn<WakeId>,
) -> Result<bool, StoreError> {
    let found: Option<Candidate> = sql_query(startable!("AND w.id = $5"))
        .bind::<Instant, _>(InstantColumn(request.now))
        .bind::<Integer, _>(Month::of(request.now).number())
        .bind::<Key, _>(IdColumn::<InstanceId>(request.instance))
        .bind::<BigInt, _>(request.instance_cap)
        .bind::<Key, _>(wake)
        .get_result(conn)
        .optional()
        .map_err(failed)?;
    Ok(found.is_some())
}

fn lock_company(
    conn: &mut Connection,
    company: IdColumn<CompanyId>,
) -> Result<CompanyRow, StoreError> {
    held!(
        companies::table
            .find(company)
            .select(CompanyRow::as_select())
    )
    .first(conn)
    .map_err(failed)
}

/// Locks agent, issue, wake and run; the agent.
fn lock_rest(conn: &mut Connection, candidate: &Candidate) -> Result<AgentRow, StoreError> {
    let agent = held!(
        agents::table
            .find(candidate.agent)
            .select(AgentRow::as_select())
    )
    .first(conn)
    .map_err(failed)?;
    if let Some(issue) = candidate.issue {
        held!(issues::table.find(issue).select(issues::id))
            .first::<IdColumn<IssueId>>(conn)
            .map_err(failed)?;
    }
    held!(wakes::table.find(candidate.wake).select(wakes::id))
        .first::<IdColumn<WakeId>>(conn)
        .map_err(failed)?;
    held!(
        heartbeat_runs::table
            .find(candidate.run)
            .select(heartbeat_runs::id)
    )
    .first::<IdColumn<RunId>>(conn)
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
            wakes::status.eq(WordColumn(WakeStatus::Dispatched)),
            wakes::updated_at.eq(now),
        ))
        .returning(WakeRow::as_returning())
        .get_result(conn)
        .map_err(failed)?;
    // What was added to the wake since may have made it one to work.
    let wake = wake.restore()?;
    let run: RunRow = diesel::update(heartbeat_runs::table.find(candidate.run))
        .filter(heartbeat_runs::status.eq(WordColumn(RunStatus::Queued)))
        .set((
            heartbeat_runs::status.eq(WordColumn(RunStatus::Running)),
            heartbeat_runs::kind.eq(WordColumn(wake.kind)),
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
        occupy(conn, &run, issue)?;
    }
    diesel::update(company_counters::table.find(candidate.company))
        .set(company_counters::last_dispatched_at.eq(now))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)?;
    Ok(ClaimedRun {
        run,
        wake,
        agent: agent.restore()?,
        company: company.restore()?,
    })
}

/// Gives an execution run the lease of its issue and the worktree of its
/// ticket, which no other run may have at the same time.
fn occupy(conn: &mut Connection, run: &Run, issue: IssueId) -> Result<(), StoreError> {
    let workspace = issues::table
        .find(IdColumn(issue))
        .select(issues::execution_workspace_id)
        .single_value();
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
    leases::take(conn, run.company, issue, &lease)?;
    Ok(())
}
