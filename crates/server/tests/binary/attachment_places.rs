//! Where the bytes of attachments are, and what is said of those that are not there.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::backups::{succeeds, workforce};
use crate::harness::{Server, attachments_in, binary, folder};
use crate::office::{Database, Office, on_both};

const KEY: (&str, &str) = (
    "WORKFORCE_MASTER_KEY",
    "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
);

/// Attaches a file; the path of its content.
fn attach(server: &Server, office: &Office) -> String {
    let path = format!(
        "/api/companies/{}/issues/{}/attachments",
        office.company, office.issue
    );
    let (status, attachment) = server.upload(&path, "file");
    assert_eq!(status, 201, "{attachment}");
    format!(
        "/api/attachments/{}/content",
        attachment["id"].as_str().unwrap()
    )
}

/// The one file of an attachment in a folder.
fn only_file(attachments: &Path, office: &Office) -> PathBuf {
    let company = attachments.join(&office.company);
    let file = fs::read_dir(company).unwrap().next().unwrap();
    file.unwrap().path()
}

fn stop(server: Server) {
    server.signal(Signal::SIGTERM);
    server.wait();
}

fn refused(data: &Path, flags: &[&str]) -> String {
    match Server::try_start_with(data, flags, &[KEY]) {
        Ok(_started) => panic!("it starts"),
        Err(log) => log,
    }
}

on_both! {
    fn a_missing_file_is_told_wherever_somebody_looks(database) {
        let (data, elsewhere) = (folder(), folder());
        let server = Server::start_with(data.path(), &database.flags(), &[KEY]);
        let office = Office::open(&server);
        let content = attach(&server, &office);
        let file = only_file(&data.path().join("attachments"), &office);
        let aside = elsewhere.path().join("aside");
        let missing = || server.get("/api/health/ready")["missingAttachments"].clone();
        let name = format!("{}/{}", office.company, file.file_name().unwrap().to_str().unwrap());
        for left in [None, Some("fi")] {
            assert_eq!(missing(), 0);
            fs::rename(&file, &aside).unwrap();
            if let Some(left) = left {
                fs::write(&file, left).unwrap();
            }
            let (status, problem) = server.send("GET", &content, None, &Value::Null);
            assert_eq!((status, &problem["code"]), (410, &json!("attachment_missing")), "{problem}");
            assert_eq!(missing(), 1);
            let mut doctor = binary();
            doctor.args(["doctor", "--data-dir"]).arg(data.path()).args(database.flags());
            let told = doctor.env(KEY.0, KEY.1).output().unwrap();
            assert_eq!(told.status.code(), Some(1));
            assert!(String::from_utf8_lossy(&told.stdout).contains(&name));
            let backup = elsewhere.path().join("backup");
            let output = workforce("backup", &backup, data.path(), &database.flags());
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(1) && error.contains(&name), "{error}");
            assert!(!backup.exists());
            let flags = [database.flags(), vec!["--allow-missing"]].concat();
            succeeds(&workforce("backup", &backup, data.path(), &flags));
            fs::remove_dir_all(&backup).unwrap();
            fs::rename(&aside, &file).unwrap();
            assert_eq!(server.text(&content), (200, "file".to_owned()));
        }
        assert_eq!(missing(), 0);
    }

    fn attachments_may_be_moved(database) {
        let (data, other) = (folder(), folder());
        let server = Server::start_with(data.path(), &database.flags(), &[KEY]);
        let office = Office::open(&server);
        let content = attach(&server, &office);
        stop(server);
        // With the folder goes what says whose it is.
        let moved = other.path().join("attachments");
        fs::rename(data.path().join("attachments"), &moved).unwrap();
        let url = format!("file://{}", moved.display());
        let flags = [database.flags(), vec!["--attachments-url", &url]].concat();
        let server = Server::start_with(data.path(), &flags, &[KEY]);
        assert_eq!(server.text(&content).0, 200);
        stop(server);
        // Files that were copied without it are accepted only when told so.
        fs::remove_file(moved.join("workforce.attachments")).unwrap();
        let log = refused(data.path(), &flags);
        assert!(log.contains("--attachments-moved"), "{log}");
        let told = [flags.clone(), vec!["--attachments-moved"]].concat();
        stop(Server::start_with(data.path(), &told, &[KEY]));
        let server = Server::start_with(data.path(), &flags, &[KEY]);
        assert_eq!(server.text(&content).0, 200);
    }
}

