//! A server whose disk, or the disk of whose database, gets full and has room
//! again, or does not answer.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_testkit::postgres::{Cluster, ClusterError};
use workforce_testkit::store::SideConnection;

use crate::client::Sender;
use crate::faulty_disk::FaultyDisk;
use crate::harness::{PATIENCE, Server, folder};
use crate::office::{Database, Office, on_both};

const READY: &str = "/api/health/ready";

/// Makes issues with long descriptions until one is refused; those that were
/// acknowledged.
fn fill_up(server: &Server, office: &Office) -> Vec<String> {
    fill_up_with(server, office, 6000)
}

/// The same with descriptions of so many words. A request is acknowledged or refused with the one
/// code that says why.
fn fill_up_with(server: &Server, office: &Office, words: u32) -> Vec<String> {
    let path = format!("/api/companies/{}/issues", office.company);
    let long: String = (0..words).map(|number| format!("{number:x}-")).collect();
    let begun = Instant::now();
    let mut acknowledged = Vec::new();
    loop {
        let issue = json!({ "title": "More", "description": long });
        let (status, answer) = server.send("POST", &path, None, &issue);
        if status == 201 {
            acknowledged.push(answer["id"].as_str().unwrap().to_owned());
        } else {
            assert_eq!(
                (status, &answer["code"], &answer["retryable"]),
                (503, &json!("storage_full"), &json!(true)),
                "{answer}"
            );
            return acknowledged;
        }
        assert!(begun.elapsed() < PATIENCE, "the disk does not get full");
    }
}

/// The same by several at once, in the midst of which the disk gets full.
fn fill_up_in_the_midst(server: &Server, office: &Office, disk: &FaultyDisk) -> Vec<String> {
    let path = format!("/api/companies/{}/issues?limit=500", office.company);
    let count = |issues: &Value| issues.as_array().unwrap().len();
    let before = count(&server.get(&path));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| fill_up(server, office)))
            .collect();
        server.wait_for(&path, |issues| count(issues) >= before + 8);
        disk.fill();
        let acknowledged = writers.into_iter().map(|writer| writer.join().unwrap());
        acknowledged.collect::<Vec<_>>().concat()
    })
}

/// Everything that was acknowledged is there, and agents run again.
fn recovers(server: &Server, office: &Office, acknowledged: &[String]) {
    server.wait_for_answer(READY, |status, _| status == 200);
    for issue in acknowledged {
        server.get(&format!("/api/issues/{issue}"));
    }
    office.works(server);
    assert_eq!(
        server.upload(&uploads(office), "a file").0,
        201,
        "uploads are taken again"
    );
}

fn uploads(office: &Office) -> String {
    let Office { company, issue, .. } = office;
    format!("/api/companies/{company}/issues/{issue}/attachments")
}

fn not_ready(server: &Server) -> Value {
    let answer = server.wait_for_answer(READY, |status, _| status == 503);
    assert_eq!(answer["code"], "storage_full", "{answer}");
    answer
}

#[test]
fn a_full_data_disk_is_told_and_work_goes_on_when_there_is_room() {
    let data = folder();
    let disk = FaultyDisk::of(data.path().to_str().unwrap());
    let server = Server::start_unheard(data.path(), &[], &disk.variables(), Stdio::null());
    let office = Office::open(&server);
    office.works(&server);
    let mut acknowledged = Vec::new();
    // More than once: no fault may spoil the one connection that writes.
    for _ in 0..3 {
        acknowledged.extend(fill_up_in_the_midst(&server, &office, &disk));
        let answer =
            server.wait_for_answer(READY, |_, answer| answer["details"]["place"] == "data");
        assert_eq!(answer["details"]["freeBytes"], 0, "{answer}");
        not_ready(&server);
        let (status, answer) = server.upload(&uploads(&office), "a file");
        assert_eq!(
            (status, &answer["code"]),
            (503, &json!("storage_full")),
            "{answer}"
        );
        assert!(server.metrics().contains("workforce_storage_short 1\n"));
        // Reads go on.
        server.get(&format!("/api/issues/{}", office.issue));
        disk.free();
        recovers(&server, &office, &acknowledged);
    }
}

