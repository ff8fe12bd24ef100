//! A server whose standard error does not take what it is given.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;

use crate::harness::{Server, folder};
use crate::office::{Database, Office, on_both};

/// Everything that is logged, which is a lot.
const EVERYTHING: (&str, &str) = ("WORKFORCE_LOG", "trace");

/// Starts a server, spoils its standard error by `spoil`, and has it run an
/// agent and stop; its counters before it stopped.
fn lives_and_stops(database: &Database, stderr: impl Into<Stdio>, spoil: impl FnOnce()) -> String {
    let data = folder();
    let variables = [(EVERYTHING.0, OsStr::new(EVERYTHING.1))];
    let server = Server::start_unheard(data.path(), &database.flags(), &variables, stderr);
    let office = Office::open(&server);
    spoil();
    for _ in 0..3 {
        office.works(&server);
    }
    let ready = server.wait_for_answer("/api/health/ready", |status, _| status == 200);
    assert_eq!(ready["status"], "ready");
    let metrics = server.metrics();
    assert!(
        metrics.contains("workforce_task_up{task=\"dispatcher\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("workforce_task_restarts_total{task=\"dispatcher\"} 0\n"),
        "{metrics}"
    );
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0), "SIGTERM ends in good order");
    metrics
}

/// How many lines were lost, by the counters.
fn lost(metrics: &str) -> u64 {
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("workforce_log_lines_lost_total "));
    line.unwrap().parse().unwrap()
}

on_both! {
    fn a_closed_standard_error_stops_nothing(database) {
        let (reader, writer) = std::io::pipe().unwrap();
        let metrics = lives_and_stops(database, writer, || drop(reader));
        assert!(lost(&metrics) > 0, "{metrics}");
    }

    fn a_full_disk_of_the_log_stops_nothing(database) {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let metrics = lives_and_stops(database, full, || ());
        assert!(lost(&metrics) > 0, "{metrics}");
    }

    fn a_log_that_nobody_reads_stops_nothing(database) {
        let (_reader, mut writer) = std::io::pipe().unwrap();
        let length = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
        writer.write_all(&vec![b'x'; length.try_into().unwrap()]).unwrap();
        lives_and_stops(database, writer, || ());
    }
}
