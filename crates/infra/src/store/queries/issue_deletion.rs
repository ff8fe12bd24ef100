//! The end of an issue: what goes with it and what outlives it.

use diesel::prelude::*;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{StopScope, StoreError};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::row::exactly_one;
use super::wakes::{Stopped, cancel};
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{heartbeat_runs, issues, wakes};

/// Deletes an issue. The database deletes its comments, its lease and its
/// links to approvals with it, and empties what else refers to it; runs and
/// wakes it would delete too, so they are detached first.
pub(super) fn delete(
    conn: &mut Connection,
    issue: &Issue,
    now: Timestamp,
) -> Result<(), StoreError> {
    let company = IdColumn(issue.company);
    let id = IdColumn(issue.id);
    let nothing = None::<IdColumn<IssueId>>;
    let waiting = Stopped::Of(issue.company, StopScope::Issue(issue.id));
    cancel(conn, waiting, now)?;
    diesel::update(wakes::table)
        .filter(wakes::company_id.eq(company))
        .filter(wakes::issue_id.eq(id))
        .set(wakes::issue_id.eq(nothing))
        .execute(conn)
        .map_err(failed)?;
    diesel::update(heartbeat_runs::table)
        .filter(heartbeat_runs::company_id.eq(company))
        .filter(heartbeat_runs::issue_id.eq(id))
        .set(heartbeat_runs::issue_id.eq(nothing))
        .execute(conn)
        .map_err(failed)?;
    diesel::delete(issues::table)
        .filter(issues::company_id.eq(company))
        .filter(issues::id.eq(id))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)
}