/// A server whose database lies on a small disk.
struct SmallDisk {
    data: TempDir,
    disk: FaultyDisk,
    server: Server,
    office: Office,
}

impl SmallDisk {
    fn new() -> Self {
        let data = folder();
        let disk = FaultyDisk::of("workforce.db");
        let server = Server::start_unheard(data.path(), &[], &disk.variables(), Stdio::null());
        let office = Office::open(&server);
        Self {
            data,
            disk,
            server,
            office,
        }
    }

    fn path(&self, end: &str) -> PathBuf {
        self.data.path().join(format!("workforce.db{end}"))
    }

    fn length(&self, end: &str) -> u64 {
        std::fs::metadata(self.path(end)).unwrap().len()
    }

    /// Leaves so much free.
    fn leave(&self, room: u64) {
        let used: u64 = ["", "-wal", "-shm"]
            .map(|end| self.length(end))
            .iter()
            .sum();
        self.disk.shrink(used + room);
    }

    /// Everything that was acknowledged is there, and writes are taken although nobody makes room.
    fn takes_writes_again(&self, acknowledged: &[String]) {
        let again = fill_up_at_last(&self.server, &self.office);
        for issue in acknowledged.iter().chain(&again) {
            self.server.get(&format!("/api/issues/{issue}"));
        }
    }
}

#[test]
fn a_log_that_a_reader_held_until_the_disk_was_full_is_taken_back_by_itself() {
    const MIB: u64 = 1024 * 1024;
    // Much that is left to copy, and little; with commits that are written in one piece and in
    // several.
    for (room, words) in [(24 * MIB, 6_000), (12 * MIB, 25_000), (12 * MIB, 500)] {
        let small = SmallDisk::new();
        let mut reader = SideConnection::to(small.path("").to_str().unwrap());
        reader.execute("BEGIN");
        reader.execute("SELECT count(*) FROM companies");
        small.leave(room);
        let acknowledged = fill_up_with(&small.server, &small.office, words);
        assert!(small.length("-wal") > room / 3, "the log takes the room");
        drop(reader);
        small.takes_writes_again(&acknowledged);
    }
}

#[test]
fn a_log_of_which_nothing_is_left_gives_its_room_to_a_full_disk() {
    let small = SmallDisk::new();
    let path = format!("/api/companies/{}/issues", small.office.company);
    let long = "word ".repeat(4_000);
    while small.length("-wal") < 8 * 1024 * 1024 {
        small
            .server
            .post(&path, &json!({ "title": "More", "description": long }));
    }
    SideConnection::to(small.path("").to_str().unwrap())
        .execute_all("PRAGMA wal_checkpoint(PASSIVE)");
    // Others have taken all but this.
    small.leave(256 * 1024);
    small.takes_writes_again(&[]);
}

#[test]
fn a_server_that_has_no_room_to_start_says_so() {
    let data = folder();
    let disk = FaultyDisk::of("workforce");
    drop(Server::start_with(data.path(), &[], &[]));
    disk.fill();
    let variables = disk.variables();
    let variables = variables.map(|(name, value)| (name, value.to_str().unwrap()));
    let refused = Server::try_start_with(data.path(), &[], &variables).err();
    let log = refused.expect("it starts");
    assert!(log.contains("no storage space"), "{log}");
    disk.free();
    Server::start_with(data.path(), &[], &variables).get("/api/companies");
}

