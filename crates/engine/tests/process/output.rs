use workforce_domain::port::LogStream;
use workforce_guard::{Exit, RunReport, Start, read_log};

use crate::support::{Bench, NO_LIMITS};

async fn with_cap(bench: &Bench, script: &str, log_cap: u64) -> RunReport {
    let start = Start {
        log_cap,
        ..bench.shell(script)
    };
    bench.run(start, NO_LIMITS).await
}

#[tokio::test]
async fn both_streams_are_kept_in_their_order() {
    let bench = Bench::new();
    let script = "echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three";
    let report = with_cap(&bench, script, 1 << 20).await;
    assert_eq!(bench.log(), "one\ntwo\nthree\n");
    assert_eq!(report.log.tail, bench.log());
    assert_eq!(report.log.fault, None);
}

#[tokio::test]
async fn a_line_of_any_length_passes() {
    let bench = Bench::new();
    let script = "head -c 200000 /dev/zero | tr '\\0' x; echo";
    let report = with_cap(&bench, script, 1 << 20).await;
    assert_eq!(report.log.total_bytes, 200_001);
    assert_eq!(bench.log(), "x".repeat(200_000) + "\n");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_as_they_are() {
    let bench = Bench::new();
    with_cap(&bench, "printf '\\000\\377\\200\\n'", 1 << 20).await;
    let stored = std::fs::read(bench.log_path()).expect("a log");
    assert_eq!(stored, b"\x00\xFF\x80\n");
}

#[tokio::test]
async fn output_beyond_the_cap_is_counted_and_does_not_stop_the_run() {
    let bench = Bench::new();
    let script = "head -c 3000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 5";
    let report = with_cap(&bench, script, 100_000).await;
    assert_eq!(report.exit, Some(Exit::Code(5)));
    assert_eq!(report.log.total_bytes, 4_000_000);
    assert_eq!(report.log.left_out_bytes, 3_900_000);
    let marker = "\n[... 3900000 bytes left out ...]\n";
    assert_eq!(bench.log().len(), 100_000 + marker.len());
}

#[tokio::test]
async fn only_scrubbed_output_is_stored() {
    let bench = Bench::new();
    let mut start = bench.shell("printf hush-; sleep 0.05; echo hush");
    start.secrets = vec!["hush-hush".to_owned()];
    let report = bench.run(start, NO_LIMITS).await;
    assert_eq!(bench.log(), "***REDACTED***\n");
    assert_eq!(report.log.tail, bench.log());
}

#[tokio::test]
async fn the_log_tells_which_stream_each_part_came_from() {
    let bench = Bench::new();
    // Each line waits until the one before it is in the log.
    let log = bench.log_path();
    let script = format!(
        "told() {{ until grep -q $1 {}; do sleep 0.01; done; }}; echo one; told one; \
         echo two >&2; told two; echo three; told three; \
         head -c 3000 /dev/zero | tr '\\0' x >&2",
        log.display(),
    );
    let mut start = bench.shell(&script);
    start.preamble = "the prompt\n".to_owned();
    start.log_cap = 2000;
    bench.run(start, NO_LIMITS).await;
    let slice = read_log(&bench.log_path(), 0, 1 << 20).expect("a slice");
    assert_eq!(slice.content(), bench.log());
    // What took longer than a second is in several parts.
    let told: Vec<_> = slice
        .parts
        .chunk_by(|one, next| one.stream == next.stream)
        .map(|same| {
            let text: String = same.iter().map(|part| part.text.as_str()).collect();
            (same[0].stream, text)
        })
        .collect();
    let (head, tail) = ("x".repeat(1000 - 25), "x".repeat(1000));
    let expected = [
        (LogStream::System, "the prompt\n"),
        (LogStream::Stdout, "one\n"),
        (LogStream::Stderr, "two\n"),
        (LogStream::Stdout, "three\n"),
        (LogStream::Stderr, &head),
        (LogStream::System, "\n[... 1025 bytes left out ...]\n"),
        (LogStream::Stderr, &tail),
    ]
    .map(|(stream, text)| (stream, text.to_owned()));
    assert_eq!(told, expected);
    assert!(slice.parts.iter().all(|part| part.at.is_some()));
}
