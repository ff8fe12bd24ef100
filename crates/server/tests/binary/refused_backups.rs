//! What is not backed up or restored, and changes nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::thread;

use crate::backups::{furnish, is_refused, names, succeeds, workforce};
use crate::harness::{Server, binary, folder, script};
use crate::office::{Database, Office, on_both};

on_both! {
    fn nothing_is_made_of_what_cannot_be_copied(database) {
        let (data, place) = (folder(), folder());
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        Office::open(&server);
        let backup = place.path().join("backup");
        succeeds(&workforce("backup", &backup, data.path(), &database.flags()));
        let whole = names(&backup);
        let again = workforce("backup", &backup, data.path(), &database.flags());
        is_refused(&again, "is there already");
        assert_eq!(names(&backup), whole);
        let foreign = "00".repeat(32);
        let mut restore = binary();
        restore.env("WORKFORCE_MASTER_KEY", foreign).arg("restore").arg(&backup);
        restore.args(database.flags()).arg("--data-dir").arg(place.path().join("new"));
        is_refused(&restore.output().unwrap(), "is not the one that the backup was sealed with");
        let used = workforce("restore", &backup, data.path(), &database.flags());
        is_refused(&used, "a server uses the data folder");
        assert_eq!(names(place.path()), ["backup"]);
        server.get("/api/companies");
    }
}

#[test]
fn a_backup_that_was_changed_is_refused_before_anything_is_made() {
    let (data, place) = (folder(), folder());
    let server = Server::start(data.path());
    let office = Office::open(&server);
    furnish(&server, &office);
    let backup = place.path().join("backup");
    succeeds(&workforce("backup", &backup, data.path(), &[]));
    let database = backup.join("workforce.db");
    let whole = std::fs::read(&database).unwrap();
    let attachments = names(&backup.join("attachments"));
    let attachments = backup.join("attachments").join(&attachments[0]);
    let attachment = attachments.join(&names(&attachments)[0]);
    let manifest = backup.join("manifest.json");
    let (text, sum) = (
        std::fs::read_to_string(&manifest).unwrap(),
        backup.join("manifest.sha256"),
    );
    let target = place.path().join("new");
    let refused = |says: &str| {
        is_refused(&workforce("restore", &backup, &target, &[]), says);
        assert!(!target.exists() || names(&target).is_empty(), "{says}");
    };

    std::fs::write(&database, &whole[..whole.len() / 2]).unwrap();
    refused("when the backup was made");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    std::fs::write(&database, changed).unwrap();
    refused("was changed since");
    std::fs::remove_file(&database).unwrap();
    std::os::unix::fs::symlink(data.path().join("workforce.db"), &database).unwrap();
    refused("failed to read");
    std::fs::remove_file(&database).unwrap();
    std::fs::write(&database, &whole).unwrap();
    let file = std::fs::read(&attachment).unwrap();
    std::fs::remove_file(&attachment).unwrap();
    refused("failed to read");
    std::fs::write(&attachment, file).unwrap();
    std::fs::write(&manifest, text.replace("sqlite\"", "sqlitf\"")).unwrap();
    refused("was changed since");
    // Whoever changes the sum too still leads nowhere else.
    let sealed = std::fs::read_to_string(&sum).unwrap();
    for (from, to, says) in [
        (
            "\"workforce.db\"",
            "\"../workforce.db\"",
            "which no backup has",
        ),
        (
            "\"workforce.db\"",
            "\"/tmp/workforce.db\"",
            "which no backup has",
        ),
        ("\"format\": 1", "\"format\": 2", "format 2"),
        (
            "\"schemaVersion\": \"2",
            "\"schemaVersion\": \"9",
            "by a newer version",
        ),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        std::fs::write(&manifest, &changed).unwrap();
        std::fs::write(&sum, sha256(&changed)).unwrap();
        refused(says);
    }
    std::fs::write(&manifest, &text).unwrap();
    std::fs::write(&sum, sealed).unwrap();
    succeeds(&workforce("restore", &backup, &target, &[]));
    is_refused(&workforce("restore", &backup, &target, &[]), "is not empty");
}

