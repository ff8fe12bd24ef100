use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::port::{IdempotencyWrites, StoreError, StoredResponse};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::page::row_limit;
use super::row::{Row, one};
use crate::store::columns::{DigestColumn, Instant, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::idempotency_keys;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = idempotency_keys, treat_none_as_default_value = false)]
struct AnswerRow {
    idem_scope: String,
    idem_key: String,
    request_hash: DigestColumn,
    status: i32,
    body: Vec<u8>,
    sealed: bool,
    created_at: InstantColumn,
}

impl Row for AnswerRow {
    type Record = StoredResponse;

    fn weight(&self) -> usize {
        self.body.len()
    }

    fn restore(self) -> Result<StoredResponse, Corrupt> {
        let status = u16::try_from(self.status)
            .map_err(|error| Corrupt::new("kept answer", error.to_string()))?;
        Ok(StoredResponse {
            caller: self.idem_scope,
            key: self.idem_key,
            request_digest: self.request_hash.0,
            status,
            body: self.body,
            sealed: self.sealed,
            created_at: self.created_at.0,
        })
    }
}

impl IdempotencyWrites for Transaction<'_> {
    /// An answer older than `since` is forgotten here, so that another can be
    /// kept in its place.
    fn find(
        &mut self,
        caller: &str,
        key: &str,
        since: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let row: Option<AnswerRow> = idempotency_keys::table
            .find((caller, key))
            .select(AnswerRow::as_select())
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        match one(row)? {
            Some(answer) if answer.created_at < since => {
                diesel::delete(idempotency_keys::table.find((caller, key)))
                    .filter(idempotency_keys::created_at.lt(InstantColumn(since)))
                    .execute(self.conn)
                    .map_err(failed)?;
                Ok(None)
            }
            answer => Ok(answer),
        }
    }

    fn keep(&mut self, answer: &StoredResponse) -> Result<(), StoreError> {
        diesel::insert_into(idempotency_keys::table)
            .values(AnswerRow {
                idem_scope: answer.caller.clone(),
                idem_key: answer.key.clone(),
                request_hash: DigestColumn(answer.request_digest),
                status: answer.status.into(),
                body: answer.body.clone(),
                sealed: answer.sealed,
                created_at: InstantColumn(answer.created_at),
            })
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        sql_query(
            "DELETE FROM idempotency_keys WHERE (idem_scope, idem_key) IN (
                SELECT idem_scope, idem_key FROM idempotency_keys
                WHERE created_at < $1 ORDER BY created_at LIMIT $2
            )",
        )
        .bind::<Instant, _>(InstantColumn(before))
        .bind::<BigInt, _>(row_limit(limit))
        .execute(self.conn)
        .map_err(failed)
    }
}
