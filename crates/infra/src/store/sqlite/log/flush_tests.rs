use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use diesel::connection::SimpleConnection;
use tempfile::TempDir;
use workforce_domain::port::Verdict;

use super::*;
use crate::store::errors::failed;
use crate::store::sqlite::log::file::open_log;
use crate::store::sqlite::log::mender::Mender;
use crate::store::sqlite::open::connect;
use crate::store::sqlite::writer::Writer;
use crate::store::sqlite::writer::batch::{Given, Turn};
use crate::store::sqlite::{Connection, Transaction};

/// A file that takes everything and cannot be flushed.
fn deaf() -> File {
    File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .unwrap()
}

/// Says so when all that can be seen now is durable.
fn told_when_durable(flushes: &Flushes) -> Receiver<()> {
    let (sender, told) = channel();
    flushes.when_durable(Box::new(move || sender.send(()).unwrap()));
    told
}

fn commit(flushes: &Flushes) -> Arc<Outcome> {
    let outcome = Arc::<Outcome>::default();
    flushes.begin_commit();
    flushes.committed(Some(Arc::clone(&outcome)));
    outcome
}

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome.wait(), Err(StoreError::OutcomeUnknown(_)))
}

#[test]
fn who_may_have_seen_a_commit_is_told_when_it_is_durable() {
    let flushes = Flushes::of(Some(tempfile::tempfile().unwrap()));
    assert!(told_when_durable(&flushes).try_recv().is_ok(), "nothing");
    let first = commit(&flushes);
    // This one can be seen as soon as it begins.
    flushes.begin_commit();
    let both = told_when_durable(&flushes);
    flushes.settle(flushes.next().unwrap());
    first.wait().unwrap();
    assert!(both.try_recv().is_err(), "the second one is not settled");
    flushes.committed(None);
    flushes.settle(flushes.next().unwrap());
    assert!(both.try_recv().is_ok());
    assert!(told_when_durable(&flushes).try_recv().is_ok());
}

#[test]
fn several_commits_share_a_flush_and_are_told_in_their_order() {
    let flushes = Flushes::of(None);
    let (sender, told) = channel();
    for number in 0..3 {
        let sender = sender.clone();
        let outcome = commit(&flushes);
        outcome.when_settled(Box::new(move || {
            sender.send(number).unwrap();
            assert!(number != 1, "this one panics");
        }));
    }
    flushes.settle(flushes.next().unwrap());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn after_a_refused_flush_nothing_is_called_durable() {
    let flushes = Flushes::of(Some(deaf()));
    let outcome = commit(&flushes);
    let reader = told_when_durable(&flushes);
    flushes.settle(flushes.next().unwrap());
    assert!(is_unknown(&outcome) && flushes.has_failed());
    let nobody = Err(TryRecvError::Disconnected);
    assert_eq!(reader.try_recv(), nobody);
    assert_eq!(told_when_durable(&flushes).try_recv(), nobody);
    assert!(matches!(flushes.wait(), Err(StoreError::Unavailable(_))));
    assert!(matches!(flushes.mend(0), Err(StoreError::Unavailable(_))));
    // What was under way already, even though a flush would succeed now.
    let flushes = Flushes {
        has_failed: AtomicBool::new(true),
        ..Flushes::of(Some(tempfile::tempfile().unwrap()))
    };
    let outcome = commit(&flushes);
    flushes.settle(flushes.next().unwrap());
    assert!(is_unknown(&outcome));
    flushes.mend(0).unwrap();
    flushes.wait().unwrap();
    let outcome = commit(&flushes);
    flushes.settle(flushes.next().unwrap());
    outcome.wait().unwrap();
}

fn database(folder: &TempDir) -> Connection {
    let path = folder.path().join("notes.db");
    let settings = "PRAGMA journal_mode = WAL; CREATE TABLE notes (n INTEGER);";
    connect(&path, settings).unwrap()
}

fn insert(tx: &mut Transaction<'_>) -> Result<Verdict, StoreError> {
    let inserted = tx.conn.batch_execute("INSERT INTO notes VALUES (1)");
    inserted.map(|()| Verdict::Commit).map_err(failed)
}

/// A writer whose thread flushes `log`, or else its own.
fn writer(folder: &TempDir, log: Option<File>) -> (Writer, Arc<Flushes>) {
    let conn = database(folder);
    let log = log.unwrap_or_else(|| open_log(&folder.path().join("notes.db")).unwrap());
    let flusher = Flusher::start(Some(log), Supervisor::default()).unwrap();
    let flushes = Arc::clone(flusher.flushes());
    (Writer::new(conn, None, Some(flusher)), flushes)
}

fn note(writer: &Writer) -> Result<(), StoreError> {
    writer.run(&mut insert).map(drop)
}

/// A writer whose log has a commit in it and is to be mended.
fn after_a_refusal() -> (TempDir, Writer, Arc<Flushes>) {
    let folder = tempfile::tempdir().unwrap();
    let (writer, flushes) = writer(&folder, None);
    note(&writer).unwrap();
    flushes.has_failed.store(true, Ordering::SeqCst);
    (folder, writer, flushes)
}

#[test]
fn a_writer_whose_disk_refused_a_flush_writes_nothing_more_until_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, flushes) = writer(&folder, Some(deaf()));
    assert!(matches!(note(&writer), Err(StoreError::OutcomeUnknown(_))));
    for _ in 0..3 {
        assert!(matches!(note(&writer), Err(StoreError::Unavailable(_))));
    }
    assert!(matches!(flushes.wait(), Err(StoreError::Unavailable(_))));
}

