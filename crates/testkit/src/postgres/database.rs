//! One database per test.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use diesel::{Connection, PgConnection, QueryResult, RunQueryDsl, sql_query};

/// An empty database with a unique name, removed when this value is dropped.
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
    let name = unique_name();
    if let Err(error) = execute(cluster_url, &format!("CREATE DATABASE {name}")) {
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

fn with_database(cluster_url: &str, name: &str) -> String {
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
