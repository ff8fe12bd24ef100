use std::sync::Arc;

use tokio::sync::watch;
use workforce_engine::process::{
    ChildOutcome, Exit, OutputSinks, OutputSource, RunLog, Scrub, supervise,
};

use crate::support::{Bench, NO_LIMITS};

async fn observed(bench: &Bench, script: &str, cap: u64) -> (ChildOutcome<()>, Vec<u8>) {
    let child = bench.start(bench.shell(script)).await;
    let mut seen = Vec::new();
    let sinks = OutputSinks {
        log: RunLog::open(&bench.log_path(), cap).expect("a log"),
        scrub: None,
        on_stdout: &mut |chunk| seen.extend_from_slice(chunk),
    };
    let (_sender, stop) = watch::channel(None);
    let outcome = supervise(child, NO_LIMITS, sinks, Arc::default(), stop).await;
    (outcome, seen)
}

#[tokio::test]
async fn both_streams_are_kept_and_standard_output_is_observed() {
    let bench = Bench::new();
    let script = "echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three";
    let (outcome, seen) = observed(&bench, script, 1 << 20).await;
    assert_eq!(bench.log(), "one\ntwo\nthree\n");
    assert_eq!(seen, b"one\nthree\n");
    assert_eq!(outcome.log.tail, bench.log());
    assert_eq!(outcome.log.fault, None);
}

#[tokio::test]
async fn a_line_of_any_length_passes() {
    let bench = Bench::new();
    let script = "head -c 200000 /dev/zero | tr '\\0' x; echo";
    let (outcome, seen) = observed(&bench, script, 1 << 20).await;
    assert_eq!(outcome.log.total_bytes, 200_001);
    assert_eq!(seen.len(), 200_001);
    assert_eq!(bench.log(), "x".repeat(200_000) + "\n");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_as_they_are() {
    let bench = Bench::new();
    let (_, seen) = observed(&bench, "printf '\\000\\377\\200\\n'", 1 << 20).await;
    assert_eq!(seen, b"\x00\xFF\x80\n");
    assert_eq!(std::fs::read(bench.log_path()).expect("a log"), seen);
}

#[tokio::test]
async fn output_beyond_the_cap_is_counted_and_does_not_stop_the_run() {
    let bench = Bench::new();
    let script = "head -c 3000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 5";
    let (outcome, _) = observed(&bench, script, 100_000).await;
    assert_eq!(outcome.exit, Some(Exit::Code(5)));
    assert_eq!(outcome.log.total_bytes, 4_000_000);
    assert_eq!(outcome.log.left_out_bytes, 3_900_000);
    let marker = "\n[... 3900000 bytes left out ...]\n";
    assert_eq!(bench.log().len(), 100_000 + marker.len());
}

/// Holds everything back and lets go of it without its secret.
struct Censor {
    held: Vec<u8>,
}

impl Scrub for Censor {
    fn scrub(&mut self, _: OutputSource, chunk: &[u8], _: &mut Vec<u8>) {
        self.held.extend_from_slice(chunk);
    }

    fn finish(&mut self, clean: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(&self.held);
        clean.extend_from_slice(text.replace("hush", "***").as_bytes());
    }
}

#[tokio::test]
async fn only_scrubbed_output_is_stored() {
    let bench = Bench::new();
    let child = bench
        .start(bench.shell("printf hu; sleep 0.05; echo sh"))
        .await;
    let sinks = OutputSinks {
        log: bench.run_log(),
        scrub: Some(Box::new(Censor { held: Vec::new() })),
        on_stdout: &mut |_| (),
    };
    let (_sender, stop) = watch::channel(None::<()>);
    let outcome = supervise(child, NO_LIMITS, sinks, Arc::default(), stop).await;
    assert_eq!(bench.log(), "***\n");
    assert_eq!(outcome.log.tail, "***\n");
}
