//! Rows that are derived from others, made anew from those.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Text;
use workforce_domain::budget::BudgetScope;
use workforce_domain::port::StoreError;
use workforce_domain::run::RunStatus;
use workforce_domain::string_enum::StringEnum;

use super::super::{Connection, LOCK_LEDGER, MONTH_OF_COST};
use crate::store::errors::failed;

/// Makes what was spent in each month the sum of its costs; how many totals there are then.
pub(in crate::store) fn sum_up_costs(conn: &mut Connection) -> Result<usize, StoreError> {
    if !LOCK_LEDGER.is_empty() {
        sql_query(LOCK_LEDGER).execute(conn).map_err(failed)?;
    }
    sql_query("DELETE FROM spend_totals")
        .execute(conn)
        .map_err(failed)?;
    let mut totals = 0;
    for (scope, spender) in [
        (BudgetScope::Agent, "agent_id"),
        (BudgetScope::Company, "company_id"),
        (BudgetScope::Project, "project_id"),
    ] {
        let counted = format!(
            "INSERT INTO spend_totals
                 (company_id, scope_type, scope_id, month, spent_micros, estimated_micros)
             SELECT e.company_id, CAST($1 AS text), e.{spender}, {MONTH_OF_COST},
                 CAST(sum(e.cost_micros) AS bigint),
                 CAST(COALESCE(sum(e.estimated_micros), 0) AS bigint)
             FROM cost_events e WHERE e.counted AND e.{spender} IS NOT NULL
             GROUP BY 1, 2, 3, 4"
        );
        totals += sql_query(counted)
            .bind::<Text, _>(scope.as_str())
            .execute(conn)
            .map_err(failed)?;
    }
    Ok(totals)
}

/// Takes back the leases on issues of runs that do not run; how many there were.
pub(in crate::store) fn take_back_leases(conn: &mut Connection) -> Result<usize, StoreError> {
    sql_query(
        "DELETE FROM issue_leases WHERE run_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM heartbeat_runs r WHERE r.company_id = issue_leases.company_id
             AND r.id = issue_leases.run_id AND r.agent_id = issue_leases.agent_id
             AND r.status = $1)",
    )
    .bind::<Text, _>(RunStatus::Running.as_str())
    .execute(conn)
    .map_err(failed)
}
