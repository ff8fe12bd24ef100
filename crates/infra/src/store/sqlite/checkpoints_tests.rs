use std::path::PathBuf;
use std::time::Instant;

use diesel::Connection as _;
use diesel::connection::SimpleConnection;
use tempfile::TempDir;

use super::super::statement::{Begin, Rollback, Statement as _};
use super::*;

/// A database with a thread that copies its log.
struct Database {
    writer: Connection,
    checkpoints: Checkpoints,
    folder: TempDir,
}

impl Database {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = connect(
            &folder,
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE notes (text BLOB);",
        );
        let copier = connect(&folder, "PRAGMA synchronous = OFF;");
        let lock = ExclusiveLock::take(&path(&folder)).unwrap();
        let checkpoints =
            Checkpoints::start(copier, Arc::new(lock), Supervisor::default()).unwrap();
        Self {
            writer,
            checkpoints,
            folder,
        }
    }

    /// Commits a hundred pages and a few.
    fn commit(&mut self) {
        sql_query("INSERT INTO notes VALUES (zeroblob(409600))")
            .execute(&mut self.writer)
            .unwrap();
        self.checkpoints.after_commit(&mut self.writer);
    }

    fn fill_log(&mut self) {
        for _ in 0..=LONG / 100 {
            self.commit();
        }
    }

    fn log(&mut self) -> Log {
        checkpoint(&mut self.writer, Mode::Look).unwrap()
    }

    /// Commits until the log is as it should be.
    fn commit_until(&mut self, holds: impl Fn(Log) -> bool) {
        let begun = Instant::now();
        while !holds(self.log()) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(PAUSE);
            self.commit();
        }
    }
}

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("notes.db")
}

fn connect(folder: &TempDir, settings: &str) -> Connection {
    let mut conn = Connection::establish(path(folder).to_str().unwrap()).unwrap();
    conn.batch_execute(&format!("PRAGMA busy_timeout = 5000; {settings}"))
        .unwrap();
    conn
}

#[test]
fn the_log_is_copied_beside_the_writer_and_begins_anew() {
    let mut database = Database::new();
    database.fill_log();
    database.commit_until(|log| log.log < LONG);
    let in_file = std::fs::metadata(path(&database.folder)).unwrap().len();
    assert!(in_file >= 4096 * u64::from(LONG.unsigned_abs()));
}

#[test]
fn a_log_that_a_reader_held_is_not_left_to_a_commit() {
    let mut database = Database::new();
    let mut reader = connect(&database.folder, "");
    Begin.run(&mut reader).unwrap();
    sql_query("SELECT count(*) FROM notes")
        .execute(&mut reader)
        .unwrap();
    database.fill_log();
    thread::sleep(3 * PAUSE);
    database.commit();
    assert!(
        database.log().rest() >= LONG,
        "the reader sees what was there"
    );
    assert!(
        !database
            .checkpoints
            .shared
            .ends_soon
            .load(Ordering::Relaxed)
    );
    Rollback.run(&mut reader).unwrap();
    database.commit_until(|log| log.log < LONG);
}

#[test]
fn closing_it_waits_for_no_pause() {
    let mut database = Database::new();
    database.commit();
    let begun = Instant::now();
    drop(database.checkpoints);
    assert!(begun.elapsed() < RETRY);
    assert!(checkpoint(&mut database.writer, Mode::Copy).unwrap().rest() == 0);
}

#[test]
fn the_writer_ends_a_long_log_when_the_rest_is_little_or_does_not_become_less() {
    let log = |log, checkpointed| Log { log, checkpointed };
    for (before, after, ends_soon) in [
        // Not long.
        (log(LONG - 1, 0), log(LONG - 1, LONG - 1), false),
        // Long, and all or nearly all of it copied.
        (log(LONG, LONG), log(LONG, LONG), true),
        (log(LONG, 0), log(LONG + WORTH_COPYING - 1, LONG), true),
        // What was added meanwhile is copied faster than it comes, or is not.
        (log(40 * LONG, 0), log(50 * LONG, 40 * LONG), false),
        (log(50 * LONG, 40 * LONG), log(60 * LONG, 50 * LONG), true),
        // A reader stands in the way.
        (log(2 * LONG, LONG), log(3 * LONG, LONG), false),
    ] {
        assert_eq!(after.ends_soon(before), ends_soon, "{after:?}");
    }
}
