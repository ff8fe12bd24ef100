//! When the output of a run was written, and to which stream.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use workforce_domain::port::LogStream::{self, Stderr, Stdout, System};
use workforce_domain::port::{Clock, LogPart};
use workforce_domain::time::Timestamp;
use workforce_guard::{LogNote, RunLog, read_log, read_log_notes};
use workforce_testkit::world::SettableClock;

use crate::support::Bench;

const NOTE_LEN: u64 = 16;

fn noted(bench: &Bench, cap: u64) -> (RunLog, SettableClock) {
    let clock = SettableClock::default();
    let log = RunLog::open(&bench.log_path(), cap).expect("a log");
    (log.noted_by(Arc::new(clock.clone())), clock)
}

fn at(millis: u64) -> Timestamp {
    SettableClock::START.plus(Duration::from_millis(millis))
}

fn advance(clock: &SettableClock, millis: u64) {
    clock.set(clock.now().plus(Duration::from_millis(millis)));
}

fn notes(bench: &Bench) -> Vec<(Timestamp, u64, LogStream)> {
    let notes = read_log_notes(&bench.log_path()).expect("the notes");
    notes
        .into_iter()
        .map(|LogNote { at, offset, stream }| (at, offset, stream))
        .collect()
}

fn parts(bench: &Bench) -> Vec<LogPart> {
    let slice = read_log(&bench.log_path(), 0, 1 << 20).expect("a slice");
    slice.parts
}

fn beside(bench: &Bench) -> std::path::PathBuf {
    bench.path("logs/run.log.times")
}

