//! Wakes that nobody will ever answer.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use workforce_domain::id::{AgentId, IssueId, WakeId};
use workforce_domain::port::StoreError;
use workforce_domain::time::Timestamp;

use super::super::{Connection, held};
use super::predicates::{ended_issue, execution_wake, pending_wake, terminated_agent};
use super::wakes;
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;
use crate::store::schema::{agents, issues};

/// So many are cancelled at a time.
const MAX_CANCELLED: i64 = 100;

/// A wake that nobody will ever answer.
#[derive(QueryableByName)]
struct Purposeless {
    #[diesel(sql_type = Key)]
    wake: IdColumn<WakeId>,
    #[diesel(sql_type = Key)]
    agent: IdColumn<AgentId>,
    #[diesel(sql_type = Nullable<Key>)]
    issue: Option<IdColumn<IssueId>>,
}

static PURPOSELESS: LazyLock<String> = LazyLock::new(|| {
    let (pending, execution) = (pending_wake("w"), execution_wake("w"));
    let (terminated, ended) = (terminated_agent("a"), ended_issue("i"));
    format!(
        "SELECT w.id AS wake, w.agent_id AS agent, w.issue_id AS issue
         FROM wakes w
         JOIN agents a ON a.company_id = w.company_id AND a.id = w.agent_id
         LEFT JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id
         WHERE {pending} AND ({terminated} OR ({execution} AND {ended}))
         ORDER BY w.id
         LIMIT $1"
    )
});

fn purposeless(conn: &mut Connection) -> Result<Vec<Purposeless>, StoreError> {
    sql_query(PURPOSELESS.as_str())
        .bind::<BigInt, _>(MAX_CANCELLED)
        .load(conn)
        .map_err(failed)
}

/// Cancels the wakes, with their queued runs, whose agent is terminated or
/// whose issue has ended.
pub(super) fn cancel(conn: &mut Connection, now: Timestamp) -> Result<(), StoreError> {
    let met = purposeless(conn)?;
    if met.is_empty() {
        return Ok(());
    }
    // An issue may be reopened at this very moment: hold it, then look again.
    let of_agents: Vec<_> = met.iter().map(|wake| wake.agent).collect();
    held!(
        agents::table
            .filter(agents::id.eq_any(of_agents))
            .order(agents::id)
            .select(agents::id)
    )
    .load::<IdColumn<AgentId>>(conn)
    .map_err(failed)?;
    let of_issues: Vec<_> = met.iter().filter_map(|wake| wake.issue).collect();
    held!(
        issues::table
            .filter(issues::id.eq_any(of_issues))
            .order(issues::id)
            .select(issues::id)
    )
    .load::<IdColumn<IssueId>>(conn)
    .map_err(failed)?;
    let known: Vec<_> = met.iter().map(|wake| wake.wake).collect();
    let still: Vec<_> = purposeless(conn)?
        .into_iter()
        .map(|wake| wake.wake)
        .filter(|wake| known.contains(wake))
        .collect();
    wakes::cancel(conn, wakes::Stopped::These(still), now)?;
    Ok(())
}
