use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use workforce_domain::port::LogStream::Stdout;
use workforce_guard::{RunLog, TAIL_LEN, read_log};

use crate::support::Bench;

fn mode(path: &Path) -> u32 {
    path.metadata().expect("a file").permissions().mode() & 0o777
}

#[test]
fn a_log_below_its_cap_is_what_was_written() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 100).expect("a log");
    log.append(Stdout, &[b'a'; 30]);
    log.append(Stdout, &[b'b'; 70]);
    let summary = log.finish();
    assert_eq!((summary.total_bytes, summary.left_out_bytes), (100, 0));
    assert_eq!(bench.log(), "a".repeat(30) + &"b".repeat(70));
    assert_eq!(summary.tail, bench.log());
    assert!(!bench.path("logs/run.log.tail").exists());
}

#[test]
fn a_log_above_its_cap_keeps_head_and_tail_to_the_byte() {
    // Pieces that fit the ring, that do not divide it, and that exceed it.
    for piece in [1, 7, 50, 333] {
        let bench = Bench::new();
        let text: Vec<u8> = (0..1000).map(|number| b'a' + (number % 26) as u8).collect();
        let mut log = RunLog::open(&bench.log_path(), 101).expect("a log");
        text.chunks(piece)
            .for_each(|chunk| log.append(Stdout, chunk));
        let summary = log.finish();
        assert_eq!((summary.total_bytes, summary.left_out_bytes), (1000, 899));
        let expected = [
            &text[..50],
            b"\n[... 899 bytes left out ...]\n",
            &text[949..],
        ];
        assert_eq!(bench.log().into_bytes(), expected.concat(), "{piece}");
        assert_eq!(summary.tail.as_bytes(), text);
    }
}

#[test]
fn only_its_owner_can_read_a_log() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 10).expect("a log");
    log.append(Stdout, &[0; 20]);
    assert_eq!(mode(&bench.path("logs")), 0o700);
    assert_eq!(mode(&bench.log_path()), 0o600);
    assert_eq!(mode(&bench.path("logs/run.log.tail")), 0o600);
}

#[test]
fn a_log_is_read_while_it_is_written_and_offsets_stay_valid() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 20).expect("a log");
    log.append(Stdout, b"0123456789");
    let first = read_log(&bench.log_path(), 0, 100).expect("a slice");
    assert_eq!(first.content(), "0123456789");
    assert_eq!(first.next_offset, first.total);

    log.append(Stdout, b"abcdefghijklmn");
    let waiting = read_log(&bench.log_path(), first.next_offset, 100).expect("a slice");
    assert_eq!(waiting.content(), "");
    assert_eq!(waiting.next_offset, waiting.total);

    log.finish();
    let rest = read_log(&bench.log_path(), first.next_offset, 100).expect("a slice");
    assert_eq!(rest.content(), "\n[... 4 bytes left out ...]\nefghijklmn");
}

#[test]
fn characters_are_not_damaged_wherever_a_slice_ends() {
    let bench = Bench::new();
    let text = "aé€😀 한국어 ";
    std::fs::create_dir(bench.path("logs")).expect("a folder");
    std::fs::write(bench.log_path(), text.repeat(5)).expect("a log");
    for limit in 0..20 {
        let mut read = String::new();
        let mut offset = 0;
        loop {
            let slice = read_log(&bench.log_path(), offset, limit).expect("a slice");
            assert!(
                slice.next_offset > offset,
                "it gets on with a limit of {limit}"
            );
            read.push_str(&slice.content());
            offset = slice.next_offset;
            if offset == slice.total {
                break;
            }
        }
        assert_eq!(read, text.repeat(5), "with a limit of {limit}");
    }
}

#[test]
fn a_character_that_is_not_complete_yet_is_left_for_later() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 100).expect("a log");
    log.append(Stdout, b"x\xF0\x9F");
    let slice = read_log(&bench.log_path(), 0, 100).expect("a slice");
    assert_eq!(
        (slice.content().as_str(), slice.next_offset, slice.total),
        ("x", 1, 3)
    );
    log.append(Stdout, b"\x98\x80");
    let slice = read_log(&bench.log_path(), 1, 100).expect("a slice");
    assert_eq!(slice.content(), "😀");
}

#[test]
fn bytes_that_are_no_text_are_shown_and_passed() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 100).expect("a log");
    log.append(Stdout, b"\xFF\xFE\x80\x80\x80\x80ok\xC0");
    let slice = read_log(&bench.log_path(), 0, 100).expect("a slice");
    assert_eq!(slice.next_offset, 9);
    assert!(slice.content().ends_with("ok\u{FFFD}"));
}

#[test]
fn an_offset_beyond_the_end_reads_nothing() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 100).expect("a log");
    log.append(Stdout, b"abc");
    let slice = read_log(&bench.log_path(), 500, 100).expect("a slice");
    assert_eq!((slice.content().as_str(), slice.next_offset), ("", 500));
    assert_eq!(slice.total, 3);
    assert!(read_log(&bench.path("none"), 0, 100).is_err());
}

#[test]
fn what_a_dead_server_left_of_a_log_is_finished_once() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 20).expect("a log");
    log.append(Stdout, b"0123456789abcdefghijklmn");
    drop(log);
    assert_eq!(bench.log(), "0123456789");

    assert!(RunLog::recover(&bench.log_path()).expect("a recovery"));
    assert!(!RunLog::recover(&bench.log_path()).expect("a recovery"));

    assert_eq!(
        bench.log(),
        "0123456789\n[... 4 bytes left out ...]\nefghijklmn"
    );
}

#[test]
fn a_log_that_exists_is_continued() {
    let bench = Bench::new();
    for text in ["first\n", "second\n"] {
        let mut log = RunLog::open(&bench.log_path(), 100).expect("a log");
        log.append(Stdout, text.as_bytes());
        assert_eq!(log.finish().total_bytes, text.len() as u64);
    }
    assert_eq!(bench.log(), "first\nsecond\n");
}

#[test]
fn the_tail_is_short_and_begins_with_a_character() {
    let bench = Bench::new();
    let mut log = RunLog::open(&bench.log_path(), 1 << 20).expect("a log");
    log.append(Stdout, "€".repeat(TAIL_LEN).as_bytes());
    let tail = log.finish().tail;
    assert_eq!(tail, "€".repeat(TAIL_LEN / 3));
}
