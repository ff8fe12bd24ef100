//! One database per test.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};

use super::template::Template;

/// A database with a unique name, removed when this value is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    cluster_url: String,
    name: String,
    url: String,
}

impl TestDatabase {
    /// The URL of this database, in the form `postgres://user@host:port/name`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends every connection to this database, as an operator may.
    ///
    /// # Panics
    ///
    /// When the database does not answer.
    #[track_caller]
    pub fn close_connections(&self) {
        let statement = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE datname = current_database() AND pid <> pg_backend_pid()";
        if let Err(error) = execute(&self.url, statement) {
            panic!("failed to close the connections to {}: {error}", self.url);
        }
    }

    /// Removes all that is in it, as somebody would who makes it anew.
    ///
    /// # Panics
    ///
    /// When the database does not answer.
    #[track_caller]
    pub fn empty(&self) {
        self.close_connections();
        for statement in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] {
            if let Err(error) = execute(&self.url, statement) {
                panic!("{statement} in {}: {error}", self.url);
            }
        }
    }

    /// What a query selects as `line`.
    ///
    /// # Panics
    ///
    /// When the database does not answer.
    #[must_use]
    #[track_caller]
    pub fn texts(&self, query: &str) -> Vec<String> {
        let rows = PgConnection::establish(&self.url)
            .map_err(|error| error.to_string())
            .and_then(|mut connection| {
                let rows: QueryResult<Vec<Line>> = sql_query(query).load(&mut connection);
                rows.map_err(|error| error.to_string())
            });
        match rows {
            Ok(rows) => rows.into_iter().map(|row| row.line).collect(),
            Err(error) => panic!("{query}: {error}"),
        }
    }

    /// Every row of every table, as PostgreSQL writes rows as text: bytes in hexadecimal digits.
    ///
    /// # Panics
    ///
    /// When the database cannot be read.
    #[must_use]
    #[track_caller]
    pub fn dump(&self) -> String {
        match rows(&self.url) {
            Ok(rows) => rows,
            Err(error) => panic!("failed to read all of {}: {error}", self.url),
        }
    }
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

fn rows(url: &str) -> Result<String, Box<dyn core::error::Error>> {
    let mut connection = PgConnection::establish(url)?;
    let tables: Vec<Line> = sql_query(
        "SELECT quote_ident(tablename) AS line FROM pg_tables WHERE schemaname = 'public'",
    )
    .load(&mut connection)?;
    let mut dump = String::new();
    for Line { line: table } in tables {
        let rows: Vec<Line> =
            sql_query(format!("SELECT t::text AS line FROM {table} t")).load(&mut connection)?;
        for row in rows {
            dump.push_str(&row.line);
            dump.push('\n');
        }
    }
    Ok(dump)
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // A pool of the test may still hold connections, hence the force.
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = execute(&self.cluster_url, &statement) {
            eprintln!("failed to drop the test database {}: {error}", self.name);
        }
    }
}

/// Creates an empty database on the cluster whose maintenance database is at `cluster_url`.
///
/// # Panics
///
/// When the cluster does not answer or refuses: there is no test to run then.
#[must_use]
#[track_caller]
pub fn database(cluster_url: &str) -> TestDatabase {
    create(cluster_url, "")
}

/// Creates a database with every table and no row on the cluster whose maintenance database is at
/// `cluster_url`.
///
/// It is a copy of a template, which the first call on a cluster makes by migrating an empty
/// database; other calls wait for it, of other processes too.
///
/// # Panics
///
/// When the cluster does not answer or refuses: there is no test to run then.
#[must_use]
#[track_caller]
pub fn migrated_database(cluster_url: &str) -> TestDatabase {
    match Template::of(cluster_url) {
        Ok(template) => create(cluster_url, &template.clause()),
        Err(error) => panic!("failed to make a template at {cluster_url}: {error}"),
    }
}

