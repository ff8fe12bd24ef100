use std::fs;
use std::path::Path;

use diesel::connection::Connection as _;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Text};
use proptest::prelude::*;

use crate::store::sqlite::Connection;
use crate::store::sqlite::open::{connect, connect_writer};

#[derive(Debug, PartialEq, QueryableByName)]
struct Note {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    text: String,
}

/// One step of a transaction, on notes of up to some pages.
#[derive(Clone, Debug)]
enum Step {
    Put(i64, usize),
    Savepoint,
    UndoToSavepoint,
    Commit,
    RollBack,
    Checkpoint,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..40_i64, 0..20_000_usize).prop_map(|(id, length)| Step::Put(id, length)),
        1 => Just(Step::Savepoint),
        1 => Just(Step::UndoToSavepoint),
        2 => Just(Step::Commit),
        1 => Just(Step::RollBack),
        1 => Just(Step::Checkpoint),
    ];
    proptest::collection::vec(step, 1..60)
}

fn notes(conn: &mut Connection) -> Vec<Note> {
    let all = "SELECT id, text FROM notes ORDER BY id";
    sql_query(all).load(conn).unwrap()
}

fn run(conn: &mut Connection, sql: &str) {
    conn.batch_execute(sql).unwrap();
}

/// A writer with so small a cache that pages go to the log before the commit.
fn writer(path: &Path) -> Connection {
    let mut conn = connect_writer(path).unwrap();
    run(
        &mut conn,
        "PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0; \
         CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL); BEGIN;",
    );
    conn
}

/// What the files hold, as they are now, for whoever opens them after a crash.
fn after_a_crash(path: &Path) -> Vec<Note> {
    let folder = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let name = format!("notes.db{end}");
        fs::copy(path.with_file_name(&name), folder.path().join(&name)).unwrap();
    }
    notes(&mut connect(&folder.path().join("notes.db"), "").unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_commit_is_seen_whole_and_nothing_else_is(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let mut conn = writer(&path);
        let mut model = Connection::establish(":memory:").unwrap();
        run(&mut model, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL); BEGIN;");
        let mut reader = connect(&path, "").unwrap();
        let mut committed = Vec::new();
        let mut has_savepoint = false;
        for (number, step) in steps.into_iter().enumerate() {
            let sql = match step {
                Step::Put(id, length) => {
                    let text = format!("{number:04}").repeat(length / 4);
                    format!("REPLACE INTO notes VALUES ({id}, '{text}')")
                }
                Step::Savepoint => "SAVEPOINT here".to_owned(),
                Step::UndoToSavepoint if has_savepoint => "ROLLBACK TO here".to_owned(),
                Step::UndoToSavepoint => continue,
                Step::Commit => "COMMIT; BEGIN".to_owned(),
                Step::RollBack => "ROLLBACK; BEGIN".to_owned(),
                Step::Checkpoint => "ROLLBACK; PRAGMA wal_checkpoint(RESTART); BEGIN".to_owned(),
            };
            run(&mut conn, &sql);
            run(&mut model, &sql);
            has_savepoint = match step {
                Step::Savepoint => true,
                Step::Commit | Step::RollBack | Step::Checkpoint => false,
                Step::Put(..) | Step::UndoToSavepoint => has_savepoint,
            };
            if matches!(step, Step::Commit) {
                committed = notes(&mut model);
            }
            prop_assert_eq!(&notes(&mut reader), &committed);
        }
        prop_assert_eq!(after_a_crash(&path), committed);
    }
}

#[test]
fn a_commit_is_written_with_few_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let mut conn = writer(&path);
    run(&mut conn, "COMMIT; PRAGMA cache_size = 2000; BEGIN;");
    let length = || {
        fs::metadata(path.with_file_name("notes.db-wal"))
            .unwrap()
            .len()
    };
    let before = length();
    for id in 0..20 {
        let text = "x".repeat(4000);
        run(
            &mut conn,
            &format!("INSERT INTO notes VALUES ({id}, '{text}')"),
        );
    }
    assert_eq!(length(), before, "nothing is written before the commit");
    run(&mut conn, "COMMIT");
    assert!(length() > before + 20 * 4096);
}

#[test]
fn a_path_may_hold_what_has_a_meaning_in_a_url() {
    for name in ["100%.db", "what?.db", "a#b.db", "a%20b.db", "vfs=none&x.db"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut conn = connect_writer(&path).unwrap();
        run(&mut conn, "CREATE TABLE notes (id INTEGER, text TEXT)");
        assert!(path.exists(), "{name}");
        let doubled = format!("/{}", path.to_str().unwrap());
        drop(connect_writer(Path::new(&doubled)).unwrap());
        assert_eq!(notes(&mut connect(&path, "").unwrap()), []);
    }
}