#[test]
fn a_writer_mends_its_log_and_goes_on() {
    let (_folder, writer, flushes) = after_a_refusal();
    note(&writer).unwrap();
    assert!(!flushes.has_failed());
}

#[test]
fn a_log_is_mended_although_nobody_writes() {
    let (_folder, writer, flushes) = after_a_refusal();
    let writer = Arc::new(writer);
    let of_mender = Arc::clone(&flushes);
    let mender = Mender::start(Arc::downgrade(&writer), of_mender, Supervisor::default());
    let begun = Instant::now();
    while flushes.has_failed() {
        assert!(begun.elapsed() < 4 * DURABLE_WITHIN, "nobody mends it");
        thread::yield_now();
    }
    flushes.wait().unwrap();
    drop(mender.unwrap());
}

#[test]
fn a_log_of_which_something_is_lost_is_not_called_mended() {
    let (folder, writer, flushes) = after_a_refusal();
    let log = open_log(&folder.path().join("notes.db")).unwrap();
    let length = log.metadata().unwrap().len();
    log.write_all_at(b"lost", length - 100).unwrap();
    assert!(matches!(note(&writer), Err(StoreError::Unavailable(_))));
    assert!(flushes.has_failed());
}

#[test]
fn who_meets_the_error_of_another_flush_tells_all() {
    let flushes = Flushes::of(Some(deaf()));
    let outcome = commit(&flushes);
    assert!(flushes.flush().is_err());
    flushes.settle(flushes.next().unwrap());
    assert!(is_unknown(&outcome) && flushes.has_failed());
}

#[test]
fn a_refusal_waits_for_what_it_saw() {
    let folder = tempfile::tempdir().unwrap();
    let flushes = Arc::new(Flushes::of(None));
    let mut turn = Turn::new(database(&folder), None, Some(Arc::clone(&flushes)));
    let mut members = turn.run_all(&mut Given(&mut [&mut insert]));
    turn.settle_unless(false);
    let mut refuse = |tx: &mut Transaction<'_>| insert(tx).map(|_| Verdict::RollBack);
    members.extend(turn.run_all(&mut Given(&mut [&mut refuse])));
    turn.settle_unless(false);
    let (sender, told) = channel();
    for member in members {
        let sender = sender.clone();
        let batch = Arc::clone(member.batch().unwrap());
        batch.when_settled(Box::new(move || {
            sender.send(member.ended().unwrap().is_ok()).unwrap();
        }));
    }
    assert!(told.try_recv().is_err(), "it is not durable");
    flushes.settle(flushes.next().unwrap());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [true, true]);
}