#[test]
fn output_to_one_stream_is_noted_once_in_a_second() {
    let bench = Bench::new();
    let (mut log, clock) = noted(&bench, 100);
    for _ in 0..5 {
        log.append(Stdout, b"12345");
        log.append(Stderr, b"");
        advance(&clock, 600);
    }
    let expected = [
        (at(0), 0, Stdout),
        (at(1200), 10, Stdout),
        (at(2400), 20, Stdout),
    ];
    assert_eq!(notes(&bench), expected, "while it is written");
    log.finish();
    assert_eq!(notes(&bench), expected);
    let mode = beside(&bench).metadata().expect("it").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn another_stream_is_noted_at_once() {
    let bench = Bench::new();
    let (mut log, clock) = noted(&bench, 100);
    log.append(System, b"prompt\n");
    log.append(Stdout, b"out");
    advance(&clock, 10);
    log.append(Stderr, b"err");
    log.append(Stderr, b"err");
    log.append(Stdout, b"out");
    let expected = [
        (at(0), 0, System),
        (at(0), 7, Stdout),
        (at(10), 10, Stderr),
        (at(10), 16, Stdout),
    ];
    assert_eq!(notes(&bench), expected);
    let told: Vec<_> = parts(&bench)
        .into_iter()
        .map(|part| (part.stream, part.offset, part.text))
        .collect();
    let expected = [
        (System, 0, "prompt\n".to_owned()),
        (Stdout, 7, "out".to_owned()),
        (Stderr, 10, "errerr".to_owned()),
        (Stdout, 16, "out".to_owned()),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_log_without_output_or_clock_has_no_notes() {
    let bench = Bench::new();
    let (log, _clock) = noted(&bench, 100);
    log.finish();
    let mut plain = RunLog::open(&bench.log_path(), 100).expect("a log");
    plain.append(Stderr, b"x");
    plain.finish();
    assert_eq!(notes(&bench), []);
    let part = LogPart {
        at: None,
        stream: Stdout,
        offset: 0,
        text: "x".to_owned(),
    };
    assert_eq!(parts(&bench), [part]);
}

#[test]
fn the_notes_of_the_end_are_known_when_it_joins_the_log() {
    for dies in [false, true] {
        let bench = Bench::new();
        let (mut log, clock) = noted(&bench, 20);
        // Ten bytes stay, ten are left out, ten are kept.
        for text in [b"01234", b"56789", b"abcde", b"fghij", b"klmno", b"pqrst"] {
            log.append(Stdout, text);
            advance(&clock, 1000);
        }
        let head = [(at(0), 0, Stdout), (at(1000), 5, Stdout)];
        assert_eq!(notes(&bench), head, "while it is written");
        if dies {
            drop(log);
            RunLog::recover(&bench.log_path()).expect("a recovery");
        } else {
            log.finish();
        }
        let end = "0123456789\n[... 10 bytes left out ...]\n".len() as u64;
        let tail = [
            (at(2000), 10, System),
            (at(4000), end, Stdout),
            (at(5000), end + 5, Stdout),
        ];
        assert_eq!(notes(&bench), [&head[..], &tail].concat());
    }
}

#[test]
fn a_recovery_that_was_cut_short_begins_again() {
    let bench = Bench::new();
    let (mut log, clock) = noted(&bench, 20);
    for _ in 0..6 {
        log.append(Stderr, b"01234");
        advance(&clock, 1000);
    }
    drop(log);
    let tail = bench.path("logs/run.log.tail");
    let (head, ring) = (bench.log(), fs::read(&tail).expect("a ring"));
    RunLog::recover(&bench.log_path()).expect("a recovery");
    let settled = notes(&bench);
    assert_eq!(settled.len(), 5);
    fs::write(bench.log_path(), head).expect("a log without its end");
    fs::write(tail, ring).expect("a ring that is still there");
    RunLog::recover(&bench.log_path()).expect("a recovery");
    assert_eq!(notes(&bench), settled);
}

#[test]
fn notes_without_a_stream_are_of_standard_output() {
    let bench = Bench::new();
    fs::create_dir(bench.path("logs")).expect("a folder");
    fs::write(bench.log_path(), "0123456789").expect("a log");
    let pairs = [(at(0), 0_u64), (at(1000), 4)];
    let stored: Vec<u8> = pairs
        .iter()
        .flat_map(|(at, offset)| [at.micros().to_le_bytes(), offset.to_le_bytes()].concat())
        .collect();
    fs::write(beside(&bench), stored).expect("the notes");
    assert_eq!(notes(&bench), [(at(0), 0, Stdout), (at(1000), 4, Stdout)]);
    let texts: Vec<_> = parts(&bench).into_iter().map(|part| part.text).collect();
    assert_eq!(texts, ["0123", "456789"]);
}

#[test]
fn a_continued_log_has_the_notes_of_both_parts_and_none_that_a_crash_cut_off() {
    let bench = Bench::new();
    let (mut log, clock) = noted(&bench, 100);
    log.append(Stdout, b"a");
    advance(&clock, 1000);
    log.append(Stdout, b"b");
    drop(log);
    let stored = fs::read(beside(&bench)).expect("the notes");
    fs::write(beside(&bench), &stored[..stored.len() - 3]).expect("a cut");
    assert_eq!(notes(&bench), [(at(0), 0, Stdout)]);

    let log = RunLog::open(&bench.log_path(), 100).expect("a log");
    let mut log = log.noted_by(Arc::new(clock));
    log.append(Stderr, b"c");
    assert_eq!(notes(&bench), [(at(0), 0, Stdout), (at(1000), 2, Stderr)]);
}

#[test]
fn notes_that_cannot_be_written_or_read_cost_no_output() {
    let bench = Bench::new();
    fs::create_dir_all(beside(&bench)).expect("a folder in their place");
    let (mut log, clock) = noted(&bench, 4);
    for _ in 0..3 {
        log.append(Stdout, b"ab");
        advance(&clock, 1000);
    }
    assert_eq!(log.finish().fault, None);
    assert_eq!(bench.log(), "ab\n[... 2 bytes left out ...]\nab");
    let slice = read_log(&bench.log_path(), 0, 100).expect("a slice");
    assert_eq!(slice.content(), bench.log());
}

#[test]
fn the_notes_of_a_long_run_stay_few() {
    let bench = Bench::new();
    let (mut log, clock) = noted(&bench, 1 << 20);
    for _ in 0..100_000 {
        log.append(Stdout, b"x");
        advance(&clock, 1000);
    }
    log.finish();
    let notes = notes(&bench);
    assert!(notes.len() < 50_000, "{}", notes.len());
    assert!(notes.is_sorted());
}

#[test]
fn a_program_that_alternates_has_bounded_notes_even_when_its_log_is_continued() {
    let bench = Bench::new();
    let clock = SettableClock::default();
    let changes = 32_768;
    let alternate = |times: u64| {
        let log = RunLog::open(&bench.log_path(), 1 << 20).expect("a log");
        let mut log = log.noted_by(Arc::new(clock.clone()));
        for _ in 0..times {
            log.append(Stdout, b"o");
            log.append(Stderr, b"e");
        }
        log.finish();
        beside(&bench).metadata().expect("the notes").len() / NOTE_LEN
    };
    assert_eq!(alternate(10_000), 20_000);
    assert_eq!(alternate(10_000), changes);
    // The first note of a log that is continued is due at once; then come those
    // of the spans alone, of which each is four seconds long by now.
    assert_eq!(alternate(10_000), changes + 1);
    advance(&clock, 4000);
    let (begin, written) = (changes + 1, bench.log().len() as u64);
    assert_eq!(alternate(10), begin + 1);
    let last = *notes(&bench).last().expect("a note");
    assert_eq!(last, (at(4000), written, Stdout));
    let parts = parts(&bench);
    let last = parts.last().expect("a part");
    assert_eq!((last.stream, &*last.text), (Stdout, &*"oe".repeat(10)));
}

fn streams() -> impl Strategy<Value = LogStream> {
    prop_oneof![Just(Stdout), Just(Stderr)]
}

proptest! {
    #[test]
    fn each_byte_that_is_kept_is_told_with_its_stream_and_not_before_its_time(
        pieces in prop::collection::vec((1_usize..40, 0_u64..3000, streams()), 1..40),
        cap in 2_usize..300,
        dies in any::<bool>(),
    ) {
        let bench = Bench::new();
        let (mut log, clock) = noted(&bench, cap as u64);
        let mut written = Vec::new();
        for (length, pause, stream) in pieces {
            log.append(stream, &vec![b'x'; length]);
            written.extend(vec![(stream, clock.now()); length]);
            advance(&clock, pause);
        }
        if dies {
            drop(log);
            RunLog::recover(&bench.log_path()).expect("a recovery");
        } else {
            log.finish();
        }
        let head = written.len().min(cap / 2);
        let tail = (written.len() - head).min(cap - cap / 2);
        let marker = bench.log().len() - head - tail;
        let gap = vec![(System, at(1_000_000)); marker];
        let expected = [&written[..head], &gap, &written[written.len() - tail..]].concat();
        let told: Vec<_> = parts(&bench)
            .into_iter()
            .flat_map(|part| vec![(part.stream, part.at.expect("a note")); part.text.len()])
            .collect();
        prop_assert_eq!(told.len(), expected.len());
        for (place, (told, expected)) in told.iter().zip(&expected).enumerate() {
            prop_assert_eq!(told.0, expected.0, "at {}", place);
            prop_assert!(told.1 <= expected.1, "at {}", place);
        }
        prop_assert!(notes(&bench).windows(2).all(|two| two[0].0 <= two[1].0 && two[0].1 < two[1].1));
    }

    #[test]
    fn parts_make_up_the_text_wherever_it_is_cut_and_noted(
        text in prop::collection::vec(
            prop_oneof![Just(&b"a"[..]), Just("é\n".as_bytes()), Just("😀€".as_bytes()), Just(&b"\xFF\xE2\x82"[..])],
            1..20,
        ),
        cuts in prop::collection::vec((1_usize..8, streams()), 1..40),
        limit in 4_usize..40,
    ) {
        let bench = Bench::new();
        let (mut log, clock) = noted(&bench, 1 << 20);
        let text = text.concat();
        let mut rest = &text[..];
        for (length, stream) in cuts.into_iter().cycle() {
            let (piece, later) = rest.split_at(length.min(rest.len()));
            log.append(stream, piece);
            advance(&clock, 400);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        log.finish();
        let (mut offset, mut read) = (0, String::new());
        loop {
            let slice = read_log(&bench.log_path(), offset, limit).expect("a slice");
            if slice.next_offset == offset {
                break;
            }
            for part in &slice.parts {
                prop_assert!(!part.text.is_empty());
                let alone = read_log(&bench.log_path(), part.offset, 1 << 20).expect("a slice");
                prop_assert!(alone.content().starts_with(&part.text), "{:?}", part);
            }
            read.push_str(&slice.content());
            offset = slice.next_offset;
        }
        let complete = &text[..usize::try_from(offset).expect("a length")];
        prop_assert_eq!(read, String::from_utf8_lossy(complete));
        prop_assert!(text.len() - complete.len() < 4);
    }
}
