//! Callers that bring several bodies.

use std::cell::Cell;

use super::*;
use crate::store::sqlite::writer::batch::MAX_MEMBERS;

#[test]
fn several_bodies_of_one_caller_share_one_commit_and_harm_nobody() {
    let (folder, writer) = writer();
    let mut first = |tx: &mut Transaction<'_>| note(tx, 1);
    let mut second = |tx: &mut Transaction<'_>| note(tx, 2);
    let mut odd = |tx: &mut Transaction<'_>| {
        assert!(committed(&folder).is_empty(), "nothing is committed yet");
        note(tx, 3).and_then(|_| Err(Corrupt::new("note", "it is odd").into()))
    };
    let mut panicking = |tx: &mut Transaction<'_>| {
        note(tx, 4)?;
        panic!("the rule is wrong");
    };
    let mut refusing = |tx: &mut Transaction<'_>| note(tx, 5).map(|_| Verdict::RollBack);
    let mut last = |tx: &mut Transaction<'_>| {
        assert!(committed(&folder).is_empty(), "nothing is committed yet");
        note(tx, 6)
    };
    let ended = run_all(
        &writer,
        &mut Given(&mut [
            &mut first,
            &mut odd,
            &mut panicking,
            &mut refusing,
            &mut second,
            &mut last,
        ]),
    );
    let how: Vec<_> = ended
        .iter()
        .map(|ended| match ended {
            Ok(Ok(_)) => "ok",
            Ok(Err(StoreError::Corrupt(_))) => "odd",
            Ok(Err(_)) => "failed",
            Err(_) => "panicked",
        })
        .collect();
    assert_eq!(how, ["ok", "odd", "panicked", "ok", "ok", "ok"]);
    assert_eq!(committed(&folder), [1, 2, 6]);
}

#[test]
fn who_has_to_be_undone_has_the_others_run_again() {
    let (folder, writer) = writer();
    let runs = Cell::new(0);
    let counted = |tx: &mut Transaction<'_>, n| {
        runs.set(runs.get() + 1);
        note(tx, n)
    };
    let mut first = |tx: &mut Transaction<'_>| counted(tx, 1);
    let mut refusing = |tx: &mut Transaction<'_>| counted(tx, 2).map(|_| Verdict::RollBack);
    let mut last = |tx: &mut Transaction<'_>| counted(tx, 3);
    let ended = run_all(
        &writer,
        &mut Given(&mut [&mut first, &mut refusing, &mut last]),
    );
    assert!(ended.iter().all(|ended| matches!(ended, Ok(Ok(_)))));
    assert_eq!(runs.get(), 5, "the last one had not run before");
    assert_eq!(committed(&folder), [1, 3]);
}

#[test]
fn who_changed_nothing_is_not_undone() {
    let (folder, writer) = writer();
    let runs = Cell::new(0);
    let mut first = |tx: &mut Transaction<'_>| {
        runs.set(runs.get() + 1);
        note(tx, 1)
    };
    // What SQLite refused it has undone itself.
    let mut refusing = |tx: &mut Transaction<'_>| {
        assert!(note(tx, 1).is_err(), "the number is taken");
        Ok(Verdict::RollBack)
    };
    let mut last = |tx: &mut Transaction<'_>| note(tx, 2);
    let ended = run_all(
        &writer,
        &mut Given(&mut [&mut first, &mut refusing, &mut last]),
    );
    assert!(ended.iter().all(|ended| matches!(ended, Ok(Ok(_)))));
    assert_eq!(runs.get(), 1);
    assert_eq!(committed(&folder), [1, 2]);
}

#[test]
fn who_is_undone_alone_runs_once() {
    let (folder, writer) = writer();
    let runs = Cell::new(0);
    let odd = writer.run(&mut |tx| {
        runs.set(runs.get() + 1);
        note(tx, 1).and_then(|_| Err(Corrupt::new("note", "it is odd").into()))
    });
    assert!(matches!(odd, Err(StoreError::Corrupt(_))));
    assert_eq!(runs.get(), 1);
    writer.run(&mut |tx| note(tx, 2)).unwrap();
    assert_eq!(committed(&folder), [2]);
}

#[test]
fn several_bodies_that_join_what_others_wrote_do_not_undo_it() {
    let (folder, writer) = writer();
    let first_runs = AtomicBool::new(false);
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            writer.run(&mut |tx| {
                first_runs.store(true, Ordering::SeqCst);
                until_waiting(&writer, 1);
                note(tx, 1)
            })
        });
        while !first_runs.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        let mut second = |tx: &mut Transaction<'_>| note(tx, 2);
        let mut refusing = |tx: &mut Transaction<'_>| note(tx, 3).map(|_| Verdict::RollBack);
        let ended = run_all(&writer, &mut Given(&mut [&mut second, &mut refusing]));
        assert!(ended.iter().all(|ended| matches!(ended, Ok(Ok(_)))));
        one.join().unwrap().unwrap();
    });
    assert_eq!(committed(&folder), [1, 2]);
}

#[test]
fn more_bodies_than_a_batch_holds_go_into_several() {
    let (folder, writer) = writer();
    let count = 2 * MAX_MEMBERS as i64 + 5;
    let mut seen = Vec::new();
    let seen_by = std::cell::RefCell::new(&mut seen);
    let mut bodies: Vec<_> = (0..count)
        .map(|n| {
            let (folder, seen_by) = (&folder, &seen_by);
            move |tx: &mut Transaction<'_>| {
                seen_by.borrow_mut().push(committed(folder).len());
                note(tx, n)
            }
        })
        .collect();
    let mut bodies: Vec<&mut Body<'_>> = bodies.iter_mut().map(|it| it as _).collect();
    let ended = run_all(&writer, &mut Given(&mut bodies));
    assert!(ended.iter().all(|ended| matches!(ended, Ok(Ok(_)))));
    drop(bodies);
    seen.dedup();
    assert_eq!(seen, [0, MAX_MEMBERS, 2 * MAX_MEMBERS]);
    assert_eq!(committed(&folder), (0..count).collect::<Vec<_>>());
}

/// Bodies of which each brings the next one.
struct Growing<'a> {
    folder: &'a TempDir,
    count: usize,
    last: usize,
    seen: Vec<usize>,
}

impl Bodies for Growing<'_> {
    fn has(&mut self, which: usize) -> bool {
        which < self.count
    }

    fn run(&mut self, which: usize, tx: &mut Transaction<'_>) -> Result<Verdict, StoreError> {
        self.seen.push(committed(self.folder).len());
        self.count = self.last.min(which + 2);
        note(tx, which as i64)
    }
}

#[test]
fn those_that_come_while_others_run_have_part_in_their_commit() {
    let (folder, writer) = writer();
    let mut growing = Growing {
        folder: &folder,
        count: 1,
        last: 5,
        seen: Vec::new(),
    };
    let ended = run_all(&writer, &mut growing);
    assert_eq!(ended.len(), 5);
    assert_eq!(growing.seen, [0; 5]);
    assert_eq!(committed(&folder), [0, 1, 2, 3, 4]);
}
