//! Statements past the rules, on either database.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use diesel::{PgConnection, SqliteConnection, sql_query};
use workforce_testkit::store::TestStore;

/// A connection of one's own.
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

/// A column of a live table.
#[derive(Debug, PartialEq, Eq, QueryableByName)]
pub(crate) struct Column {
    #[diesel(sql_type = Text)]
    pub(crate) name: String,
    #[diesel(sql_type = Text)]
    pub(crate) kind: String,
    #[diesel(sql_type = Bool)]
    pub(crate) not_null: bool,
    /// Its place in the primary key, from 1.
    #[diesel(sql_type = Integer)]
    pub(crate) key_place: i32,
}

/// A reference of a live table: its columns in order, and what deletion does.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub(crate) struct Reference {
    #[diesel(sql_type = Text)]
    pub(crate) child: String,
    #[diesel(sql_type = Text)]
    pub(crate) columns: String,
    #[diesel(sql_type = Text)]
    pub(crate) parent: String,
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) parent_columns: Option<String>,
}

#[derive(QueryableByName)]
struct Named {
    #[diesel(sql_type = Text)]
    name: String,
}

impl Raw {
    pub(crate) fn of(store: &TestStore) -> Self {
        Self::open(store.connection())
    }

    pub(crate) fn open(connection: &str) -> Self {
        if connection.starts_with("postgres") {
            Self::Postgres(PgConnection::establish(connection).unwrap())
        } else {
            let mut conn = SqliteConnection::establish(connection).unwrap();
            conn.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;")
                .unwrap();
            Self::Sqlite(conn)
        }
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    pub(crate) fn try_run(&mut self, sql: &str) -> Result<usize, String> {
        let outcome = match self {
            Self::Sqlite(conn) => sql_query(sql).execute(conn),
            Self::Postgres(conn) => sql_query(sql).execute(conn),
        };
        outcome.map_err(|error| error.to_string())
    }

    #[track_caller]
    pub(crate) fn run(&mut self, sql: &str) -> usize {
        self.try_run(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The one number that `SELECT ... AS n` gives.
    #[track_caller]
    pub(crate) fn count(&mut self, sql: &str) -> i64 {
        let outcome: QueryResult<Count> = match self {
            Self::Sqlite(conn) => sql_query(sql).get_result(conn),
            Self::Postgres(conn) => sql_query(sql).get_result(conn),
        };
        outcome.unwrap_or_else(|error| panic!("{sql}: {error}")).n
    }

    fn names(&mut self, sqlite: &str, postgres: &str) -> Vec<String> {
        let rows: Vec<Named> = match self {
            Self::Sqlite(conn) => sql_query(sqlite).load(conn).unwrap(),
            Self::Postgres(conn) => sql_query(postgres).load(conn).unwrap(),
        };
        rows.into_iter().map(|row| row.name).collect()
    }

    /// Every table of ours, save the index of words, which each database has in its own way.
    pub(crate) fn tables(&mut self) -> Vec<String> {
        self.names(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
             AND name <> '__diesel_schema_migrations' AND name NOT LIKE 'issue_text_index%'
             ORDER BY name",
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'
             AND tablename <> '__diesel_schema_migrations' ORDER BY tablename",
        )
    }

    /// Every index that was given a name.
    pub(crate) fn indexes(&mut self) -> Vec<String> {
        self.names(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
             ORDER BY name",
            "SELECT c.relname::text AS name FROM pg_index i
             JOIN pg_class c ON c.oid = i.indexrelid
             JOIN pg_namespace s ON s.oid = c.relnamespace
             WHERE s.nspname = 'public' AND c.relname <> 'issue_texts_terms' AND NOT EXISTS
                 (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u'))
             ORDER BY c.relname COLLATE \"C\"",
        )
    }

    pub(crate) fn columns(&mut self, table: &str) -> Vec<Column> {
        match self {
            Self::Sqlite(conn) => sql_query(format!(
                "SELECT name, lower(type) AS kind, \"notnull\" AS not_null, pk AS key_place
                 FROM pragma_table_info('{table}') ORDER BY name"
            ))
            .load(conn)
            .unwrap(),
            Self::Postgres(conn) => sql_query(format!(
                "SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS kind,
                        a.attnotnull AS not_null,
                        coalesce(array_position(i.indkey::int[], a.attnum::int) + 1, 0) AS key_place
                 FROM pg_attribute a
                 LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
                 WHERE a.attrelid = '{table}'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                     AND a.atttypid <> 'tsvector'::regtype
                 ORDER BY a.attname COLLATE \"C\""
            ))
            .load(conn)
            .unwrap(),
        }
    }

    /// References for which nothing says what becomes of them when their target goes: neither the
    /// reference itself nor, on SQLite, a trigger that empties it.
    pub(crate) fn references_without_rule(&mut self) -> Vec<String> {
        self.names(
            "SELECT t.name || '.' || group_concat(f.\"from\", ',' ORDER BY f.seq) AS name
             FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
             WHERE t.type = 'table' AND f.on_delete = 'NO ACTION' AND NOT EXISTS
                 (SELECT 1 FROM sqlite_schema g, pragma_foreign_key_list(t.name) own
                  WHERE own.id = f.id AND own.seq = 1 AND g.type = 'trigger'
                      AND g.tbl_name = f.\"table\"
                      AND instr(g.sql, 'UPDATE ' || t.name || ' SET ' || own.\"from\" || ' = NULL'))
             GROUP BY t.name, f.id ORDER BY name",
            "SELECT k.conrelid::regclass::text || '.' ||
                (SELECT string_agg(a.attname, ',' ORDER BY u.place)
                 FROM unnest(k.conkey) WITH ORDINALITY u (n, place)
                 JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n) AS name
             FROM pg_constraint k
             WHERE k.contype = 'f' AND k.confdeltype NOT IN ('c', 'n') ORDER BY name",
        )
    }

    pub(crate) fn references(&mut self) -> Vec<Reference> {
        match self {
            Self::Sqlite(conn) => sql_query(
                "SELECT t.name AS child, f.\"table\" AS parent,
                        group_concat(f.\"from\", ',' ORDER BY f.seq) AS columns,
                        group_concat(f.\"to\", ',' ORDER BY f.seq) AS parent_columns
                 FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
                 WHERE t.type = 'table' GROUP BY t.name, f.id ORDER BY child, columns",
            )
            .load(conn)
            .unwrap(),
            Self::Postgres(conn) => sql_query(
                "SELECT k.conrelid::regclass::text AS child, k.confrelid::regclass::text AS parent,
                    (SELECT string_agg(a.attname, ',' ORDER BY u.place)
                     FROM unnest(k.conkey) WITH ORDINALITY u (n, place)
                     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n) AS columns,
                    (SELECT string_agg(a.attname, ',' ORDER BY u.place)
                     FROM unnest(k.confkey) WITH ORDINALITY u (n, place)
                     JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n)
                     AS parent_columns
                 FROM pg_constraint k WHERE k.contype = 'f' ORDER BY child, columns",
            )
            .load(conn)
            .unwrap(),
        }
    }
}