pub(crate) fn sha256(text: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn of_two_backups_into_one_folder_one_is_made() {
    let (data, place) = (folder(), folder());
    let server = Server::start(data.path());
    Office::open(&server);
    let backup = place.path().join("backup");
    let outcomes: Vec<Output> = thread::scope(|scope| {
        let make = || workforce("backup", &backup, data.path(), &[]);
        let both = [scope.spawn(make), scope.spawn(make)];
        both.map(|it| it.join().unwrap()).into()
    });
    assert_eq!(outcomes.iter().filter(|it| it.status.success()).count(), 1);
    assert_eq!(names(place.path()), ["backup"]);
    let target = place.path().join("new");
    succeeds(&workforce("restore", &backup, &target, &[]));
}

#[test]
fn what_no_restore_left_stays() {
    let (data, place) = (folder(), folder());
    let server = Server::start(data.path());
    Office::open(&server);
    let backup = place.path().join("backup");
    succeeds(&workforce("backup", &backup, data.path(), &[]));
    let (target, elsewhere) = (place.path().join("new"), place.path().join("elsewhere"));
    for folder in [&target, &elsewhere] {
        std::fs::create_dir(folder).unwrap();
    }
    let staging = target.join(".restoring");
    let kept = "somebody's only copy";
    let refused = |file: &Path| {
        let restore = workforce("restore", &backup, &target, &[]);
        is_refused(&restore, "no restore made");
        assert_eq!(std::fs::read_to_string(file).unwrap(), kept);
        assert_eq!(names(&target), [".restoring"]);
    };

    std::fs::create_dir(&staging).unwrap();
    std::fs::write(staging.join("workforce.db"), kept).unwrap();
    refused(&staging.join("workforce.db"));

    std::fs::remove_dir_all(&staging).unwrap();
    std::fs::write(&staging, kept).unwrap();
    refused(&staging);

    // What a link leads to is not what a restore made, whatever is there.
    std::fs::remove_file(&staging).unwrap();
    let marker = data.path().join("workforce.installation");
    std::fs::copy(marker, elsewhere.join("workforce.installation")).unwrap();
    std::fs::write(elsewhere.join("notes"), kept).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &staging).unwrap();
    refused(&elsewhere.join("notes"));
}

#[test]
fn programs_of_postgres_are_told_nothing_that_others_see() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (data, place) = (folder(), folder());
    let server = Server::start_with(data.path(), &database.flags(), &[]);
    Office::open(&server);
    let backup = place.path().join("backup");
    let make = |pg_dump: &Path| {
        let mut make = binary();
        make.arg("backup").arg(&backup).args(database.flags());
        make.arg("--data-dir")
            .arg(data.path())
            .arg("--pg-dump")
            .arg(pg_dump);
        make.env("WORKFORCE_MASTER_KEY_PREVIOUS", "")
            .output()
            .unwrap()
    };
    is_refused(&make(&data.path().join("nowhere")), "failed to start");
    let program = |version: &str| {
        let file = script(
            data.path(),
            "pg_dump.sh",
            &format!(
                "#!/bin/sh\n[ \"$1\" = --version ] && echo 'pg_dump (PostgreSQL) {version}' && exit\n\
                 echo \"$@\" > {0}/arguments; env > {0}/environment\necho broken >&2; exit 3\n",
                data.path().display()
            ),
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    };
    is_refused(&make(&program("9.6.24")), "older than the server");
    is_refused(&make(&program("99.1")), "failed: broken");
    assert!(names(place.path()).is_empty());
    let read = |name: &str| std::fs::read_to_string(data.path().join(name)).unwrap();
    assert!(
        !read("arguments").contains("postgres"),
        "{}",
        read("arguments")
    );
    assert!(read("environment").contains("PGDATABASE="));
    assert!(!read("environment").contains("WORKFORCE_"));
}
