//! A migrated database from which those of the tests are copied: migrating each of them takes
//! longer than most tests do.

use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::{Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};
use workforce_infra::store::{OpenOptions, open};

use super::database::with_database;

type Cause = Box<dyn core::error::Error + Send + Sync>;

/// Tells the migrations that this was built with from others, which tests of another version may
/// use on the same cluster.
const MIGRATIONS: &str = env!("WORKFORCE_MIGRATIONS");

/// Names the lock under which one process at a time makes a template.
const LOCK: i64 = 0x7465_6d70_6c61_7465;

/// The first version of PostgreSQL that can copy a database in more than one way.
const FIRST_WITH_STRATEGIES: i32 = 150_000;

/// What a new database is copied from.
pub(super) struct Template {
    name: String,
    server_version: i32,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Bool)]
    is_complete: bool,
    #[diesel(sql_type = Integer)]
    server_version: i32,
}

impl Template {
    /// The template on the cluster whose maintenance database is at `cluster_url`, made when there
    /// is none yet.
    ///
    /// # Errors
    ///
    /// When the cluster does not answer or refuses.
    pub(super) fn of(cluster_url: &str) -> Result<Self, Cause> {
        let name = format!("migrated_{MIGRATIONS}");
        let mut connection = PgConnection::establish(cluster_url)?;
        let mut found = find(&mut connection, &name)?;
        if !found.is_complete {
            // The lock belongs to the session, which ends here.
            sql_query("SELECT pg_advisory_lock($1)")
                .bind::<BigInt, _>(LOCK)
                .execute(&mut connection)?;
            found = find(&mut connection, &name)?;
            if !found.is_complete {
                make(&mut connection, cluster_url, &name)?;
            }
        }
        Ok(Self {
            name,
            server_version: found.server_version,
        })
    }

    /// What `CREATE DATABASE` has to be told to copy it.
    pub(super) fn clause(&self) -> String {
        // Few tests write so much that the checkpoint of this strategy costs more than it saves.
        let strategy = if self.server_version >= FIRST_WITH_STRATEGIES {
            " STRATEGY file_copy"
        } else {
            ""
        };
        format!("TEMPLATE {}{strategy}", self.name)
    }
}

fn find(connection: &mut PgConnection, name: &str) -> QueryResult<Found> {
    sql_query(
        "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1) AS is_complete, \
         current_setting('server_version_num')::integer AS server_version",
    )
    .bind::<Text, _>(name)
    .get_result(connection)
}

/// Makes the template under another name, so that it is complete when it gets its own.
fn make(connection: &mut PgConnection, cluster_url: &str, name: &str) -> Result<(), Cause> {
    let unfinished = format!("{name}_unfinished");
    let mut run = |statement: String| sql_query(statement).execute(connection);
    // Left over from a process that was ended.
    run(format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"))?;
    run(format!("CREATE DATABASE {unfinished}"))?;
    let url = with_database(cluster_url, &unfinished).parse()?;
    drop(open(&url, &OpenOptions::default())?);
    // What somebody is connected to can neither be renamed nor be copied.
    run(format!(
        "ALTER DATABASE {unfinished} WITH ALLOW_CONNECTIONS false"
    ))?;
    run(format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{unfinished}'"
    ))?;
    run(format!("ALTER DATABASE {unfinished} RENAME TO {name}"))?;
    Ok(())
}
