//! The files in which an agent program tells what it uses while it runs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;
use workforce_agent_programs::{AgentProgram, SessionId};
use workforce_guard::{JudgedBy, RunReport, Start};

use crate::support::{Bench, NO_LIMITS, eventually};

const SESSION: &str = "01a2088f-0de3-7d23-975b-858a5fb35bf5";
const MISSING: &str = "[the usage file of the program was not found";

/// A program that tells its session, in whose home `script` then works. `$1` is the
/// folder of the files, `$2` the file of the session, `$3` a record of 10 tokens.
fn start(bench: &Bench, script: &str) -> Start {
    let script = format!(
        "F=\"$1/2026/11/23\"; mkdir -p \"$F\"; \
         tell() {{ echo '{{\"type\":\"thread.started\",\"thread_id\":\"{SESSION}\"}}'; }}; {script}"
    );
    let folder = bench.path("home/.codex/sessions");
    let file = file(bench);
    let [folder, file] = [folder, file].map(|path| path.to_str().expect("text").to_owned());
    let arguments = ["-c", &script, "sh", &folder, &file, &record(10)];
    let mut start = bench.spec("/bin/sh", &arguments);
    fs::create_dir_all(bench.path("home")).expect("a home");
    let home = start.environment.set("HOME", bench.path("home"));
    home.expect("a variable");
    start.judged_by = JudgedBy::Output(AgentProgram::Codex);
    start
}

fn file(bench: &Bench) -> PathBuf {
    let name = format!("rollout-2026-11-23T13-18-42-{SESSION}.jsonl");
    bench.path("home/.codex/sessions/2026/11/23").join(name)
}

fn record(input: u64) -> String {
    format!(
        r#"{{"type":"token_usage_record","payload":{{"thread_id":"{SESSION}","usage":{{"input_tokens":{input},"output_tokens":0}}}}}}"#
    )
}

fn input(report: &RunReport) -> u64 {
    report.usage.iter().map(|usage| usage.tokens.input).sum()
}

/// What a run of `script` used, and its log.
async fn used(bench: &Bench, script: &str) -> (u64, String) {
    let began = Instant::now();
    let report = bench.run(start(bench, script), NO_LIMITS).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{script}");
    (input(&report), bench.log())
}

#[tokio::test]
async fn what_the_file_tells_is_told_while_the_program_runs_and_kept_when_it_is_killed() {
    let bench = Bench::new();
    let script = "echo \"$3\" > \"$2\"; tell; sleep 60";
    let mut running = bench.start(start(&bench, script)).await;
    let files = bench.files();
    eventually("the use is told", || {
        let (uses, _) = files.uses_from(0).expect("events");
        uses.iter().map(|used| used.usage.tokens.input).eq([10])
    })
    .await;
    running.guard.kill().await;
    assert_eq!(input(&running.ended().await), 10);
    assert!(!bench.log().contains(MISSING));
}

#[tokio::test]
async fn what_is_written_last_counts_too() {
    let bench = Bench::new();
    assert_eq!(used(&bench, "tell; echo \"$3\" > \"$2\"").await.0, 10);
    let bench = Bench::new();
    let script = "tell; exec >&- 2>&-; sleep 0.7; echo \"$3\" > \"$2\"";
    assert_eq!(used(&bench, script).await.0, 10);
}

/// The sum that the output tells has what the file told already.
#[tokio::test]
async fn file_and_output_are_not_counted_twice() {
    let sum = r#"{"type":"turn.completed","usage":{"input_tokens":15,"output_tokens":0}}"#;
    for wait in ["", "sleep 0.4;"] {
        let bench = Bench::new();
        let script = format!("tell; echo \"$3\" > \"$2\"; {wait} echo '{sum}'");
        assert_eq!(used(&bench, &script).await.0, 15);
    }
}

#[tokio::test]
async fn of_a_session_that_goes_on_only_what_is_new_counts() {
    let bench = Bench::new();
    let folder = file(&bench);
    fs::create_dir_all(folder.parent().expect("a folder")).expect("a folder");
    fs::write(&folder, record(1000) + "\n").expect("a file");
    let mut start = start(&bench, "tell; echo \"$3\" >> \"$2\"; sleep 0.4");
    start.resumed = SessionId::parse(SESSION).ok();
    assert_eq!(input(&bench.run(start, NO_LIMITS).await), 10);
}

/// It could be an older one that was put there.
#[tokio::test]
async fn a_file_that_comes_to_a_session_that_goes_on_is_not_counted() {
    let bench = Bench::new();
    let mut start = start(&bench, "tell; echo \"$3\" >> \"$2\"; sleep 0.4");
    start.resumed = SessionId::parse(SESSION).ok();
    assert_eq!(input(&bench.run(start, NO_LIMITS).await), 0);
    assert!(bench.log().contains(MISSING));
}