/// Fills up once one is taken.
fn fill_up_at_last(server: &Server, office: &Office) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let acknowledged = fill_up(server, office);
        if !acknowledged.is_empty() {
            return acknowledged;
        }
        assert!(begun.elapsed() < PATIENCE, "the log is not copied");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_full_disk_of_the_database_server_is_told_and_work_goes_on_when_there_is_room() {
    let disk = FaultyDisk::of("/data/base/");
    let cluster = match Cluster::start_in(&disk.variables()) {
        Err(error @ ClusterError::NotInstalled) if std::env::var_os("CI").is_none() => {
            eprintln!("WARNING: a test on PostgreSQL is left out: {error}");
            return;
        }
        started => started.unwrap(),
    };
    let data = folder();
    let flags = ["--database-url", cluster.url()];
    let server = Server::start_unheard(data.path(), &flags, &[], Stdio::null());
    let office = Office::open(&server);
    office.works(&server);
    let acknowledged = fill_up_in_the_midst(&server, &office, &disk);
    let answer = not_ready(&server);
    assert_eq!(answer["details"]["place"], "database", "{answer}");
    disk.free();
    recovers(&server, &office, &acknowledged);
}

#[test]
fn a_run_that_cannot_be_laid_out_waits_for_room() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let data = folder();
    let disk = FaultyDisk::of(data.path().to_str().unwrap());
    // So that only the failure itself tells.
    let flags = [database.flags(), vec!["--min-free-bytes", "0"]].concat();
    let server = Server::start_unheard(data.path(), &flags, &disk.variables(), Stdio::null());
    let office = Office::open(&server);
    let path = format!("/api/agents/{}/instructions-bundle/file", office.agent);
    let file = json!({ "path": "notes.md", "content": "Work." });
    let (status, answer) = server.send("PUT", &path, None, &file);
    assert_eq!(status, 200, "{answer}");
    office.works(&server);

    disk.fill();
    let waiting = office.invoke(&server);
    let answer = not_ready(&server);
    assert_eq!(answer["details"]["place"], "data", "{answer}");
    assert_eq!(answer["details"]["freeBytes"], Value::Null, "{answer}");
    disk.free();
    office.wait_for_success(&server, &waiting);
}

on_both! {
    fn with_little_room_no_run_starts_and_no_upload_is_taken(database) {
        let data = folder();
        let disk = FaultyDisk::of(data.path().to_str().unwrap());
        let server =
            Server::start_unheard(data.path(), &database.flags(), &disk.variables(), Stdio::null());
        let office = Office::open(&server);
        office.works(&server);
        let activity = format!("/api/companies/{}/activity", office.company);
        let told = |activity: &Value, action: &str| {
            let rows = activity.as_array().unwrap().iter();
            rows.filter(|row| row["action"] == action).count()
        };

        disk.nearly_fill();
        let answer = not_ready(&server);
        assert_eq!(answer["details"]["minFreeBytes"], 256 * 1024 * 1024, "{answer}");
        server.wait_for(&activity, |activity| told(activity, "storage.low") == 1);
        let (status, answer) = server.upload(&uploads(&office), "a file");
        assert_eq!((status, &answer["code"]), (503, &json!("storage_full")), "{answer}");
        // It is taken, and waits.
        let waiting = office.invoke(&server);
        let ticks = server.get(&waiting);
        assert_eq!(ticks["status"], "queued", "{ticks}");

        disk.free();
        office.wait_for_success(&server, &waiting);
        let rows = server.wait_for(&activity, |activity| told(activity, "storage.recovered") == 1);
        assert_eq!(told(&rows, "storage.low"), 1, "told once: {rows}");
        recovers(&server, &office, &[]);
    }

    fn a_read_that_hangs_keeps_neither_others_waiting_nor_the_server_from_ending(database) {
        let data = folder();
        let disk = FaultyDisk::of("/runs/");
        let server =
            Server::start_unheard(data.path(), &database.flags(), &disk.variables(), Stdio::null());
        let office = Office::open(&server);
        let run = office.invoke(&server);
        office.wait_for_success(&server, &run);
        let log = format!("{run}/log");
        assert_eq!(server.text(&log).0, 200);

        disk.freeze();
        // More than the threads that usually read.
        let reads = 2 * std::thread::available_parallelism().unwrap().get();
        for _ in 0..reads {
            let (client, log) = (server.client(), log.clone());
            std::thread::spawn(move || client.send("GET", &log, Sender::default(), &Value::Null));
        }
        disk.wait_for_reads(reads as u64);
        server.get(&format!("/api/issues/{}", office.issue));
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait().code(), Some(0));
    }
}
