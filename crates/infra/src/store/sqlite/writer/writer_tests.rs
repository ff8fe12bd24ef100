use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::{insert_into, sql_query};
use tempfile::TempDir;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::port::Verdict;

use super::*;
use crate::store::errors::failed;
use crate::store::sqlite::Transaction;
use crate::store::sqlite::outcome::{Outcome, SharedError};
use crate::store::sqlite::statement::{BeginImmediate, Statement as _};
use crate::store::sqlite::writer::member::Ended;

#[path = "several_tests.rs"]
mod several;

diesel::table! {
    notes (n) {
        n -> BigInt,
    }
}

fn writer() -> (TempDir, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let mut conn = connection(&folder);
    conn.batch_execute(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE notes (n INTEGER PRIMARY KEY, parent INTEGER REFERENCES notes (n));",
    )
    .unwrap();
    let writer = Writer::new(conn, None, None);
    // However slow the threads of a test are, their batch stays open.
    writer.turn().max_age = Duration::from_secs(60);
    (folder, writer)
}

fn connection(folder: &TempDir) -> SqliteConnection {
    let path = folder.path().join("notes.db");
    let mut conn = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    conn.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;")
        .unwrap();
    conn
}

/// Runs several bodies and waits until they are settled.
fn run_all(writer: &Writer, bodies: &mut dyn Bodies) -> Vec<Ended> {
    let members = writer.run_all(bodies);
    members.into_iter().map(Member::ended).collect()
}

fn note(tx: &mut Transaction<'_>, n: i64) -> Result<Verdict, StoreError> {
    insert_into(notes::table)
        .values(notes::n.eq(n))
        .execute(tx.conn)
        .map_err(failed)?;
    Ok(Verdict::Commit)
}

/// What somebody else sees.
fn committed(folder: &TempDir) -> Vec<i64> {
    notes::table
        .select(notes::n)
        .order(notes::n)
        .load(&mut connection(folder))
        .unwrap()
}

/// Waits within a body until so many others wait for their turn.
fn until_waiting(writer: &Writer, others: usize) {
    while writer.waiting.load(Ordering::SeqCst) < others {
        thread::yield_now();
    }
}

/// Runs `first` as the first member of a batch, with `second` waiting for its turn meanwhile.
fn together(
    writer: &Writer,
    first: impl Fn(&mut Transaction<'_>) -> Result<Verdict, StoreError> + Sync,
    second: impl Fn(&mut Transaction<'_>) -> Result<Verdict, StoreError> + Sync,
) -> (Ended, Ended) {
    let first_runs = AtomicBool::new(false);
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            writer.run(&mut |tx| {
                first_runs.store(true, Ordering::SeqCst);
                until_waiting(writer, 1);
                first(tx)
            })
        });
        let other = scope.spawn(|| {
            while !first_runs.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            writer.run(&mut |tx| second(tx))
        });
        (one.join(), other.join())
    })
}

#[test]
fn members_of_a_batch_share_one_commit() {
    let (folder, writer) = writer();
    let (one, other) = together(
        &writer,
        |tx| note(tx, 1),
        |tx| {
            // The first has ended its body; had it committed, others would see its row.
            assert_eq!(
                notes::table.select(notes::n).load::<i64>(tx.conn).unwrap(),
                [1]
            );
            assert!(committed(&folder).is_empty());
            note(tx, 2)
        },
    );
    one.unwrap().unwrap();
    other.unwrap().unwrap();
    assert_eq!(committed(&folder), [1, 2]);
}

#[test]
fn a_failing_member_harms_nobody() {
    let (folder, writer) = writer();
    let (one, other) = together(
        &writer,
        |tx| note(tx, 1).and_then(|_| Err(Corrupt::new("note", "it is odd").into())),
        |tx| note(tx, 2),
    );
    assert!(matches!(one.unwrap(), Err(StoreError::Corrupt(_))));
    other.unwrap().unwrap();
    assert_eq!(committed(&folder), [2]);
}