#[tokio::test]
async fn a_home_of_its_own_is_looked_into() {
    let bench = Bench::new();
    let mut start = start(&bench, "tell; echo \"$3\" > \"$2\"");
    let moved = bench.path("home/.codex");
    let other = bench.path("nowhere");
    fs::create_dir(&other).expect("a folder");
    let environment = &mut start.environment;
    let set = environment
        .set("HOME", other)
        .and_then(|it| it.set("CODEX_HOME", moved));
    set.expect("variables");
    assert_eq!(input(&bench.run(start, NO_LIMITS).await), 10);
}

#[tokio::test]
async fn a_file_that_is_not_found_is_noted_once() {
    let bench = Bench::new();
    let (used, log) = used(&bench, "tell; tell; sleep 0.4; tell").await;
    assert_eq!(used, 0);
    assert_eq!(log.matches(MISSING).count(), 1, "{log}");
    // A program that told no session has no file.
    let bench = Bench::new();
    assert!(!self::used(&bench, "exit 1").await.1.contains(MISSING));
}

/// Each of these leads to something that is no file of the program, or to one that is
/// not its own.
#[tokio::test]
async fn only_a_file_right_in_the_home_is_read() {
    for script in [
        "echo \"$3\" > foreign; ln -s \"$PWD/foreign\" \"$2\"",
        "mkdir foreign; rmdir \"$F\"; ln -s \"$PWD/foreign\" \"$F\"; echo \"$3\" > \"$2\"",
        "mkdir foreign; rm -r \"$HOME/.codex\"; ln -s \"$PWD/foreign\" \"$HOME/.codex\"; \
         mkdir -p \"$F\"; echo \"$3\" > \"$2\"",
        "mkfifo \"$2\"",
        "mkfifo \"$2\"; (sleep 0.3; echo \"$3\") <> \"$2\" >&0 & true",
        "mkdir \"$2\"",
        "ln -s /dev/zero \"$2\"",
        "ln -s \"$2\" \"$2\"",
        "echo \"$3\" > \"$2.gz\"; echo \"$3\" > \"$F/x$(basename \"$2\")\"",
    ] {
        let bench = Bench::new();
        let (used, log) = used(&bench, &format!("{script}; tell; sleep 0.6")).await;
        assert_eq!(used, 0, "{script}");
        assert!(log.contains(MISSING), "{script}");
    }
}

/// Only root can give a file away.
#[tokio::test]
async fn a_file_of_another_user_is_not_read() {
    let bench = Bench::new();
    let script = "echo \"$3\" > \"$2\"; chown 54321 \"$2\"; tell";
    let expected = if geteuid().is_root() { 0 } else { 10 };
    assert_eq!(used(&bench, script).await.0, expected);
}

/// What is in the place of the file that was found is not looked at.
#[tokio::test]
async fn a_file_that_is_replaced_or_cut_tells_no_more() {
    for script in [
        "echo \"$3\" > new; mv new \"$2\"",
        "rm \"$2\"; mkfifo \"$2\"",
        "rm \"$2\"; ln -s /dev/zero \"$2\"",
        ": > \"$2\"; sleep 0.4; echo '{}' > \"$2\"",
        "rm -r \"$1\"",
    ] {
        let bench = Bench::new();
        let script = format!("tell; echo \"$3\" > \"$2\"; sleep 0.6; {script}; sleep 0.4");
        assert_eq!(used(&bench, &script).await.0, 10, "{script}");
    }
}

#[tokio::test]
async fn a_file_of_any_size_holds_nobody_up() {
    for script in [
        // 10 GB of nothing.
        "truncate -s 10G \"$2\"",
        // A line without an end, after which nothing is read.
        "head -c 20000000 /dev/zero | tr '\\0' '{' > \"$2\"",
    ] {
        let bench = Bench::new();
        let script = format!("tell; {script}; sleep 0.4");
        assert_eq!(used(&bench, &script).await.0, 0, "{script}");
    }
    // A record after a line that was too long.
    let bench = Bench::new();
    let script = "tell; (head -c 5000000 /dev/zero | tr '\\0' '{'; echo; echo \"$3\") > \"$2\"";
    assert_eq!(used(&bench, script).await.0, 10);
}

/// Neither many folders nor false figures make it more than that.
#[tokio::test]
async fn many_folders_and_false_figures_are_borne() {
    // In memory, for disks take long to remove so many.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let bench = Bench { folder };
    let script = "(cd \"$1\"; seq 3000 9000 | xargs mkdir); tell; echo \"$3\" > \"$2\"; sleep 1";
    assert_eq!(used(&bench, script).await.0, 0);
    let bench = Bench::new();
    let script = "tell; for figure in -5 1e300 99999999999999999999 '\"7\"' 7; do \
                  echo \"$3\" | sed \"s/:10,/:$figure,/\"; done > \"$2\"";
    assert_eq!(used(&bench, script).await.0, 7);
}
