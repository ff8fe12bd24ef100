use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{RevisionId, SecretId};
use workforce_domain::port::{
    KeyId, SealedCell, SealedColumn, SealedReads, SealedWrites, StoreError,
};

use super::super::for_update;
use super::super::transaction::Transaction;
use super::page::row_limit;
use super::row::exactly_one;
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{
    agent_config_revisions as revisions, idempotency_keys, secret_versions, vault_canary,
};
use crate::vault::WRAPPED;

diesel::define_sql_function! {
    /// So many bytes of a value, from a place on, counted from 1.
    #[sql_name = "substr"]
    fn bytes_of(value: Binary, from: Integer, count: Integer) -> Binary;
}

/// Where the id of the master key lies in a sealed value.
const KEY_FROM: i32 = 2;
const KEY_LEN: i32 = 8;
const CANARY: i32 = 1;

/// The part of a sealed value that names its key and changes with it.
fn beginning(sealed: &[u8]) -> Vec<u8> {
    sealed.get(..WRAPPED).unwrap_or(sealed).to_vec()
}

fn names(keys: &[KeyId]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

fn bytes(keys: &[KeyId]) -> Vec<Vec<u8>> {
    keys.iter().map(|key| key.0.to_vec()).collect()
}

fn revision(id: &str) -> Result<IdColumn<RevisionId>, StoreError> {
    id.parse().map(IdColumn).or(Err(malformed()))
}

fn malformed() -> StoreError {
    Corrupt::new("sealed value", "its primary key has another form").into()
}

/// The values of a column that are sealed under one of some keys, as a query.
macro_rules! under {
    ($table:ident, $column:expr, $keys:expr) => {
        $table::table.filter(bytes_of($column, KEY_FROM, KEY_LEN).eq_any(bytes($keys)))
    };
}

/// The same for a column that may be empty.
macro_rules! under_if_any {
    ($table:ident, $column:expr, $keys:expr) => {
        under!($table, $column.assume_not_null(), $keys).filter($column.is_not_null())
    };
}

impl SealedReads for Transaction<'_> {
    fn count_under(&mut self, column: SealedColumn, keys: &[KeyId]) -> Result<i64, StoreError> {
        let conn = &mut *self.conn;
        let count = match column {
            SealedColumn::SecretVersion => secret_versions::table
                .filter(secret_versions::key_id.eq_any(names(keys)))
                .count()
                .get_result(conn),
            SealedColumn::RevisionBefore => {
                under_if_any!(revisions, revisions::before_config, keys)
                    .count()
                    .get_result(conn)
            }
            SealedColumn::RevisionAfter => under!(revisions, revisions::after_config, keys)
                .count()
                .get_result(conn),
            SealedColumn::StoredResponse => under!(idempotency_keys, idempotency_keys::body, keys)
                .filter(idempotency_keys::sealed.eq(true))
                .count()
                .get_result(conn),
            SealedColumn::Canary => under!(vault_canary, vault_canary::sealed, keys)
                .count()
                .get_result(conn),
        };
        count.map_err(failed)
    }

    fn canary(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        vault_canary::table
            .find(CANARY)
            .select(vault_canary::sealed)
            .first(self.conn)
            .optional()
            .map_err(failed)
    }
}

/// A row of a revision, with one of its sealed columns.
type RevisionCell = (IdColumn<RevisionId>, Vec<u8>);