#[test]
fn a_refusing_member_leaves_nothing() {
    let (folder, writer) = writer();
    let (one, other) = together(
        &writer,
        |tx| note(tx, 1),
        |tx| note(tx, 2).map(|_| Verdict::RollBack),
    );
    one.unwrap().unwrap();
    other.unwrap().unwrap();
    assert_eq!(committed(&folder), [1]);
}

#[test]
fn a_panic_stays_in_its_own_thread() {
    let (folder, writer) = writer();
    let (one, other) = together(
        &writer,
        |tx| {
            note(tx, 1)?;
            panic!("the rule is wrong");
        },
        |tx| note(tx, 2),
    );
    assert_eq!(one.unwrap_err().downcast_ref(), Some(&"the rule is wrong"));
    other.unwrap().unwrap();
    assert_eq!(committed(&folder), [2]);
    writer.run(&mut |tx| note(tx, 3)).unwrap();
    assert_eq!(committed(&folder), [2, 3]);
}

/// A reference that may be mended until the commit, but is not.
fn dangling_note(tx: &mut Transaction<'_>) -> Result<Verdict, StoreError> {
    tx.conn
        .batch_execute("PRAGMA defer_foreign_keys = ON")
        .map_err(failed)?;
    sql_query("INSERT INTO notes (n, parent) VALUES (7, 8)")
        .execute(tx.conn)
        .map_err(failed)?;
    Ok(Verdict::Commit)
}

#[test]
fn a_failed_commit_fails_everybody_in_the_batch() {
    let (folder, writer) = writer();
    let (one, other) = together(&writer, |tx| note(tx, 1), dangling_note);
    assert!(matches!(one.unwrap(), Err(StoreError::Contended)));
    assert!(matches!(other.unwrap(), Err(StoreError::Contended)));
    assert!(committed(&folder).is_empty());
    writer.run(&mut |tx| note(tx, 3)).unwrap();
    assert_eq!(committed(&folder), [3]);
}

#[test]
fn a_refusal_over_what_was_not_committed_is_a_failure() {
    let (_folder, writer) = writer();
    let (one, other) = together(&writer, dangling_note, |_| Ok(Verdict::RollBack));
    assert!(one.unwrap().is_err());
    assert!(matches!(other.unwrap(), Err(StoreError::Contended)));
}

#[test]
fn a_refusal_over_what_is_committed_stands() {
    let (_folder, writer) = writer();
    let (one, other) = together(&writer, |_| Ok(Verdict::RollBack), dangling_note);
    assert!(one.unwrap().is_ok(), "it saw nothing of the other");
    assert!(other.unwrap().is_err());
}

#[test]
fn a_commit_that_failed_at_the_disk_is_undone_or_not_known() {
    let (folder, writer) = writer();
    let of_disk = || StoreError::Failed("disk I/O error".into());
    let mut turn = writer.turn();
    assert!(matches!(
        turn.overwrite_failed_commit(of_disk()),
        StoreError::Failed(_)
    ));
    // Nothing can be written over it.
    turn.conn.batch_execute("PRAGMA busy_timeout = 0").unwrap();
    let mut rival = connection(&folder);
    rival.batch_execute("BEGIN IMMEDIATE").unwrap();
    let unknown = turn.overwrite_failed_commit(of_disk());
    assert!(matches!(unknown, StoreError::OutcomeUnknown(_)));
    // What SQLite itself refused is known to be undone.
    assert!(matches!(
        turn.overwrite_failed_commit(StoreError::Contended),
        StoreError::Contended
    ));
    let outcome = Outcome::default();
    outcome.settle(Err(SharedError(Arc::new(unknown))));
    assert!(matches!(outcome.wait(), Err(StoreError::OutcomeUnknown(_))));
}

