//! The statements around a transaction, prepared once per connection like any other query.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sqlite::Sqlite;
use workforce_domain::port::StoreError;

use super::Connection;
use crate::store::errors::failed;

/// A statement without values.
pub(super) trait Statement:
    QueryFragment<Sqlite> + QueryId + RunQueryDsl<Connection>
{
    /// Runs it.
    fn run(self, conn: &mut Connection) -> Result<(), StoreError>;
}

macro_rules! statements {
    ($($(#[$meta:meta])* $name:ident = $sql:literal;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, QueryId)]
        pub(super) struct $name;

        impl QueryFragment<Sqlite> for $name {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
                out.push_sql($sql);
                Ok(())
            }
        }

        impl RunQueryDsl<Connection> for $name {}

        impl Statement for $name {
            fn run(self, conn: &mut Connection) -> Result<(), StoreError> {
                self.execute(conn).map(drop).map_err(failed)
            }
        }
    )+};
}

diesel::define_sql_function! {
    /// How many rows were changed on a connection since it was opened.
    #[sql_name = "total_changes"]
    fn changed_rows() -> diesel::sql_types::BigInt;
}

/// How many rows were changed on `conn` since it was opened, be it undone or not.
pub(super) fn total_changes(conn: &mut Connection) -> Result<i64, StoreError> {
    diesel::select(changed_rows())
        .get_result(conn)
        .map_err(failed)
}

statements! {
    /// Begins a transaction that reads one state of the database.
    Begin = "BEGIN DEFERRED";
    /// Begins a transaction that may write.
    BeginImmediate = "BEGIN IMMEDIATE";
    /// Keeps what a transaction wrote, for others to see.
    Commit = "COMMIT";
    /// Commits a change that changes nothing, by itself.
    Overwrite = "PRAGMA user_version = 0";
    /// Undoes a transaction.
    Rollback = "ROLLBACK";
    /// Begins one member of a batch.
    Savepoint = "SAVEPOINT member";
    /// Keeps what the member wrote.
    Release = "RELEASE SAVEPOINT member";
    /// Undoes what the member wrote; its savepoint stays.
    RollbackTo = "ROLLBACK TO SAVEPOINT member";
}
