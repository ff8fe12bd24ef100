//! A database file as a whole: looked at without changing it, and copied.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use diesel::RunQueryDsl;
use diesel::sql_query;
use diesel::sql_types::Text;
use workforce_domain::port::{Reads, StoreError};

use super::lock::ExclusiveLock;
use super::open::{MIGRATIONS, connect};
use super::queries::inspection::{applied_migrations, forget_processes, lines};
use super::queries::installation::forget_attachments;
use super::queries::repairs::{sum_up_costs, take_back_leases};
use super::statement::{Begin, BeginImmediate, Commit, Rollback, Statement};
use super::write_back::written_back;
use super::{Connection, Transaction};
use crate::store::OpenError;
use crate::store::errors::failed;
use crate::store::inspection::{DatabaseState, Inspect, SchemaState};
use crate::store::migrations::known_versions;
use crate::store::upkeep::{Repair, SnapshotError};

/// What SQLite says of a file with which nothing is wrong.
const WHOLE: &str = "ok";

/// A connection that cannot write, not even by a mistake of ours.
struct ReadOnly(Connection);

/// Looks at the database file at `path`, without making one.
pub(crate) fn inspect(path: &Path) -> Result<Box<dyn Inspect>, StoreError> {
    Ok(Box::new(ReadOnly(connect_existing(path, "ro")?)))
}

impl Inspect for ReadOnly {
    fn state(&mut self) -> Result<DatabaseState, StoreError> {
        let conn = &mut self.0;
        let version = lines(conn, "SELECT sqlite_version() AS line")?;
        Ok(DatabaseState {
            version: format!("SQLite {}", version.concat()),
            schema: SchemaState::of(applied_migrations(conn)?, &known_migrations()),
            clock: None,
        })
    }

    fn damages(&mut self, limit: usize) -> Result<Vec<String>, StoreError> {
        let pages = "SELECT integrity_check AS line FROM pragma_integrity_check";
        let references = format!(
            "SELECT 'a row of ' || \"table\" || ' refers to no row of ' || parent AS line \
             FROM pragma_foreign_key_check LIMIT {limit}"
        );
        let mut damages = lines(&mut self.0, pages)?;
        damages.retain(|line| line != WHOLE);
        damages.truncate(limit);
        damages.extend(lines(&mut self.0, &references)?);
        Ok(damages)
    }

    fn lines(&mut self, query: &str) -> Result<Vec<String>, StoreError> {
        lines(&mut self.0, query)
    }

    fn reading(
        &mut self,
        body: &mut dyn FnMut(&mut dyn Reads) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let conn = &mut self.0;
        Begin.run(conn)?;
        let outcome = body(&mut Transaction::on(conn));
        Rollback.run(conn)?;
        outcome
    }
}

/// Copies the database file at `from` to a new file at `to`.
pub(crate) fn snapshot(from: &Path, to: &Path) -> Result<(), SnapshotError> {
    let copied = copy(from, to);
    if copied.is_err() {
        // It may not even have been made.
        let _ = std::fs::remove_file(to);
    }
    copied
}

fn copy(from: &Path, to: &Path) -> Result<(), SnapshotError> {
    let unwritten = |source| SnapshotError::Copy {
        path: to.into(),
        source,
    };
    let name = to.to_str().ok_or_else(|| {
        SnapshotError::Store(StoreError::Failed("the path is not valid UTF-8".into()))
    })?;
    // SQLite writes into an empty file that is there, and keeps its permissions.
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .map_err(unwritten)?;
    written_back(&file, || vacuum_into(from, name))
        .map_err(unwritten)?
        .map_err(SnapshotError::Store)?;
    // By itself SQLite does not wait until such a copy is on the disk.
    file.sync_all().map_err(unwritten)?;
    let mut copy = inspect(to).map_err(SnapshotError::Store)?;
    match copy.damages(1).map_err(SnapshotError::Store)?.pop() {
        Some(damage) => Err(SnapshotError::Damaged(damage)),
        None => Ok(()),
    }
}

fn vacuum_into(from: &Path, name: &str) -> Result<(), StoreError> {
    let mut conn = connect_existing(from, "ro")?;
    sql_query("VACUUM INTO ?")
        .bind::<Text, _>(name)
        .execute(&mut conn)
        .map(drop)
        .map_err(failed)
}

/// The versions of the migrations of this program.
pub(crate) fn known_migrations() -> Vec<String> {
    // They were read when this program was built.
    known_versions::<diesel::sqlite::Sqlite>(&MIGRATIONS).unwrap_or_default()
}

/// Forgets the processes of all runs, and where attachments are, in the database file at `path`.
pub(crate) fn take_over(path: &Path, forgets_attachments: bool) -> Result<(), StoreError> {
    let mut conn = connect_existing(path, "rw")?;
    forget_processes(&mut conn)?;
    match forgets_attachments {
        true => forget_attachments(&mut conn).map_err(failed),
        false => Ok(()),
    }
}

/// Makes something anew from other rows, in the database file at `path`.
pub(crate) fn repair(path: &Path, repair: Repair) -> Result<usize, OpenError> {
    let failed = |error: StoreError| OpenError::Connect(error.into());
    // Taking the lock would make a file, too.
    drop(connect_existing(path, "ro").map_err(failed)?);
    let _lock = ExclusiveLock::take(path)?;
    let mut conn = connect_existing(path, "rw").map_err(failed)?;
    BeginImmediate.run(&mut conn).map_err(failed)?;
    let repaired = match repair {
        Repair::SpendTotals => sum_up_costs(&mut conn),
        Repair::Leases => take_back_leases(&mut conn),
    };
    // Unless this is reached, the transaction ends with the connection.
    let repaired = repaired.map_err(failed)?;
    Commit.run(&mut conn).map_err(failed)?;
    Ok(repaired)
}

/// A connection to a file that is there. Connecting by its name alone would make one.
fn connect_existing(path: &Path, mode: &str) -> Result<Connection, StoreError> {
    std::fs::metadata(path).map_err(|error| StoreError::Unavailable(error.into()))?;
    connect(
        Path::new(&format!("file:{}?mode={mode}", in_uri(path))),
        "PRAGMA mmap_size = 0;",
    )
    .map_err(StoreError::Unavailable)
}

/// The path with every byte escaped that means something in a URI.
fn in_uri(path: &Path) -> String {
    let mut uri = String::new();
    // A path that begins with two slashes would name a host.
    let bytes = path.as_os_str().as_bytes();
    let is_rooted = bytes.first() == Some(&b'/');
    let rest = bytes.iter().position(|&byte| byte != b'/').unwrap_or(0);
    if is_rooted {
        uri.push('/');
    }
    for &byte in bytes.iter().skip(rest) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_says_anything_but_where_the_file_is() {
        for (path, uri) in [
            ("/srv/a b/w.db", "/srv/a%20b/w.db"),
            ("data/50%?mode=rwc#.db", "data/50%25%3fmode%3drwc%23.db"),
            ("//host/w.db", "/host/w.db"),
        ] {
            assert_eq!(in_uri(Path::new(path)), uri);
        }
    }
}
