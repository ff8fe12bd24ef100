use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{Connection as _, PgConnection, RunQueryDsl, sql_query};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use workforce_domain::port::StoreError;

use super::listener::NotificationListener;
use super::queries::installation::{name_installation, note_attachments};
use super::queries::invariants;
use super::queries::issue_texts::index_pending;
use super::session::Session;
use super::store::PostgresStore;
use crate::ids::new_installation;
use crate::store::errors::failed;
use crate::store::invariants::BrokenInvariant;
use crate::store::migrations::{migrate, revert};
use crate::store::pool::{ConnectError, pool};
use crate::store::{OpenError, OpenOptions};

pub(super) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Names the lock under which one server at a time changes tables.
pub(super) const MIGRATION_LOCK: i64 = 0x776f_726b_666f_7263;

/// Nobody waits for a row, or keeps one locked, for ever.
const SETTINGS: &str = "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; \
    SET jit = off;";

/// A host that vanished is given up after half a minute to a minute in which nothing reached it or
/// came from it. By itself the kernel would wait a quarter of an hour.
const NETWORK_LIMITS: &str =
    "tcp_user_timeout=30000&keepalives_idle=30&keepalives_interval=10&keepalives_count=3";

/// Every transaction of a connection sees one state and writes nothing.
pub(super) const ONE_PICTURE: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL \
    REPEATABLE READ, READ ONLY";

/// Opens the database at `url`.
pub(crate) fn open(url: &str, options: &OpenOptions) -> Result<PostgresStore, OpenError> {
    let url = &with_network_limits(url);
    under_migration_lock(url, |conn| {
        migrate(conn, MIGRATIONS)?;
        name_installation(conn, new_installation())
            .and_then(|()| note_attachments(conn, options.attachments.as_ref(), false))
            .and_then(|()| index_pending(conn).map(drop))
            .map_err(|error| OpenError::Connect(error.into()))
    })?;
    let supervisor = options.vitals.supervisor.clone();
    let listener = NotificationListener::start(url.to_owned(), supervisor)
        .map_err(|error| OpenError::Connect(error.into()))?;
    let target = url.to_owned();
    let pool = pool(options.pool_size, move || Session::open(&target));
    let disk_space = options.vitals.disk_space.clone();
    Ok(PostgresStore::new(
        url.to_owned(),
        pool,
        listener,
        disk_space,
    ))
}

/// Undoes every migration of the database at `url`.
pub(crate) fn migrate_down(url: &str) -> Result<(), OpenError> {
    under_migration_lock(url, |conn| revert(conn, MIGRATIONS))
}

/// The invariants that do not hold in the database at `url`.
pub(crate) fn broken_invariants(
    url: &str,
    limit: usize,
) -> Result<Vec<BrokenInvariant>, StoreError> {
    let mut conn = connect(url).map_err(StoreError::Unavailable)?;
    conn.batch_execute(ONE_PICTURE).map_err(failed)?;
    invariants::broken(&mut conn, limit).map_err(failed)
}

/// The URL with [`NETWORK_LIMITS`], unless the operator gives others.
fn with_network_limits(url: &str) -> String {
    // When a parameter comes twice, the later one holds.
    match url.split_once('?') {
        Some((target, given)) => format!("{target}?{NETWORK_LIMITS}&{given}"),
        None => format!("{url}?{NETWORK_LIMITS}"),
    }
}

/// The lock belongs to the session, which ends here.
fn under_migration_lock(
    url: &str,
    change: impl FnOnce(&mut PgConnection) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let mut conn =
        PgConnection::establish(url).map_err(|error| OpenError::Connect(error.into()))?;
    sql_query("SELECT pg_advisory_lock($1)")
        .bind::<BigInt, _>(MIGRATION_LOCK)
        .execute(&mut conn)
        .map_err(|error| OpenError::Connect(error.into()))?;
    change(&mut conn)
}

/// A connection to the database at `url`.
pub(super) fn connect(url: &str) -> Result<PgConnection, ConnectError> {
    let mut conn = PgConnection::establish(url)?;
    conn.batch_execute(SETTINGS)?;
    // Deadlocks are recognised by their message. Only some users may choose its language; most
    // servers are set up with English.
    if let Err(error) = conn.batch_execute("SET lc_messages = 'C'") {
        tracing::debug!(%error, "the language of the database's messages stays as it is");
    }
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_operator_come_last() {
        let plain = with_network_limits("postgresql://db/work");
        assert_eq!(plain, format!("postgresql://db/work?{NETWORK_LIMITS}"));
        let given = with_network_limits("postgresql://db/work?tcp_user_timeout=1&sslmode=require");
        assert!(
            given.ends_with("&tcp_user_timeout=1&sslmode=require"),
            "{given}"
        );
        assert!(
            given.starts_with("postgresql://db/work?tcp_user_timeout=30000&"),
            "{given}"
        );
    }
}
