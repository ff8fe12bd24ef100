//! Tickets that are to be brought before the board.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::port::{Locked, StoreError};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::page::row_limit;
use super::row::{Row, all, length, one};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::ticket_advances;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = ticket_advances,
    primary_key(issue_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct AdvanceRow {
    issue_id: IdColumn<IssueId>,
    company_id: IdColumn<CompanyId>,
    attempts: i32,
    not_before: InstantColumn,
    error_code: Option<String>,
    error: Option<String>,
    created_at: InstantColumn,
}

impl Row for AdvanceRow {
    type Record = TicketAdvance;

    fn weight(&self) -> usize {
        length(self.error.as_ref())
    }

    fn restore(self) -> Result<TicketAdvance, Corrupt> {
        Ok(TicketAdvance {
            issue: self.issue_id.0,
            company: self.company_id.0,
            attempts: self.attempts,
            not_before: self.not_before.0,
            error_code: self.error_code,
            error: self.error,
            created_at: self.created_at.0,
        })
    }
}

impl From<&TicketAdvance> for AdvanceRow {
    fn from(advance: &TicketAdvance) -> Self {
        Self {
            issue_id: IdColumn(advance.issue),
            company_id: IdColumn(advance.company),
            attempts: advance.attempts,
            not_before: InstantColumn(advance.not_before),
            error_code: advance.error_code.clone(),
            error: advance.error.clone(),
            created_at: InstantColumn(advance.created_at),
        }
    }
}

pub(super) fn of_issue(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<TicketAdvance>, StoreError> {
    let query = ticket_advances::table
        .filter(ticket_advances::company_id.eq(IdColumn(company.company())))
        .filter(ticket_advances::issue_id.eq(IdColumn(issue)))
        .select(AdvanceRow::as_select())
        .limit(1);
    let row: QueryResult<Option<AdvanceRow>> = cached_here!(query).get_result(conn).optional();
    one(row.map_err(failed)?)
}

pub(super) fn due(
    conn: &mut Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<TicketAdvance>, StoreError> {
    let rows: Vec<AdvanceRow> = ticket_advances::table
        .filter(ticket_advances::not_before.le(InstantColumn(now)))
        .order((ticket_advances::not_before, ticket_advances::issue_id))
        .limit(row_limit(limit))
        .select(AdvanceRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

pub(super) fn save(
    conn: &mut Connection,
    issue: &Locked<Issue>,
    advance: &TicketAdvance,
) -> Result<(), StoreError> {
    let row = AdvanceRow::from(&TicketAdvance {
        issue: issue.id,
        company: issue.company,
        ..advance.clone()
    });
    diesel::insert_into(ticket_advances::table)
        .values(&row)
        .on_conflict(ticket_advances::issue_id)
        .do_update()
        .set(&row)
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

pub(super) fn end(conn: &mut Connection, issue: &Locked<Issue>) -> Result<(), StoreError> {
    diesel::delete(ticket_advances::table)
        .filter(ticket_advances::company_id.eq(IdColumn(issue.company)))
        .filter(ticket_advances::issue_id.eq(IdColumn(issue.id)))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}