#[test]
fn a_transaction_that_sqlite_undid_is_told_to_everybody() {
    let (folder, writer) = writer();
    // As SQLite does by itself on a full disk.
    let undo = |tx: &mut Transaction<'_>| {
        tx.conn.batch_execute("ROLLBACK").map_err(failed)?;
        Ok(Verdict::Commit)
    };
    let (one, other) = together(&writer, |tx| note(tx, 1), undo);
    assert!(one.unwrap().is_err());
    assert!(other.unwrap().is_err());
    writer.run(&mut |tx| note(tx, 3)).unwrap();
    assert_eq!(committed(&folder), [3]);
}

#[test]
fn a_transaction_that_could_not_be_undone_is_undone_before_the_next() {
    let (folder, writer) = writer();
    BeginImmediate.run(&mut writer.turn().conn).unwrap();
    sql_query("INSERT INTO notes (n) VALUES (1)")
        .execute(&mut writer.turn().conn)
        .unwrap();
    writer.run(&mut |tx| note(tx, 2)).unwrap();
    assert_eq!(committed(&folder), [2]);
}

#[test]
fn a_full_disk_is_told_to_everybody_and_the_writer_goes_on_when_there_is_room() {
    let (folder, writer) = writer();
    let sql = |statement: &str| writer.turn().conn.batch_execute(statement).unwrap();
    sql("CREATE TABLE loads (bytes BLOB); PRAGMA max_page_count = 20;");
    let fill = |tx: &mut Transaction<'_>| {
        sql_query("INSERT INTO loads VALUES (zeroblob(1000000))")
            .execute(tx.conn)
            .map_err(failed)?;
        Ok(Verdict::Commit)
    };
    let (one, other) = together(&writer, |tx| note(tx, 1), fill);
    assert!(matches!(other.unwrap(), Err(StoreError::Full(_))));
    // Whoever shared the batch is either kept or told, never lost in silence.
    let kept = match one.unwrap() {
        Ok(_) => vec![1],
        Err(error) => {
            assert!(matches!(error, StoreError::Full(_)), "{error:?}");
            Vec::new()
        }
    };
    assert_eq!(committed(&folder), kept);
    sql("PRAGMA max_page_count = 100000");
    writer.run(&mut |tx| fill(tx)).unwrap();
    writer.run(&mut |tx| note(tx, 3)).unwrap();
    assert!(committed(&folder).ends_with(&[3]));
}

#[test]
fn many_writers_are_all_durable() {
    const WRITERS: i64 = 16;
    const NOTES: i64 = 40;
    let (folder, writer) = writer();
    thread::scope(|scope| {
        for number in 0..WRITERS {
            let (writer, folder) = (&writer, &folder);
            scope.spawn(move || {
                let mut own = connection(folder);
                // Every seventh note is refused.
                let body = |n: i64| {
                    move |tx: &mut Transaction<'_>| {
                        let refused = n % 7 == 0;
                        let verdict = if refused {
                            Verdict::RollBack
                        } else {
                            Verdict::Commit
                        };
                        note(tx, n).map(|_| verdict)
                    }
                };
                for n in (0..NOTES / 2).map(|n| number * NOTES + 2 * n) {
                    let (mut one, mut other) = (body(n), body(n + 1));
                    if number % 2 == 0 {
                        writer.run(&mut one).unwrap();
                        writer.run(&mut other).unwrap();
                    } else {
                        for ended in run_all(writer, &mut Given(&mut [&mut one, &mut other])) {
                            ended.unwrap().unwrap();
                        }
                    }
                    for n in [n, n + 1] {
                        let seen: i64 = notes::table
                            .filter(notes::n.eq(n))
                            .count()
                            .get_result(&mut own)
                            .unwrap();
                        assert_eq!(seen, i64::from(n % 7 != 0), "after the answer, {n}");
                    }
                }
            });
        }
    });
    let expected: Vec<i64> = (0..WRITERS * NOTES).filter(|n| n % 7 != 0).collect();
    assert_eq!(committed(&folder), expected);
}
