use std::path::PathBuf;
use std::time::Instant;

use diesel::Connection as _;
use diesel::RunQueryDsl as _;
use diesel::connection::SimpleConnection;
use diesel::sql_query;
use tempfile::TempDir;

use super::*;
use crate::store::sqlite::log::extent::{TOO_MANY_FOR_WRITER, WORTH_COPYING};
use crate::store::sqlite::log::flush::Flusher;
use crate::store::sqlite::statement::{Begin, BeginImmediate, Rollback, Statement as _};

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
        let flusher = Flusher::start(None, Supervisor::default()).unwrap();
        let checkpoints = Checkpoints::start(
            copier,
            Arc::clone(flusher.flushes()),
            Arc::new(lock),
            Durability::PowerLoss,
            Supervisor::default(),
        )
        .unwrap();
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
        checkpoint(&mut self.writer, Mode::Look).unwrap().unwrap()
    }

    /// How long the file of the log is.
    fn log_bytes(&self) -> u64 {
        let log = self.folder.path().join("notes.db-wal");
        std::fs::metadata(log).unwrap().len()
    }

    /// A reader that holds what is in the log now.
    fn reader(&self) -> Connection {
        let mut reader = connect(&self.folder, "");
        Begin.run(&mut reader).unwrap();
        sql_query("SELECT count(*) FROM notes")
            .execute(&mut reader)
            .unwrap();
        reader
    }

    fn ends_soon(&self) -> bool {
        self.checkpoints.shared.ends_soon.load(Ordering::Relaxed)
    }

    /// Commits until the log begins anew.
    fn commit_until_anew(&mut self) {
        wait_until(|| {
            self.commit();
            self.log().log < LONG
        });
    }
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::sleep(PAUSE);
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
    database.commit_until_anew();
    let in_file = std::fs::metadata(path(&database.folder)).unwrap().len();
    assert!(in_file >= 4096 * u64::from(LONG.unsigned_abs()));
}

#[test]
fn a_log_that_a_reader_held_is_not_left_to_a_commit() {
    let mut database = Database::new();
    let mut reader = database.reader();
    database.fill_log();
    thread::sleep(3 * PAUSE);
    database.commit();
    assert!(
        database.log().rest() >= LONG,
        "the reader sees what was there"
    );
    assert!(!database.ends_soon());
    Rollback.run(&mut reader).unwrap();
    wait_until(|| database.log().rest() < TOO_MANY_FOR_WRITER);
    wait_until(|| database.ends_soon());
    database.commit_until_anew();
}

#[test]
fn the_room_of_the_log_is_given_back_when_a_commit_was_refused() {
    let mut database = Database::new();
    database.commit();
    thread::sleep(3 * PAUSE);
    assert!(database.log().rest() > 0, "a little is left");
    database.checkpoints.after_refusal();
    wait_until(|| database.log_bytes() == 0);
    database.commit();
    assert!(database.log().log < 200, "it begins anew");
}

#[test]
fn the_room_of_a_log_in_which_nothing_is_left_is_given_back_too() {
    let mut database = Database::new();
    database.fill_log();
    database.commit_until_anew();
    // Whoever restarts finds the file as long as it was.
    assert!(database.log_bytes() > 0);
    checkpoint(&mut database.writer, Mode::Copy).unwrap();
    database.checkpoints.after_refusal();
    wait_until(|| database.log_bytes() == 0);
}

#[test]
fn the_room_of_the_log_is_given_back_when_its_reader_has_left() {
    let mut database = Database::new();
    database.commit();
    let mut reader = database.reader();
    database.commit();
    database.checkpoints.after_refusal();
    thread::sleep(3 * PAUSE);
    assert!(database.log_bytes() > 0, "it is read");
    Rollback.run(&mut reader).unwrap();
    // Nothing is committed, and no other write is refused.
    wait_until(|| database.log_bytes() == 0);
}

#[test]
fn closing_it_waits_for_no_pause() {
    let shortest = (0..20).map(|_| {
        let mut database = Database::new();
        database.commit();
        let begun = Instant::now();
        drop(database.checkpoints);
        let closed_in = begun.elapsed();
        let copied = checkpoint(&mut database.writer, Mode::Copy).unwrap();
        assert!(copied.unwrap().rest() == 0);
        closed_in
    });
    assert!(shortest.min().unwrap() < PAUSE / 2);
}

