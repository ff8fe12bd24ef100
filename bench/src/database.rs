//! The two databases, as the baselines and the seed use them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, anyhow};
use diesel::connection::{
    DefaultLoadingMode, Instrumentation, InstrumentationEvent, LoadConnection, SimpleConnection,
};
use diesel::deserialize::FromSql;
use diesel::pg::PgValue;
use diesel::prelude::*;
use diesel::row::{Field as _, Row as _};
use diesel::sql_types::{Binary, Text};
use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};

use crate::sql::{self, Count};
use crate::statement::{AnsweringBytes, AnsweringNumber, AnsweringRows, Key, Statement, Value};
use crate::write::Record;

/// A connection to either database.
pub(crate) trait Database: Sized + Send {
    /// Connects with the settings that the server writes with.
    fn open(url: &str) -> Result<Self>;
    /// Begins a transaction that writes.
    fn begin(&mut self) -> Result<()>;
    /// Makes the transaction durable.
    fn commit(&mut self) -> Result<()>;
    /// Begins a transaction that sees one state.
    fn begin_read(&mut self) -> Result<()>;
    /// Ends a transaction that wrote nothing.
    fn end_read(&mut self) -> Result<()>;
    /// Adds every value of every row to `into`, and returns the keys that stand in these columns,
    /// row by row.
    fn read(
        &mut self,
        statement: Statement<'_>,
        into: &mut Vec<u8>,
        keys_in: &[usize],
    ) -> Result<Vec<Option<Key>>>;
    /// Runs a statement and looks at no row.
    fn run(&mut self, statement: Statement<'_>) -> Result<()>;
    /// The number in the first column of the first row.
    fn number(&mut self, statement: Statement<'_>) -> Result<i64>;
    /// Changes counters and returns the first of them, in as many statements as the server.
    fn count(&mut self, count: Count, values: &[Value<'_>]) -> Result<i64>;
    /// The bytes in the first column of the first row.
    fn bytes(&mut self, statement: Statement<'_>) -> Result<Vec<u8>>;
    /// Runs statements that are not worth preparing.
    fn batch(&mut self, sql: &str) -> Result<()>;
    /// Has an issue found by the terms of its own text, or of a comment.
    fn add_text(
        &mut self,
        company: Key,
        issue: Key,
        comment: Option<Key>,
        terms: &str,
    ) -> Result<()>;
    /// Writes what happened, in as many statements as the server.
    fn record(&mut self, record: &Record<'_>) -> Result<()>;
    /// Tells the planner of the first of many rows, within the transaction that writes them. Without
    /// that PostgreSQL goes on to check references by the plans that it made for an empty table.
    fn tell_planner(&mut self) -> Result<()>;
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
        fn read(
            &mut self,
            statement: Statement<'_>,
            into: &mut Vec<u8>,
            keys_in: &[usize],
        ) -> Result<Vec<Option<Key>>> {
            let mut keys = Vec::new();
            let answering = AnsweringRows(statement);
            let rows = LoadConnection::<DefaultLoadingMode>::load(self, answering)
                .with_context(|| failed(statement))?;
            for row in rows {
                let row = row.with_context(|| failed(statement))?;
                for place in 0..row.field_count() {
                    let before = into.len();
                    let field = row.get(place).context("a row has too few columns")?;
                    let value = field.value();
                    let is_null = value.is_none();
                    if let Some(value) = value {
                        value.add_to(into)?;
                    }
                    if keys_in.contains(&place) {
                        let key = (!is_null).then(|| Key::written(&into[before..]));
                        keys.push(key.transpose()?);
                    }
                }
            }
            Ok(keys)
        }

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

/// A value as a database hands it out.
trait Found {
    /// Adds its bytes.
    fn add_to(self, bytes: &mut Vec<u8>) -> Result<()>;
}

impl Found for SqliteValue<'_, '_, '_> {
    fn add_to(self, bytes: &mut Vec<u8>) -> Result<()> {
        if matches!(self.value_type(), Some(SqliteType::Binary)) {
            let found = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(self);
            bytes.extend_from_slice(&found.map_err(|error| anyhow!(error))?);
        } else {
            // SQLite writes a number as text when it is asked to.
            let text = <String as FromSql<Text, Sqlite>>::from_sql(self);
            bytes.extend_from_slice(text.map_err(|error| anyhow!(error))?.as_bytes());
        }
        Ok(())
    }
}

impl Found for PgValue<'_> {
    fn add_to(self, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.extend_from_slice(self.as_bytes());
        Ok(())
    }
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

    fn begin_read(&mut self) -> Result<()> {
        self.run(Statement::new("BEGIN DEFERRED", &[]))
    }

    fn end_read(&mut self) -> Result<()> {
        self.run(Statement::new("ROLLBACK", &[]))
    }

    fn commit(&mut self) -> Result<()> {
        self.run(Statement::new("COMMIT", &[]))
    }

    fn add_text(
        &mut self,
        company: Key,
        issue: Key,
        comment: Option<Key>,
        terms: &str,
    ) -> Result<()> {
        let text = [
            Value::Key(company),
            Value::Key(issue),
            Value::MaybeKey(comment),
        ];
        self.run(Statement::new(sql::SQLITE_TEXT, &text))?;
        self.run(Statement::new(sql::SQLITE_TERMS, &[Value::Text(terms)]))
    }

    fn count(&mut self, count: Count, values: &[Value<'_>]) -> Result<i64> {
        self.run(Statement::new(count.change, values))?;
        let row = &values[values.len().saturating_sub(count.found_by)..];
        self.number(Statement::new(count.read, row))
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        record.write_in_steps(self)
    }

    fn tell_planner(&mut self) -> Result<()> {
        // It plans by the indexes alone.
        Ok(())
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

    fn begin_read(&mut self) -> Result<()> {
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    }

    fn end_read(&mut self) -> Result<()> {
        self.batch("ROLLBACK")
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn add_text(
        &mut self,
        company: Key,
        issue: Key,
        comment: Option<Key>,
        terms: &str,
    ) -> Result<()> {
        let text = [
            Value::Key(company),
            Value::Key(issue),
            Value::MaybeKey(comment),
            Value::Text(terms),
        ];
        self.run(Statement::new(sql::POSTGRES_TEXT, &text))
    }

    fn count(&mut self, count: Count, values: &[Value<'_>]) -> Result<i64> {
        self.number(Statement::new(count.returning, values))
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        record.write_at_once(self)
    }

    fn tell_planner(&mut self) -> Result<()> {
        self.batch("ANALYZE")
    }

    fn settle(&mut self) -> Result<()> {
        // Else the database does this while it is measured.
        self.batch("VACUUM ANALYZE")?;
        self.batch("CHECKPOINT")
    }

    run_statements!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::{Document, Instant};

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
        let key = Key(uuid::Uuid::from_u128(7));
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
