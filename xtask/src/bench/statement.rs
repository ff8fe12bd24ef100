//! Statements as text, prepared once per connection, with values of the types that the tables have.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use diesel::connection::{Instrumentation, InstrumentationEvent, SimpleConnection};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, SqlType, Text};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

/// A key: `uuid` on PostgreSQL, hyphenated `TEXT` on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 2950, array_oid = 2951),
    sqlite_type(name = "Text")
)]
struct KeyType;

/// An instant: `timestamptz` on PostgreSQL, microseconds since 1970 on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 1184, array_oid = 1185),
    sqlite_type(name = "Long")
)]
struct InstantType;

/// A document: `jsonb` on PostgreSQL, `TEXT` on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 3802, array_oid = 3807),
    sqlite_type(name = "Text")
)]
struct DocumentType;

/// The value of one `?`.
#[derive(Debug, Clone)]
pub(crate) enum Value<'v> {
    Key(Key),
    MaybeKey(Option<Key>),
    Text(&'v str),
    Document(Document<'v>),
    Instant(Instant),
    MaybeInstant(Option<Instant>),
    BigInt(i64),
    Integer(i32),
    SmallInt(i16),
    Bool(bool),
    Bytes(&'v [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, diesel::expression::AsExpression)]
#[diesel(sql_type = KeyType)]
pub(crate) struct Key(pub(crate) Uuid);

/// Microseconds since 1970.
#[derive(Debug, Clone, Copy, diesel::expression::AsExpression)]
#[diesel(sql_type = InstantType)]
pub(crate) struct Instant(pub(crate) i64);

/// A JSON text.
#[derive(Debug, Clone, Copy, diesel::expression::AsExpression)]
#[diesel(sql_type = DocumentType)]
pub(crate) struct Document<'v>(pub(crate) &'v str);

impl ToSql<KeyType, Sqlite> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.hyphenated().to_string());
        Ok(IsNull::No)
    }
}

impl ToSql<KeyType, Pg> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<InstantType, Sqlite> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0);
        Ok(IsNull::No)
    }
}

/// PostgreSQL counts from the year 2000.
const POSTGRES_EPOCH: i64 = 946_684_800_000_000;

impl ToSql<InstantType, Pg> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&(self.0 - POSTGRES_EPOCH).to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<DocumentType, Sqlite> for Document<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0);
        Ok(IsNull::No)
    }
}

/// The one form of `jsonb` on the wire.
const JSONB_VERSION: u8 = 1;

impl ToSql<DocumentType, Pg> for Document<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&[JSONB_VERSION])?;
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

/// A statement with a `?` for each of `values`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<'v> {
    sql: &'v str,
    values: &'v [Value<'v>],
    locks: bool,
}

impl<'v> Statement<'v> {
    pub(crate) fn new(sql: &'v str, values: &'v [Value<'v>]) -> Self {
        Self {
            sql,
            values,
            locks: false,
        }
    }

    /// A query that locks its rows where the database has locks on rows.
    pub(crate) fn locking(sql: &'v str, values: &'v [Value<'v>]) -> Self {
        Self {
            locks: true,
            ..Self::new(sql, values)
        }
    }
}

/// Not known by its type, so prepared statements are found by their text.
impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

macro_rules! walk {
    ($database:ty, $lock:literal) => {
        impl QueryFragment<$database> for Statement<'_> {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, $database>) -> QueryResult<()> {
                let mut values = self.values.iter();
                for (index, text) in self.sql.split('?').enumerate() {
                    if index > 0 {
                        let Some(value) = values.next() else {
                            let message = format!("too few values for `{}`", self.sql);
                            return Err(diesel::result::Error::QueryBuilderError(message.into()));
                        };
                        match value {
                            Value::Key(it) => out.push_bind_param::<KeyType, _>(it),
                            Value::MaybeKey(it) => out.push_bind_param::<Nullable<KeyType>, _>(it),
                            Value::Text(it) => out.push_bind_param::<Text, _>(*it),
                            Value::Document(it) => out.push_bind_param::<DocumentType, _>(it),
                            Value::Instant(it) => out.push_bind_param::<InstantType, _>(it),
                            Value::MaybeInstant(it) => {
                                out.push_bind_param::<Nullable<InstantType>, _>(it)
                            }
                            Value::BigInt(it) => out.push_bind_param::<BigInt, _>(it),
                            Value::Integer(it) => out.push_bind_param::<Integer, _>(it),
                            Value::SmallInt(it) => out.push_bind_param::<SmallInt, _>(it),
                            Value::Bool(it) => out.push_bind_param::<Bool, _>(it),
                            Value::Bytes(it) => out.push_bind_param::<Binary, _>(*it),
                        }?;
                    }
                    out.push_sql(text);
                }
                if self.locks {
                    out.push_sql($lock);
                }
                Ok(())
            }
        }
    };
}

walk!(Sqlite, "");
walk!(Pg, " FOR NO KEY UPDATE");

impl<C> RunQueryDsl<C> for Statement<'_> {}

/// A [`Statement`] that answers one value of one type.
macro_rules! answering {
    ($name:ident, $sql_type:ty) => {
        #[derive(Clone, Copy)]
        struct $name<'v>(Statement<'v>);

        impl QueryId for $name<'_> {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl Query for $name<'_> {
            type SqlType = $sql_type;
        }

        impl<DB: diesel::backend::Backend> QueryFragment<DB> for $name<'_>
        where
            for<'v> Statement<'v>: QueryFragment<DB>,
        {
            fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                self.0.walk_ast(out)
            }
        }

        impl<C> RunQueryDsl<C> for $name<'_> {}
    };
}

