//! Everything that a database holds, to show that nothing was written.

use std::collections::BTreeMap;

use diesel::sql_types::Text;
use diesel::{
    Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, SqliteConnection,
    sql_query,
};

use crate::store::TestStore;

/// The rows of every table, one to a line, by the name of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents(BTreeMap<String, String>);

#[derive(QueryableByName)]
struct Value {
    #[diesel(sql_type = Text)]
    text: String,
}

impl Contents {
    /// What the database of a store holds now.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    #[track_caller]
    pub fn of(store: &TestStore) -> Self {
        let connection = store.connection();
        let read = if store.url().sqlite_path().is_some() {
            SqliteConnection::establish(connection).map(|mut it| in_sqlite(&mut it))
        } else {
            PgConnection::establish(connection).map(|mut it| in_postgres(&mut it))
        };
        match read {
            Ok(Ok(tables)) => Self(tables),
            Ok(Err(error)) => panic!("{connection}: {error}"),
            Err(error) => panic!("{connection}: {error}"),
        }
    }

    /// The rows that stand in one of both only, each after the name of its table.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        for (name, rows) in &self.0 {
            let others = other.0.get(name).map_or("", String::as_str);
            let missing = |from: &str, row: &&str| !from.lines().any(|line| line == *row);
            differences.extend(
                (rows.lines().filter(|row| missing(others, row)))
                    .chain(others.lines().filter(|row| missing(rows, row)))
                    .map(|row| format!("{name}: {row}")),
            );
        }
        differences
    }
}

fn in_sqlite(connection: &mut SqliteConnection) -> QueryResult<BTreeMap<String, String>> {
    sql_query("PRAGMA busy_timeout = 5000").execute(connection)?;
    // Tables that a full-text index keeps for itself are left to it.
    let tables: Vec<Value> = sql_query(
        "SELECT name AS text FROM pragma_table_list \
         WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .load(connection)?;
    let mut contents = BTreeMap::new();
    for Value { text: name } in tables {
        let columns: Value = sql_query(format!(
            "SELECT group_concat('quote(\"' || name || '\")', '||'',''||') AS text \
             FROM pragma_table_info('{name}')"
        ))
        .get_result(connection)?;
        let rows: Value = sql_query(format!(
            "SELECT coalesce(group_concat(line, char(10) ORDER BY line), '') AS text \
             FROM (SELECT replace({}, char(10), '\\n') AS line FROM \"{name}\")",
            columns.text
        ))
        .get_result(connection)?;
        contents.insert(name, rows.text);
    }
    Ok(contents)
}

fn in_postgres(connection: &mut PgConnection) -> QueryResult<BTreeMap<String, String>> {
    let tables: Vec<Value> =
        sql_query("SELECT tablename::text AS text FROM pg_tables WHERE schemaname = 'public'")
            .load(connection)?;
    let mut contents = BTreeMap::new();
    for Value { text: name } in tables {
        let rows: Value = sql_query(format!(
            "SELECT coalesce(string_agg(line, chr(10) ORDER BY line), '') AS text \
             FROM (SELECT replace(t::text, chr(10), '\\n') AS line FROM \"{name}\" AS t) AS lines"
        ))
        .get_result(connection)?;
        contents.insert(name, rows.text);
    }
    Ok(contents)
}