#[test]
fn a_log_that_another_copies_is_not_taken_for_copied() {
    let Database {
        mut writer, folder, ..
    } = Database::new();
    let read_schema = "PRAGMA synchronous = OFF;";
    let mut other = connect(&folder, read_schema);
    BeginImmediate.run(&mut writer).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            // Its end comes also when this test fails.
            while !is_over.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(60) {
                // It fails when the third has the lock just then.
                let _tried = sql_query("PRAGMA wal_checkpoint(FULL)").execute(&mut other);
            }
        });
        // It copies nothing before this writer ends, but keeps others from copying.
        let mut third = connect(&folder, read_schema);
        wait_until(|| checkpoint(&mut third, Mode::Copy).unwrap().is_none());
        is_over.store(true, Ordering::Relaxed);
        Rollback.run(&mut writer).unwrap();
    });
}

/// What the thread copies with, of a long log that nobody has copied.
fn copier_of_long_log(database: &mut Database) -> Copier {
    let mut conn = connect(&database.folder, "PRAGMA synchronous = OFF;");
    let flusher = Flusher::start(None, Supervisor::default()).unwrap();
    let elsewhere = database.folder.path().join("elsewhere");
    // The thread would copy it.
    database.checkpoints.shared.state().closing = true;
    database.checkpoints.shared.changed.notify_one();
    let thread = database.checkpoints.thread.take().unwrap();
    thread.join().unwrap();
    sql_query("INSERT INTO notes VALUES (zeroblob(4096 * 8000))")
        .execute(&mut database.writer)
        .unwrap();
    let left = checkpoint(&mut conn, Mode::Look).unwrap();
    Copier {
        conn,
        flushes: Arc::clone(flusher.flushes()),
        lock: Arc::new(ExclusiveLock::take(&elsewhere).unwrap()),
        durability: Durability::PowerLoss,
        left,
    }
}

#[test]
fn what_came_to_a_long_log_while_it_was_copied_is_not_left_to_the_writer() {
    let mut database = Database::new();
    let mut copier = copier_of_long_log(&mut database);
    let before = copier.left.unwrap();
    assert!(before.is_much_for_writer());
    assert_eq!(copier.copy_end(before).unwrap(), Some(Left::ToWriter));
    assert_eq!(copier.left.unwrap().rest(), 0);
}

#[test]
fn what_a_reader_holds_of_a_long_log_is_not_left_to_the_writer() {
    let mut database = Database::new();
    database.commit();
    let mut reader = database.reader();
    let mut copier = copier_of_long_log(&mut database);
    let before = copier.left.unwrap();
    assert_eq!(copier.copy_end(before).unwrap(), Some(Left::ToReader));
    Rollback.run(&mut reader).unwrap();
}

#[test]
fn the_writer_ends_a_long_log_when_the_rest_is_little_or_no_longer_becomes_less() {
    let log = |log, checkpointed| Log {
        busy: 0,
        log,
        checkpointed,
    };
    use Left::{Little, ToWriter};
    for (before, after, left) in [
        // Not long.
        (log(LONG - 1, 0), log(LONG - 1, LONG - 1), Little),
        // Long, and nearly all of it copied, whether now or before.
        (log(LONG, LONG), log(LONG, LONG), ToWriter),
        (
            log(LONG, 0),
            log(LONG + TOO_MANY_FOR_WRITER - 1, LONG),
            ToWriter,
        ),
        // What was added meanwhile is copied faster than it comes, or is not.
        (log(40 * LONG, 0), log(50 * LONG, 40 * LONG), Little),
        (
            log(50 * LONG, 40 * LONG),
            log(60 * LONG, 50 * LONG),
            ToWriter,
        ),
    ] {
        assert_eq!(after.left_after(before), left, "{after:?}");
    }
}

#[test]
fn what_the_writer_would_wait_for_is_copied_before() {
    let log = |log, checkpointed| Log {
        busy: 0,
        log,
        checkpointed,
    };
    for (log, is_much) in [
        (log(WORTH_COPYING - 1, 0), false),
        (log(WORTH_COPYING, 0), true),
        (log(LONG - 1, LONG - WORTH_COPYING), false),
        (log(LONG, LONG - TOO_MANY_FOR_WRITER + 1), false),
        (log(LONG, LONG - TOO_MANY_FOR_WRITER), true),
    ] {
        assert_eq!(log.is_much(), is_much, "{log:?}");
    }
}