impl SealedWrites for Transaction<'_> {
    fn sealed_under(
        &mut self,
        column: SealedColumn,
        keys: &[KeyId],
        limit: usize,
    ) -> Result<Vec<SealedCell>, StoreError> {
        let conn = &mut *self.conn;
        let limit = row_limit(limit);
        let of_revisions = |rows: Vec<RevisionCell>| {
            let row = |(id, sealed): RevisionCell| (vec![id.0.to_string()], sealed);
            rows.into_iter().map(row).collect()
        };
        let rows: Vec<(Vec<String>, Vec<u8>)> = match column {
            SealedColumn::SecretVersion => {
                let query = secret_versions::table
                    .filter(secret_versions::key_id.eq_any(names(keys)))
                    .limit(limit)
                    .select((
                        secret_versions::secret_id,
                        secret_versions::version,
                        secret_versions::wrapped_key,
                    ));
                let rows: Vec<(IdColumn<SecretId>, i32, Vec<u8>)> =
                    for_update!(query).load(conn).map_err(failed)?;
                rows.into_iter()
                    .map(|(secret, version, wrapped)| {
                        (vec![secret.0.to_string(), version.to_string()], wrapped)
                    })
                    .collect()
            }
            SealedColumn::RevisionBefore => {
                let query = under_if_any!(revisions, revisions::before_config, keys)
                    .limit(limit)
                    .select((revisions::id, revisions::before_config.assume_not_null()));
                of_revisions(for_update!(query).load(conn).map_err(failed)?)
            }
            SealedColumn::RevisionAfter => {
                let query = under!(revisions, revisions::after_config, keys)
                    .limit(limit)
                    .select((revisions::id, revisions::after_config));
                of_revisions(for_update!(query).load(conn).map_err(failed)?)
            }
            SealedColumn::StoredResponse => {
                let query = under!(idempotency_keys, idempotency_keys::body, keys)
                    .filter(idempotency_keys::sealed.eq(true))
                    .limit(limit)
                    .select((
                        idempotency_keys::idem_scope,
                        idempotency_keys::idem_key,
                        idempotency_keys::body,
                    ));
                let rows: Vec<(String, String, Vec<u8>)> =
                    for_update!(query).load(conn).map_err(failed)?;
                rows.into_iter()
                    .map(|(scope, key, body)| (vec![scope, key], body))
                    .collect()
            }
            SealedColumn::Canary => {
                let query = under!(vault_canary, vault_canary::sealed, keys)
                    .limit(limit)
                    .select(vault_canary::sealed);
                let rows: Vec<Vec<u8>> = for_update!(query).load(conn).map_err(failed)?;
                rows.into_iter()
                    .map(|sealed| (Vec::new(), sealed))
                    .collect()
            }
        };
        Ok(rows
            .into_iter()
            .map(|(row, sealed)| SealedCell {
                column,
                row,
                sealed,
            })
            .collect())
    }

    fn replace(&mut self, cell: &SealedCell, key: KeyId, sealed: &[u8]) -> Result<(), StoreError> {
        let conn = &mut *self.conn;
        let replaced = match (cell.column, cell.row.as_slice()) {
            (SealedColumn::SecretVersion, [secret, version]) => {
                let (Ok(secret), Ok(version)) = (secret.parse(), version.parse::<i32>()) else {
                    return Err(malformed());
                };
                let row = (IdColumn::<SecretId>(secret), version);
                diesel::update(secret_versions::table.find(row))
                    .set((
                        secret_versions::key_id.eq(key.to_string()),
                        secret_versions::wrapped_key.eq(beginning(sealed)),
                    ))
                    .execute(conn)
            }
            (SealedColumn::RevisionBefore, [id]) => {
                diesel::update(revisions::table.find(revision(id)?))
                    .set(revisions::before_config.eq(Some(sealed)))
                    .execute(conn)
            }
            (SealedColumn::RevisionAfter, [id]) => {
                diesel::update(revisions::table.find(revision(id)?))
                    .set(revisions::after_config.eq(sealed))
                    .execute(conn)
            }
            (SealedColumn::StoredResponse, [scope, name]) => {
                diesel::update(idempotency_keys::table.find((scope, name)))
                    .set(idempotency_keys::body.eq(sealed))
                    .execute(conn)
            }
            (SealedColumn::Canary, []) => diesel::update(vault_canary::table.find(CANARY))
                .set(vault_canary::sealed.eq(sealed))
                .execute(conn),
            _ => return Err(malformed()),
        };
        replaced.map_err(failed).and_then(exactly_one)
    }

    fn insert_canary(&mut self, sealed: &[u8]) -> Result<(), StoreError> {
        diesel::insert_into(vault_canary::table)
            .values((vault_canary::id.eq(CANARY), vault_canary::sealed.eq(sealed)))
            .on_conflict_do_nothing()
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