#[track_caller]
fn create(cluster_url: &str, clause: &str) -> TestDatabase {
    let name = unique_name();
    if let Err(error) = execute(cluster_url, &format!("CREATE DATABASE {name} {clause}")) {
        panic!("failed to create a test database at {cluster_url}: {error}");
    }
    TestDatabase {
        cluster_url: cluster_url.to_owned(),
        url: with_database(cluster_url, &name),
        name,
    }
}

fn execute(cluster_url: &str, statement: &str) -> Result<(), String> {
    let mut connection = PgConnection::establish(cluster_url).map_err(|error| error.to_string())?;
    let outcome: QueryResult<usize> = sql_query(statement).execute(&mut connection);
    outcome.map(drop).map_err(|error| error.to_string())
}

/// Random, because the processes of a test run share one cluster. The keys of a hasher are the
/// one source of randomness in the standard library.
fn unique_name() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("test_{:016x}_{:08x}", random(), std::process::id())
}

pub(super) fn with_database(cluster_url: &str, name: &str) -> String {
    let (address, parameters) = match cluster_url.split_once('?') {
        Some((address, parameters)) => (address, Some(parameters)),
        None => (cluster_url, None),
    };
    let authority_start = address.find("://").map_or(0, |scheme_end| scheme_end + 3);
    let authority_end = address[authority_start..]
        .find('/')
        .map_or(address.len(), |slash| authority_start + slash);
    let authority = &address[..authority_end];
    match parameters {
        Some(parameters) => format!("{authority}/{name}?{parameters}"),
        None => format!("{authority}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use diesel::QueryableByName;
    use diesel::sql_types::BigInt;

    use super::*;
    use crate::postgres::shared_cluster_url;

    #[test]
    fn only_the_name_of_the_database_changes_in_a_url() {
        for (cluster_url, expected) in [
            ("postgres://me@h:1/postgres", "postgres://me@h:1/x"),
            ("postgres://me@h:1", "postgres://me@h:1/x"),
            (
                "postgres://h/a?sslmode=disable",
                "postgres://h/x?sslmode=disable",
            ),
            (
                "postgresql://h?host=/run/pg",
                "postgresql://h/x?host=/run/pg",
            ),
        ] {
            assert_eq!(with_database(cluster_url, "x"), expected);
        }
    }

    #[derive(QueryableByName)]
    struct Counted {
        #[diesel(sql_type = BigInt)]
        n: i64,
    }

    fn count(url: &str, what: &str) -> i64 {
        let mut connection = PgConnection::establish(url).unwrap();
        let counted: Counted = sql_query(format!("SELECT count(*) AS n FROM {what}"))
            .get_result(&mut connection)
            .unwrap();
        counted.n
    }

    #[test]
    fn a_migrated_database_has_tables_of_its_own() {
        let Some(cluster_url) = shared_cluster_url() else {
            return;
        };
        // Threads stand for the processes of a test run, which come at once.
        let databases: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| migrated_database(&cluster_url)))
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let mut first = PgConnection::establish(databases[0].url()).unwrap();
        sql_query("ALTER TABLE companies RENAME TO firms")
            .execute(&mut first)
            .unwrap();
        for other in &databases[1..] {
            assert_eq!(count(other.url(), "companies"), 0);
        }
        assert_eq!(
            count(migrated_database(&cluster_url).url(), "companies"),
            0,
            "what is copied does not change"
        );
        assert_eq!(
            count(
                database(&cluster_url).url(),
                "pg_tables WHERE schemaname = 'public'"
            ),
            0
        );
    }

    #[test]
    fn a_database_is_empty_and_ends_with_its_value_despite_open_connections() {
        let Some(cluster_url) = shared_cluster_url() else {
            return;
        };
        let (first, second) = (database(&cluster_url), database(&cluster_url));
        let mut open = PgConnection::establish(first.url()).unwrap();
        sql_query("CREATE TABLE t (n int)")
            .execute(&mut open)
            .unwrap();
        sql_query("CREATE TABLE t (n int)")
            .execute(&mut PgConnection::establish(second.url()).unwrap())
            .unwrap();
        let url = first.url().to_owned();

        drop(first);

        assert!(PgConnection::establish(&url).is_err());
        assert!(PgConnection::establish(second.url()).is_ok());
    }
}
