use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{
    Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, SqliteConnection,
    sql_query,
};

/// A connection beside the store.
pub struct SideConnection(Kind);

enum Kind {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

impl SideConnection {
    /// A connection to the SQLite file or PostgreSQL database of this name.
    ///
    /// # Panics
    /// When there is none to be had.
    #[must_use]
    #[track_caller]
    pub fn to(connection: &str) -> Self {
        match connection.contains("://") {
            true => Self::postgres(connection),
            false => Self::sqlite(connection),
        }
    }

    /// A connection to a SQLite file.
    ///
    /// # Panics
    /// When there is none to be had.
    #[track_caller]
    pub(super) fn sqlite(path: &str) -> Self {
        let connection =
            SqliteConnection::establish(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut side = Self(Kind::Sqlite(connection));
        side.execute("PRAGMA busy_timeout = 5000");
        side
    }

    /// A connection to a PostgreSQL database.
    ///
    /// # Panics
    /// When there is none to be had.
    #[track_caller]
    pub(super) fn postgres(url: &str) -> Self {
        let connection =
            PgConnection::establish(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        Self(Kind::Postgres(connection))
    }

    /// Runs a statement.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    pub fn execute(&mut self, statement: &str) {
        let outcome = match &mut self.0 {
            Kind::Sqlite(connection) => sql_query(statement).execute(connection),
            Kind::Postgres(connection) => sql_query(statement).execute(connection),
        };
        if let Err(error) = outcome {
            panic!("{statement}: {error}");
        }
    }

    /// Runs several statements.
    ///
    /// # Panics
    /// When one of them fails.
    #[track_caller]
    pub fn execute_all(&mut self, statements: &str) {
        let outcome = match &mut self.0 {
            Kind::Sqlite(connection) => connection.batch_execute(statements),
            Kind::Postgres(connection) => connection.batch_execute(statements),
        };
        if let Err(error) = outcome {
            panic!("{statements}: {error}");
        }
    }

    /// Whether a transaction on this PostgreSQL database waits for a lock of another; on SQLite
    /// none does, since one writes at a time.
    ///
    /// # Panics
    /// When the database does not say.
    #[must_use]
    #[track_caller]
    pub fn somebody_waits_for_a_lock(&mut self) -> bool {
        let Kind::Postgres(connection) = &mut self.0 else {
            return false;
        };
        let waiting: QueryResult<Count> = sql_query(
            "SELECT count(*) AS n FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .get_result(connection);
        match waiting {
            Ok(waiting) => waiting.n > 0,
            Err(error) => panic!("who waits: {error}"),
        }
    }

    /// Has PostgreSQL look for deadlocks after 20 ms instead of a second, on connections that are
    /// opened from now on.
    ///
    /// # Panics
    /// When it refuses.
    #[track_caller]
    pub fn detect_deadlocks_soon(&mut self) {
        if let Kind::Postgres(_) = self.0 {
            self.execute(
                "DO $$ BEGIN EXECUTE format(
                    'ALTER DATABASE %I SET deadlock_timeout = ''20ms''', current_database());
                END $$",
            );
        }
    }
}
