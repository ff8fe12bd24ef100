//! The timers of agents: columns of their rows that only the engine moves.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Bool};
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::agent::Agent;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::port::StoreError;
use workforce_domain::time::Timestamp;
use workforce_domain::timer::{Timer, TimerSetting};

use super::super::Connection;
use super::page::row_limit;
use super::predicates::{ISSUE_STATUS, pending_wake};
use super::row::exactly_one;
use crate::store::columns::{IdColumn, InstantColumn, Key};
use crate::store::errors::failed;
use crate::store::schema::agents;
use crate::store::stable::fixed;

/// The timer of an agent.
pub(super) fn find(
    conn: &mut Connection,
    company: CompanyScope,
    agent: AgentId,
) -> Result<Option<Timer>, StoreError> {
    type Columns = (Option<i32>, Option<i32>, Option<InstantColumn>, i64, bool);
    let row: Option<Columns> = agents::table
        .filter(agents::company_id.eq(IdColumn(company.company())))
        .filter(agents::id.eq(IdColumn(agent)))
        .select((
            agents::heartbeat_interval_sec,
            agents::heartbeat_armed_sec,
            agents::next_heartbeat_at,
            agents::suppressed_wakes,
            agents::heartbeat_rests,
        ))
        .first(conn)
        .optional()
        .map_err(failed)?;
    Ok(
        row.map(|(interval_sec, armed_sec, next, suppressed, rests)| Timer {
            interval_sec,
            armed_sec,
            next: next.map(|at| at.0),
            suppressed,
            rests,
        }),
    )
}

type TimerOwner = (IdColumn<CompanyId>, IdColumn<AgentId>);

// Each is spelled as in its partial index.
pub(super) const SET_TO_BEAT: &str =
    "agents.next_heartbeat_at IS NOT NULL AND NOT agents.heartbeat_rests";
pub(super) const TO_SET: &str =
    "agents.heartbeat_interval_sec IS DISTINCT FROM agents.heartbeat_armed_sec";

/// Agents whose timer rests although something waits for them by now.
pub(super) static TO_RISE: LazyLock<String> = LazyLock::new(|| {
    let waits = something_waits("agents.company_id", "agents.id");
    format!("agents.heartbeat_rests AND (agents.heartbeat_always OR {waits})")
});

/// Agents whose timer is due, then those whose timer is to be set anew, then those whose timer
/// rests no longer.
pub(super) fn to_check(
    conn: &mut Connection,
    scope: InstanceScope,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(CompanyScope, AgentId)>, StoreError> {
    let due: Vec<TimerOwner> = agents::table
        .filter(fixed::<Bool>(SET_TO_BEAT))
        .filter(agents::next_heartbeat_at.le(InstantColumn(now)))
        .order((agents::next_heartbeat_at, agents::id))
        .limit(row_limit(limit))
        .select((agents::company_id, agents::id))
        .load(conn)
        .map_err(failed)?;
    let to_set: Vec<TimerOwner> = agents::table
        .filter(fixed::<Bool>(TO_SET))
        .order(agents::id)
        .limit(row_limit(limit))
        .select((agents::company_id, agents::id))
        .load(conn)
        .map_err(failed)?;
    let to_rise: Vec<TimerOwner> = agents::table
        .filter(fixed::<Bool>(TO_RISE.as_str()))
        .order((agents::company_id, agents::id))
        .limit(row_limit(limit))
        .select((agents::company_id, agents::id))
        .load(conn)
        .map_err(failed)?;
    let mut found: Vec<(CompanyScope, AgentId)> = Vec::with_capacity(due.len() + to_set.len());
    for (company, agent) in due.into_iter().chain(to_set).chain(to_rise) {
        let place = (scope.enter(company.0), agent.0);
        if !found.contains(&place) {
            found.push(place);
        }
    }
    Ok(found)
}

/// Sets the timer of a locked agent for the interval it has now.
pub(super) fn set(
    conn: &mut Connection,
    agent: &Agent,
    setting: &TimerSetting,
) -> Result<(), StoreError> {
    diesel::update(agents::table)
        .filter(agents::company_id.eq(IdColumn(agent.company)))
        .filter(agents::id.eq(IdColumn(agent.id)))
        .set((
            agents::next_heartbeat_at.eq(setting.next.map(InstantColumn)),
            agents::heartbeat_armed_sec.eq(agents::heartbeat_interval_sec),
            agents::suppressed_wakes.eq(agents::suppressed_wakes + setting.suppressed),
            agents::heartbeat_rests.eq(setting.rests),
        ))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Work of its own, reviews that were given to it, wakes, and what its reports want reviewed, of
/// the agent and the company with these names.
fn something_waits(company: &str, agent: &str) -> String {
    let own = ISSUE_STATUS.is_among("i", &[IssueStatus::Todo, IssueStatus::InProgress]);
    let in_review = ISSUE_STATUS.is("i", IssueStatus::InReview);
    let pending = pending_wake("w");
    format!(
        "(EXISTS (
            SELECT 1 FROM issues i
            WHERE i.company_id = {company} AND i.assignee_agent_id = {agent}
            AND {own} AND i.hidden_at IS NULL
        ) OR EXISTS (
            SELECT 1 FROM issues i
            WHERE i.company_id = {company} AND i.assignee_agent_id = {agent}
            AND {in_review} AND i.implementer_agent_id IS NOT NULL AND i.hidden_at IS NULL
        ) OR EXISTS (
            SELECT 1 FROM wakes w
            WHERE w.company_id = {company} AND w.agent_id = {agent} AND {pending}
        ) OR EXISTS (
            SELECT 1 FROM agents r CROSS JOIN issues i
            WHERE r.company_id = {company} AND r.reports_to = {agent}
            AND i.company_id = r.company_id AND i.assignee_agent_id = r.id
            AND {in_review} AND i.hidden_at IS NULL
        ))"
    )
}

static HAS_WORK: LazyLock<String> = LazyLock::new(|| {
    let waits = something_waits("$1", "$2");
    format!("SELECT COUNT(*) AS count WHERE {waits}")
});

/// Whether something waits for an agent.
pub(super) fn has_work(
    conn: &mut Connection,
    company: CompanyScope,
    agent: AgentId,
) -> Result<bool, StoreError> {
    let found: Count = sql_query(HAS_WORK.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(agent))
        .get_result(conn)
        .map_err(failed)?;
    Ok(found.count > 0)
}