answering!(AnsweringNumber, BigInt);
answering!(AnsweringBytes, Binary);
answering!(AnsweringText, Text);

/// A connection to either database.
pub(crate) trait Database: Sized + Send {
    /// Connects with the settings that the server writes with.
    fn open(url: &str) -> Result<Self>;
    /// Begins a transaction that writes.
    fn begin(&mut self) -> Result<()>;
    /// Makes the transaction durable.
    fn commit(&mut self) -> Result<()>;
    /// Runs a statement and looks at no row.
    fn run(&mut self, statement: Statement<'_>) -> Result<()>;
    /// The number in the first column of the first row.
    fn number(&mut self, statement: Statement<'_>) -> Result<i64>;
    /// The bytes in the first column of the first row.
    fn bytes(&mut self, statement: Statement<'_>) -> Result<Vec<u8>>;
    /// The text in the first column of the first row.
    fn text(&mut self, statement: Statement<'_>) -> Result<String>;
    /// Runs statements that are not worth preparing.
    fn batch(&mut self, sql: &str) -> Result<()>;
    /// Puts a database in order after many rows were written.
    fn settle(&mut self) -> Result<()>;
    /// Counts from here on what is prepared.
    fn count_preparations(&mut self) -> Preparations;
}

/// How many statements a connection prepared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preparations(Arc<AtomicUsize>);

impl Preparations {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Instrumentation for Preparations {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if matches!(event, InstrumentationEvent::CacheQuery { .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

macro_rules! run_statements {
    () => {
        fn run(&mut self, statement: Statement<'_>) -> Result<()> {
            statement.execute(self).with_context(|| failed(statement))?;
            Ok(())
        }

        fn number(&mut self, statement: Statement<'_>) -> Result<i64> {
            AnsweringNumber(statement)
                .get_result(self)
                .with_context(|| failed(statement))
        }

        fn bytes(&mut self, statement: Statement<'_>) -> Result<Vec<u8>> {
            AnsweringBytes(statement)
                .get_result(self)
                .with_context(|| failed(statement))
        }

        fn text(&mut self, statement: Statement<'_>) -> Result<String> {
            AnsweringText(statement)
                .get_result(self)
                .with_context(|| failed(statement))
        }

        fn batch(&mut self, sql: &str) -> Result<()> {
            self.batch_execute(sql)
                .with_context(|| format!("failed to run `{sql}`"))
        }

        fn count_preparations(&mut self) -> Preparations {
            let preparations = Preparations::default();
            self.set_instrumentation(preparations.clone());
            preparations
        }
    };
}

fn failed(statement: Statement<'_>) -> String {
    format!("failed to run `{}`", statement.sql)
}

impl Database for SqliteConnection {
    fn open(url: &str) -> Result<Self> {
        let mut connection = Self::establish(url).context("failed to open the database file")?;
        connection.batch_execute(
            "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; \
             PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16384; \
             PRAGMA synchronous = FULL;",
        )?;
        Ok(connection)
    }

    fn begin(&mut self) -> Result<()> {
        self.run(Statement::new("BEGIN IMMEDIATE", &[]))
    }

    fn commit(&mut self) -> Result<()> {
        self.run(Statement::new("COMMIT", &[]))
    }

    fn settle(&mut self) -> Result<()> {
        self.batch("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    run_statements!();
}

impl Database for PgConnection {
    fn open(url: &str) -> Result<Self> {
        Self::establish(url).context("failed to connect to PostgreSQL")
    }

    fn begin(&mut self) -> Result<()> {
        self.batch("BEGIN")
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn settle(&mut self) -> Result<()> {
        self.batch("VACUUM ANALYZE")
    }

    run_statements!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> SqliteConnection {
        let mut connection = SqliteConnection::open(":memory:").unwrap();
        connection
            .batch("CREATE TABLE t (k TEXT, at INTEGER, n INTEGER, doc TEXT, b BLOB) STRICT")
            .unwrap();
        connection
    }

    #[test]
    fn values_arrive_in_order_and_in_their_form() {
        let mut connection = database();
        let key = Key(Uuid::from_u128(7));
        let insert = [
            Value::Key(key),
            Value::Instant(Instant(5)),
            Value::BigInt(42),
            Value::Document(Document("{}")),
            Value::Bytes(&[1, 2]),
        ];
        let sql = "INSERT INTO t (k, at, n, doc, b) VALUES (?, ?, ?, ?, ?)";
        connection.run(Statement::new(sql, &insert)).unwrap();

        let by_key = [Value::Text("00000000-0000-0000-0000-000000000007")];
        let number = Statement::new("SELECT n + at FROM t WHERE k = ?", &by_key);
        assert_eq!(connection.number(number).unwrap(), 47);
        let bytes = Statement::new("SELECT b FROM t WHERE k = ?", &by_key);
        assert_eq!(connection.bytes(bytes).unwrap(), [1, 2]);
    }

    #[test]
    fn each_text_is_prepared_once() {
        let mut connection = database();
        let preparations = connection.count_preparations();
        for n in 0..10 {
            let sql = "SELECT count(*) FROM t WHERE n = ?";
            connection
                .number(Statement::new(sql, &[Value::BigInt(n)]))
                .unwrap();
            connection.begin().unwrap();
            connection.commit().unwrap();
        }
        assert_eq!(preparations.count(), 3);
    }

    #[test]
    fn a_missing_value_is_a_failure() {
        let mut connection = database();
        let statement = Statement::new("SELECT ? + ?", &[Value::BigInt(1)]);
        assert!(connection.number(statement).is_err());
    }
}
