//! A server uses a folder that is its own, and removes nothing there that it did not make.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;
use tempfile::TempDir;
use workforce_testkit::store::SideConnection;

use crate::backups::{names, succeeds, workforce};
use crate::harness::{PATIENCE, Server, binary, folder};
use crate::office::{Database, Office, on_both};

const MARKER: &str = "workforce.installation";
const OLD: Duration = Duration::from_secs(40 * 24 * 60 * 60);

/// Puts something under a name.
type Lay = fn(&Path);

/// Writes a file that is 40 days old.
fn old(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(&path).unwrap();
    file.set_modified(SystemTime::now() - OLD).unwrap();
    path
}

/// What a server says that does not start.
#[track_caller]
fn refusal(data: &Path, database: &Database) -> String {
    match Server::try_start_with(data, &database.flags(), &[]) {
        Ok(_started) => panic!("it starts"),
        Err(log) => log,
    }
}

/// Everything in a folder, with what files hold.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(name);
        match path.is_dir() {
            true => found.extend(content(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
    found
}

/// A data folder with something of everything, which no server uses now.
fn used(database: &Database) -> (TempDir, Office) {
    let data = folder();
    let often = [("WORKFORCE_SNAPSHOTS_SEC", "1")];
    let server = Server::start_with(data.path(), &database.flags(), &often);
    let office = Office::open(&server);
    office.works(&server);
    let company = format!("/api/companies/{}", office.company);
    let secret = json!({ "name": "TOKEN", "value": "value of TOKEN" });
    server.post(&format!("{company}/secrets"), &secret);
    let path = format!("{company}/issues/{}/attachments", office.issue);
    assert_eq!(server.upload(&path, "file").0, 201);
    if matches!(database, Database::Sqlite) {
        let begun = Instant::now();
        let snapshots = data.path().join("snapshots");
        // One that is not whole yet has another name.
        let is_whole = |name: &String| name.starts_with("workforce-");
        while !snapshots.is_dir() || !names(&snapshots).iter().any(is_whole) {
            assert!(begun.elapsed() < PATIENCE, "there is no snapshot");
            thread::sleep(Duration::from_millis(50));
        }
    }
    server.signal(Signal::SIGTERM);
    server.wait();
    (data, office)
}

/// Takes the database away, as a disk that was not mounted would.
fn lose(data: &Path, database: &Database) {
    match database {
        Database::Sqlite => {
            for name in ["workforce.db", "workforce.db-wal", "workforce.db-shm"] {
                let _ = fs::remove_file(data.join(name));
            }
        }
        Database::Postgres(database) => database.empty(),
    }
}

/// The exit code of the doctor, and what it says.
fn doctor(data: &Path, database: &Database) -> (Option<i32>, String) {
    let mut doctor = binary();
    doctor.args(["doctor", "--data-dir"]).arg(data);
    let output = doctor.args(database.flags()).output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(told).unwrap())
}

on_both! {
    fn a_folder_of_somebody_else_is_refused_and_stays_as_it_is(database) {
        let data = folder();
        let model = old(data.path().join("runs/exp1/model.pt"));
        // As other programs have it, too.
        fs::write(data.path().join("master.key"), "0123456789abcdef0123456789abcdef").unwrap();
        let before = content(data.path());
        let log = refusal(data.path(), database);
        let advice = format!("--data-dir {}", data.path().join("data").display());
        assert!(log.contains("no data of workforce") && log.contains(&advice), "{log}");
        assert_eq!(content(data.path()), before);
        assert!(model.exists());
        Server::start_with(&data.path().join("data"), &database.flags(), &[]);
    }

    fn a_database_that_is_gone_is_not_replaced(database) {
        let (data, _) = used(database);
        lose(data.path(), database);
        // What tickets left stays where it is: git knows worktrees by their places.
        for of_tickets in ["git", "worktrees"] {
            fs::create_dir_all(data.path().join(of_tickets)).unwrap();
        }
        let before = content(data.path());
        for _again in 0..2 {
            let log = refusal(data.path(), database);
            for word in ["gone or empty", "workforce restore", "--new-database", "attachments"] {
                assert!(log.contains(word), "{word} is not in {log}");
            }
            if matches!(database, Database::Sqlite) {
                let newest = names(&data.path().join("snapshots")).pop().unwrap();
                assert!(log.contains(&newest), "{newest} is not in {log}");
            }
            let (code, told) = doctor(data.path(), database);
            assert!(code != Some(0) && told.contains("gone or empty"), "{told}");
        }
        let after: Vec<_> = content(data.path()).into_iter().filter(|it| !it.0.ends_with("workforce.db.lock")).collect();
        let before: Vec<_> = before.into_iter().filter(|it| !it.0.ends_with("workforce.db.lock")).collect();
        assert_eq!(after, before);
        // Begun anew, all of the old is set aside, once.
        let mut flags = database.flags();
        flags.push("--new-database");
        for _again in 0..2 {
            let server = Server::start_with(data.path(), &flags, &[]);
            server.wait_until_ready();
            server.signal(Signal::SIGTERM);
            server.wait();
        }
        let aside: Vec<_> = names(data.path()).into_iter().filter(|it| it.starts_with("former-")).collect();
        assert_eq!(aside.len(), 1, "{aside:?}");
        let aside = data.path().join(&aside[0]);
        for (path, bytes) in before {
            let name = path.strip_prefix(data.path()).unwrap();
            let of_server = ["instances", "instances.lock", "board-token"];
            if !of_server.iter().any(|it| name.starts_with(it)) {
                assert_eq!(fs::read(aside.join(name)).unwrap(), bytes, "{}", name.display());
            }
        }
        Server::start_with(data.path(), &database.flags(), &[]).wait_until_ready();
    }

    fn a_database_of_another_program_is_refused_and_stays_as_it_is(database) {
        let data = folder();
        let file = data.path().join("workforce.db");
        let connection = match database {
            Database::Sqlite => file.to_str().unwrap(),
            Database::Postgres(database) => database.url(),
        };
        SideConnection::to(connection).execute("CREATE TABLE invoices (id integer)");
        let log = refusal(data.path(), database);
        assert!(log.contains("the table invoices of another program"), "{log}");
        SideConnection::to(connection).execute("DROP TABLE invoices");
        Server::start_with(data.path(), &database.flags(), &[]).wait_until_ready();
    }

    fn a_folder_without_a_marker_is_taken_and_marked(database) {
        let (data, office) = used(database);
        let marker = fs::read_to_string(data.path().join(MARKER)).unwrap();
        fs::remove_file(data.path().join(MARKER)).unwrap();
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        server.get(&format!("/api/issues/{}", office.issue));
        assert_eq!(fs::read_to_string(data.path().join(MARKER)).unwrap(), marker);
    }

    fn a_missing_master_key_is_not_replaced(database) {
        let (data, office) = used(database);
        let key = data.path().join("master.key");
        let lines = fs::read(&key).unwrap();
        fs::rename(&key, data.path().join("runs/kept.key")).unwrap();
        let log = refusal(data.path(), database);
        assert!(log.contains("the master key is missing"), "{log}");
        assert!(!key.exists());
        fs::rename(data.path().join("runs/kept.key"), &key).unwrap();
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        server.get(&format!("/api/issues/{}", office.issue));
        assert_eq!(fs::read(&key).unwrap(), lines);
    }

    fn what_cannot_be_a_file_or_folder_of_ours_is_refused_at_once(database) {
        let (data, _) = used(database);
        let at = |name: &str| data.path().join(name);
        let lay: [(&str, &str, Lay); 6] = [
            ("runs", "is a file", |it| fs::write(it, "x").unwrap()),
            ("runs", "is a link to nothing", |it| symlink("/nowhere/at/all", it).unwrap()),
            ("attachments", "is a link", |it| symlink("/tmp", it).unwrap()),
            ("master.key", "is a pipe", |it| mkfifo(it, Mode::S_IRWXU).unwrap()),
            ("board-token", "is a folder", |it| fs::create_dir(it).unwrap()),
            ("instances", "is a pipe", |it| mkfifo(it, Mode::S_IRWXU).unwrap()),
        ];
        for (name, says, lay) in lay {
            let was_there = at(name).symlink_metadata().is_ok();
            if was_there {
                fs::rename(at(name), at("runs-aside")).unwrap();
            }
            lay(&at(name));
            let log = refusal(data.path(), database);
            assert!(log.contains(says), "{log}");
            let (code, told) = doctor(data.path(), database);
            assert!(code == Some(2) && told.contains(says), "{told}");
            let backup = workforce("backup", &at("backup"), data.path(), &database.flags());
            assert!(!backup.status.success(), "a backup was made");
            match at(name).is_dir() && !at(name).is_symlink() {
                true => fs::remove_dir(at(name)).unwrap(),
                false => fs::remove_file(at(name)).unwrap(),
            }
            if was_there {
                fs::rename(at("runs-aside"), at(name)).unwrap();
            }
        }
        Server::start_with(data.path(), &database.flags(), &[]).wait_until_ready();
    }

    fn upkeep_removes_only_what_it_made(database) {
        let (data, office) = used(database);
        let at = |name: &str| data.path().join(name);
        let elsewhere = folder();
        let id = "01990000-0000-7000-8000-000000000000";
        let of_company = |part: &str, name: &str| at(part).join(&office.company).join(name);
        let kept = [
            old(at("runs/exp1/model.pt")),
            old(of_company("runs", "model.pt")),
            old(of_company("runs", &format!("{id}/notes.txt"))),
            old(at("snapshots/workforce-before-upgrade.db")),
            old(at("snapshots/notes.txt")),
            old(at("attachments/exp1/model.pt")),
            old(of_company("attachments", "model.pt")),
            old(of_company("attachments", &format!("{id}#x"))),
            old(at("agents/exp1/model.pt")),
            old(at("worktrees/exp1/model.pt")),
            old(at("backup/model.pt")),
            old(elsewhere.path().join(id)),
            old(elsewhere.path().join(format!("{id}.log"))),
        ];
        let links = [
            (at("runs").join(id), elsewhere.path().to_owned()),
            (at("attachments").join(id), elsewhere.path().to_owned()),
            (of_company("attachments", id), elsewhere.path().join(id)),
            (at("snapshots/workforce-20200101000000000000.db"), elsewhere.path().join(id)),
        ];
        for (link, target) in &links {
            symlink(target, link).unwrap();
        }
        // What the server would remove itself.
        let own_log = old(of_company("runs", &format!("{id}.log")));
        let own_object = old(of_company("attachments", &format!("{id}#1")));
        let often = [("WORKFORCE_SNAPSHOTS_SEC", "1"), ("WORKFORCE_ATTACHMENTS_SWEEP_SEC", "1")];
        let server = Server::start_with(data.path(), &database.flags(), &often);
        let begun = Instant::now();
        let is_enough = || {
            let made = names(&at("snapshots")).iter().filter(|it| it.starts_with("workforce-2026")).count();
            !own_log.exists() && !own_object.exists() && (made >= 7 || !matches!(database, Database::Sqlite))
        };
        while !is_enough() {
            assert!(begun.elapsed() < PATIENCE, "the server does not tidy up");
            thread::sleep(Duration::from_millis(50));
        }
        succeeds(&workforce("backup", &elsewhere.path().join("copy"), data.path(), &database.flags()));
        server.post(&format!("/api/companies/{}/archive", office.company), &json!({}));
        server.signal(Signal::SIGTERM);
        server.wait();
        let (_, told) = doctor(data.path(), database);
        for kept in &kept {
            assert!(kept.exists(), "{} is gone; {told}", kept.display());
        }
        for (link, _) in &links {
            assert!(link.is_symlink(), "{} is gone", link.display());
        }
    }
}

#[test]
fn a_damaged_database_is_told_with_a_way_on() {
    let (data, _) = used(&Database::Sqlite);
    let database = data.path().join("workforce.db");
    fs::write(&database, [b'x'; 8192]).unwrap();
    // Its log may have all that is missing.
    for log in ["workforce.db-wal", "workforce.db-shm"] {
        let _ = fs::remove_file(data.path().join(log));
    }
    let log = refusal(data.path(), &Database::Sqlite);
    let newest = names(&data.path().join("snapshots")).pop().unwrap();
    for word in ["workforce doctor", "workforce restore", &newest] {
        assert!(log.contains(word), "{word} is not in {log}");
    }
    assert_eq!(fs::read(&database).unwrap(), [b'x'; 8192]);
}

#[test]
fn a_folder_of_another_database_is_refused() {
    let (one, other) = (used(&Database::Sqlite).0, used(&Database::Sqlite).0);
    let url = format!("sqlite:{}", other.path().join("workforce.db").display());
    let Err(log) = Server::try_start_with(one.path(), &["--database-url", &url], &[]) else {
        panic!("it starts");
    };
    assert!(log.contains("belongs to another database"), "{log}");
    // Its own database opens as before.
    Server::start(one.path()).wait_until_ready();
}
