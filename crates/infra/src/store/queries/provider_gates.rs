//! Accounts of which a provider wants to hear nothing for a while.

use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl as _;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use diesel::upsert::excluded;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::StoreError;
use workforce_domain::session::{FailureClass, ProviderGate};
use workforce_domain::text::AccountKey;
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::page::row_limit;
use super::row::{Row, admit, one};
use crate::store::columns::{IdColumn, Instant, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::provider_gates;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = provider_gates,
    primary_key(company_id, account),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct GateRow {
    company_id: IdColumn<CompanyId>,
    account: String,
    blocked_until: InstantColumn,
    reason: StringEnumColumn<FailureClass>,
    noted_at: InstantColumn,
    run_id: Option<IdColumn<RunId>>,
}

impl Row for GateRow {
    type Record = ProviderGate;

    fn weight(&self) -> usize {
        self.account.len()
    }

    fn restore(self) -> Result<ProviderGate, Corrupt> {
        Ok(ProviderGate {
            company: self.company_id.0,
            account: admit("provider gate", self.account)?,
            blocked_until: self.blocked_until.0,
            reason: self.reason.0,
            noted_at: self.noted_at.0,
            run: self.run_id.map(|id| id.0),
        })
    }
}

/// The gate of an account.
pub(super) fn find(
    conn: &mut Connection,
    company: CompanyScope,
    account: &AccountKey,
) -> Result<Option<ProviderGate>, StoreError> {
    let row = provider_gates::table
        .find((IdColumn(company.company()), account.as_str()))
        .select(GateRow::as_select())
        .first(conn)
        .optional();
    one(row.map_err(failed)?)
}

/// Stores a gate, unless one that lasts as long is stored. Two runs may note
/// theirs at once, so one statement compares them.
pub(super) fn note(conn: &mut Connection, gate: &ProviderGate) -> Result<(), StoreError> {
    let row = GateRow {
        company_id: IdColumn(gate.company),
        account: gate.account.to_string(),
        blocked_until: InstantColumn(gate.blocked_until),
        reason: StringEnumColumn(gate.reason),
        noted_at: InstantColumn(gate.noted_at),
        run_id: gate.run.map(IdColumn),
    };
    diesel::insert_into(provider_gates::table)
        .values(&row)
        .on_conflict((provider_gates::company_id, provider_gates::account))
        .do_update()
        .set(&row)
        .filter(provider_gates::blocked_until.lt(excluded(provider_gates::blocked_until)))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Forgets the gate of an account; whether there was one.
pub(super) fn delete(
    conn: &mut Connection,
    company: CompanyScope,
    account: &AccountKey,
) -> Result<bool, StoreError> {
    let gate = provider_gates::table.find((IdColumn(company.company()), account.as_str()));
    let deleted = diesel::delete(gate).execute(conn).map_err(failed)?;
    Ok(deleted > 0)
}

/// Forgets gates that ended before an instant, the oldest first; how many there
/// were.
pub(super) fn delete_expired(
    conn: &mut Connection,
    before: Timestamp,
    limit: usize,
) -> Result<usize, StoreError> {
    sql_query(
        "DELETE FROM provider_gates WHERE (company_id, account) IN (
            SELECT company_id, account FROM provider_gates
            WHERE blocked_until <= $1 ORDER BY blocked_until LIMIT $2
        )",
    )
    .bind::<Instant, _>(InstantColumn(before))
    .bind::<BigInt, _>(row_limit(limit))
    .execute(conn)
    .map_err(failed)
}
