//! Logs of ended runs, which are packed and read as before.

use std::fs;

use workforce_domain::port::LogStream::{Stderr, Stdout};
use workforce_guard::{RunLog, TAIL_LEN, pack_log, read_log};

use crate::support::Bench;

/// A log of some hundred thousand bytes, with characters of all lengths.
fn written(bench: &Bench, bytes: usize) -> u64 {
    let mut log = RunLog::open(&bench.log_path(), 1 << 26).expect("a log");
    let mut number = 0u32;
    let mut total = 0;
    while total < bytes {
        let line = format!(
            "line {number} \u{e9}\u{20ac}\u{1f600} {:x}\n",
            number.wrapping_mul(2_654_435_761)
        );
        let stream = if number.is_multiple_of(3) {
            Stderr
        } else {
            Stdout
        };
        log.append(stream, line.as_bytes());
        total += line.len();
        number += 1;
    }
    log.finish();
    total as u64
}

#[test]
fn a_packed_log_answers_as_before_from_every_offset() {
    let bench = Bench::new();
    let total = written(&bench, 700_000);
    let path = bench.log_path();
    let ranges: Vec<(u64, usize)> = [
        0,
        1,
        262_143,
        262_144,
        262_145,
        524_287,
        total - 1,
        total,
        total + 9,
    ]
    .into_iter()
    .flat_map(|offset| [1, 4, 1000, TAIL_LEN, 600_000, usize::MAX].map(|limit| (offset, limit)))
    .collect();
    let before: Vec<_> = ranges
        .iter()
        .map(|&(offset, limit)| read_log(&path, offset, limit).expect("a slice"))
        .collect();
    let written = path
        .metadata()
        .and_then(|it| it.modified())
        .expect("a time");
    assert!(pack_log(&path).expect("packed"));
    assert!(!path.exists());
    for (range, before) in ranges.iter().zip(before) {
        let after = read_log(&path, range.0, range.1).expect("a slice");
        assert_eq!(after, before, "{range:?}");
    }
    let packed = bench.path("logs/run.log.z").metadata().expect("a file");
    assert!(packed.len() * 2 < total, "{} of {total}", packed.len());
    assert_eq!(packed.modified().expect("a time"), written);
}

#[test]
fn after_a_crash_there_is_the_one_or_the_other() {
    let bench = Bench::new();
    written(&bench, 300_000);
    let path = bench.log_path();
    let text = bench.log();
    // It was killed before the name was given: what it wrote so far is nothing.
    let half = bench.path("logs/run.log.packing");
    fs::write(&half, "wflogpk1 and no more").expect("a file");
    assert_eq!(
        read_log(&path, 0, 100).expect("a slice").total,
        text.len() as u64
    );
    // Whoever packs at the same time is left alone.
    assert!(!pack_log(&path).expect("left"));
    assert!(path.exists());
    fs::remove_file(half).expect("removed");
    // And before the log was removed: that is packed once more.
    assert!(pack_log(&path).expect("packed"));
    fs::write(&path, &text).expect("a file");
    assert_eq!(
        read_log(&path, 0, 100).expect("a slice").total,
        text.len() as u64
    );
    assert!(pack_log(&path).expect("packed"));
    assert!(!path.exists());
    assert_eq!(
        read_log(&path, 0, 100).expect("a slice").total,
        text.len() as u64
    );
}

#[test]
fn what_is_not_finished_or_short_stays_as_it_is() {
    let bench = Bench::new();
    written(&bench, 100);
    assert!(!pack_log(&bench.log_path()).expect("left"));
    written(&bench, 100_000);
    fs::write(bench.path("logs/run.log.tail"), "").expect("a file");
    assert!(!pack_log(&bench.log_path()).expect("left"));
    assert!(bench.log_path().exists());
}

#[test]
fn a_damaged_packed_log_is_an_error_and_no_panic() {
    let bench = Bench::new();
    let total = written(&bench, 600_000);
    assert!(pack_log(&bench.log_path()).expect("packed"));
    let packed = bench.path("logs/run.log.z");
    let whole = fs::read(&packed).expect("a file");
    for length in [0, 7, 16, 30, 60, whole.len() / 2] {
        fs::write(&packed, &whole[..length]).expect("a file");
        assert!(
            read_log(&bench.log_path(), total - 10, 10).is_err(),
            "{length}"
        );
    }
    for byte in 0..60 {
        let mut changed = whole.clone();
        changed[byte] ^= 0xff;
        fs::write(&packed, changed).expect("a file");
        // Whatever it is, it is told.
        let _: Result<_, _> = read_log(&bench.log_path(), 0, 1 << 20);
    }
}
