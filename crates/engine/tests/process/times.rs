//! When the output of a run was written.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;
use workforce_guard::{LogTime, RunLog, read_log_times};
use workforce_testkit::world::SettableClock;

use crate::support::Bench;

fn timed(bench: &Bench, cap: u64) -> (RunLog, SettableClock) {
    let clock = SettableClock::default();
    let log = RunLog::open(&bench.log_path(), cap).expect("a log");
    (log.timed_by(Arc::new(clock.clone())), clock)
}

fn at(millis: u64) -> Timestamp {
    SettableClock::START.plus(Duration::from_millis(millis))
}

fn advance(clock: &SettableClock, millis: u64) {
    clock.set(clock.now().plus(Duration::from_millis(millis)));
}

fn times(bench: &Bench) -> Vec<(Timestamp, u64)> {
    let times = read_log_times(&bench.log_path()).expect("the times");
    times
        .into_iter()
        .map(|LogTime { at, offset }| (at, offset))
        .collect()
}

#[test]
fn output_is_timed_once_in_a_second() {
    let bench = Bench::new();
    let (mut log, clock) = timed(&bench, 100);
    for _ in 0..5 {
        log.append(b"12345");
        log.append(b"");
        advance(&clock, 600);
    }
    let expected = [(at(0), 0), (at(1200), 10), (at(2400), 20)];
    assert_eq!(times(&bench), expected, "while it is written");
    log.finish();
    assert_eq!(times(&bench), expected);
    let beside = bench.path("logs/run.log.times");
    assert_eq!(
        beside.metadata().expect("it").permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_log_without_output_or_clock_has_no_times() {
    let bench = Bench::new();
    let (log, _clock) = timed(&bench, 100);
    log.finish();
    let mut untimed = RunLog::open(&bench.log_path(), 100).expect("a log");
    untimed.append(b"x");
    untimed.finish();
    assert_eq!(times(&bench), []);
}

#[test]
fn the_times_of_the_end_are_known_when_it_joins_the_log() {
    for dies in [false, true] {
        let bench = Bench::new();
        let (mut log, clock) = timed(&bench, 20);
        // Ten bytes stay, ten are left out, ten are kept.
        for text in [b"01234", b"56789", b"abcde", b"fghij", b"klmno", b"pqrst"] {
            log.append(text);
            advance(&clock, 1000);
        }
        let head = [(at(0), 0), (at(1000), 5), (at(2000), 10)];
        assert_eq!(times(&bench), head, "while it is written");
        if dies {
            drop(log);
            RunLog::recover(&bench.log_path()).expect("a recovery");
        } else {
            log.finish();
        }
        let end = "0123456789\n[... 10 bytes left out ...]\n".len() as u64;
        let tail = [(at(3000), end), (at(4000), end), (at(5000), end + 5)];
        assert_eq!(times(&bench), [&head[..], &tail].concat());
    }
}

#[test]
fn a_pair_that_a_crash_cut_off_is_none() {
    let bench = Bench::new();
    let (mut log, clock) = timed(&bench, 100);
    log.append(b"a");
    advance(&clock, 1000);
    log.append(b"b");
    drop(log);
    let beside = bench.path("logs/run.log.times");
    let stored = std::fs::read(&beside).expect("the times");
    std::fs::write(&beside, &stored[..stored.len() - 3]).expect("a cut");
    assert_eq!(times(&bench), [(at(0), 0)]);
}

#[test]
fn times_that_cannot_be_noted_cost_no_output() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("logs/run.log.times")).expect("a folder in their place");
    let (mut log, clock) = timed(&bench, 4);
    for _ in 0..3 {
        log.append(b"ab");
        advance(&clock, 1000);
    }
    assert_eq!(log.finish().fault, None);
    assert_eq!(bench.log(), "ab\n[... 2 bytes left out ...]\nab");
}

#[test]
fn the_times_of_a_long_run_stay_few() {
    let bench = Bench::new();
    let (mut log, clock) = timed(&bench, 1 << 20);
    for _ in 0..100_000 {
        log.append(b"x");
        advance(&clock, 1000);
    }
    log.finish();
    let times = times(&bench);
    assert!(times.len() < 50_000, "{}", times.len());
    assert!(times.is_sorted());
}

proptest! {
    #[test]
    fn times_and_offsets_only_grow_and_lie_in_the_log(
        pieces in prop::collection::vec((1_usize..40, 0_u64..3000), 1..40),
        cap in 2_u64..300,
    ) {
        let bench = Bench::new();
        let (mut log, clock) = timed(&bench, cap);
        for (length, pause) in pieces {
            log.append(&vec![b'x'; length]);
            advance(&clock, pause);
        }
        log.finish();
        let (times, length) = (times(&bench), bench.log().len() as u64);
        prop_assert_eq!(times.first(), Some(&(at(0), 0)));
        for pair in times.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1, "{:?}", pair);
        }
        prop_assert!(times.iter().all(|(_, offset)| *offset <= length));
    }
}