#[test]
fn a_folder_with_files_of_others_is_not_taken_for_attachments() {
    let (data, files) = (folder(), folder());
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    fs::create_dir(files.path().join(id)).unwrap();
    fs::write(files.path().join(id).join(id), "not ours").unwrap();
    let url = format!("file://{}", files.path().display());
    for flags in [
        &["--attachments-url", &url][..],
        &["--attachments-url", &url, "--attachments-moved"],
    ] {
        let log = refused(data.path(), flags);
        assert!(log.contains("no attachments of this database"), "{log}");
    }
    // Nor once there are others of this database elsewhere.
    let server = Server::start(data.path());
    let office = Office::open(&server);
    let content = attach(&server, &office);
    stop(server);
    let told = ["--attachments-url", &url, "--attachments-moved"];
    let log = refused(data.path(), &told);
    assert!(log.contains("no attachments of this database"), "{log}");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 1);
    // A copy of its own is taken, whatever lies beside it.
    let own = files.path().join(&office.company);
    fs::create_dir(&own).unwrap();
    let from = only_file(&data.path().join("attachments"), &office);
    fs::copy(&from, own.join(from.file_name().unwrap())).unwrap();
    let server = Server::start_with(data.path(), &told, &[]);
    assert_eq!(server.text(&content), (200, "file".to_owned()));
}

#[test]
fn a_folder_that_lost_its_marker_is_not_taken_for_another() {
    let data = folder();
    let server = Server::start(data.path());
    attach(&server, &Office::open(&server));
    stop(server);
    let marker = data.path().join("attachments/workforce.attachments");
    let text = fs::read(&marker).unwrap();
    fs::remove_file(&marker).unwrap();
    let log = refused(data.path(), &[]);
    assert!(log.contains("Is its disk mounted?"), "{log}");
    for damaged in [&b"\xff\xfe"[..], b"x"] {
        fs::write(&marker, damaged).unwrap();
        let log = refused(data.path(), &[]);
        assert!(
            log.contains("is damaged") && log.contains("--attachments-moved"),
            "{log}"
        );
    }
    fs::write(&marker, text).unwrap();
    stop(Server::start(data.path()));
}

#[test]
fn servers_of_one_new_database_start_at_once() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (one, two, shared) = (folder(), folder(), folder());
    let (name, place) = attachments_in(shared.path());
    std::thread::scope(|scope| {
        for data in [one.path(), two.path()] {
            let (flags, place) = (database.flags(), &place);
            scope.spawn(move || stop(Server::start_with(data, &flags, &[KEY, (name, place)])));
        }
    });
}

#[test]
fn servers_of_one_database_keep_attachments_in_one_place() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (one, two, shared) = (folder(), folder(), folder());
    let first = Server::start_with(one.path(), &database.flags(), &[KEY]);
    let log = refused(two.path(), &database.flags());
    let place = format!(
        "file://{}",
        one.path()
            .canonicalize()
            .unwrap()
            .join("attachments")
            .display()
    );
    assert!(
        log.contains(&place) && log.contains("--attachments-url"),
        "{log}"
    );
    stop(first);

    let (name, place) = attachments_in(shared.path());
    let variables = [KEY, (name, place.as_str())];
    let told = [database.flags(), vec!["--attachments-moved"]].concat();
    let first = Server::start_with(one.path(), &told, &variables);
    let second = Server::start_with(two.path(), &database.flags(), &variables);
    let office = Office::open(&first);
    let content = attach(&first, &office);
    assert_eq!(second.text(&content), (200, "file".to_owned()));
}

#[test]
fn a_place_of_another_installation_is_refused() {
    let (one, two) = (folder(), folder());
    stop(Server::start(one.path()));
    let place = format!("file://{}", one.path().join("attachments").display());
    let log = refused(two.path(), &["--attachments-url", &place]);
    assert!(log.contains("attachments of another installation"), "{log}");
}
