//! A folder as the place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use workforce_domain::attachment::Provider;
use workforce_domain::port::{Clock, ObjectStore};
use workforce_infra::clock::SystemClock;
use workforce_infra::objects::{Location, Objects};

use crate::contract::{before, hold_to, name, noise, put, soon};

fn open(folder: &Path) -> Objects {
    Objects::open(&Location::Folder(folder.to_owned())).unwrap()
}

/// How many files lie in the folders of a folder.
fn files(folder: &Path) -> usize {
    let companies = fs::read_dir(folder).unwrap();
    companies
        .map(|company| company.unwrap().path())
        .filter(|company| company.is_dir())
        .map(|company| fs::read_dir(company).unwrap().count())
        .sum()
}

#[test]
fn a_folder_holds_to_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let objects = open(folder.path());
    assert_eq!(objects.provider(), Provider::LocalDisk);
    hold_to(&objects);
}

#[test]
fn a_folder_is_made_for_its_owner_alone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a/b");
    let objects = open(&folder);
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let name = name();
    put(&objects, name, b"x", 1);
    let path = folder.join(name.to_string());
    assert_eq!(fs::read(path).unwrap(), b"x");
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Objects::open(&Location::Folder(file)).is_err());
}

#[test]
fn objects_outlive_the_one_who_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let name = name();
    put(&open(folder.path()), name, b"kept", 2);
    assert_eq!(open(folder.path()).read(name, 1, 2).unwrap(), b"ep");
}

#[test]
fn a_writer_that_is_dropped_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let objects = open(folder.path());
    let mut writer = objects.create(name()).unwrap();
    writer.write(&noise(3_000_000)).unwrap();
    assert_eq!(files(folder.path()), 1);
    drop(writer);
    let deadline = Instant::now() + Duration::from_secs(20);
    while files(folder.path()) > 0 {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
}

#[test]
fn what_a_killed_writer_left_is_discarded_when_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let objects = open(folder.path());
    let whole = name();
    put(&objects, whole, b"x", 1);
    let left = folder.path().join(format!("{}#1", name()));
    fs::write(&left, "half").unwrap();
    let hour = Duration::from_secs(3600);
    assert_eq!(
        objects
            .discard_unfinished(SystemClock.now().minus(hour))
            .unwrap(),
        0
    );
    assert!(left.exists());
    assert_eq!(before(&objects, soon()), [whole]);
    assert_eq!(objects.discard_unfinished(soon()).unwrap(), 1);
    assert!(!left.exists());
    assert_eq!(objects.read(whole, 0, 1).unwrap(), b"x");
}

#[test]
fn what_others_put_there_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let objects = open(folder.path());
    let ours = name();
    put(&objects, ours, b"x", 1);
    let company = folder.path().join(ours.company.to_string());
    let strangers = [
        folder.path().join("README"),
        folder.path().join("README#1"),
        company.join("notes.txt"),
        company.join("notes#1"),
        company.join(ours.asset.to_string().to_uppercase()),
        company.join(format!("{}#x", ours.asset)),
    ];
    for stranger in &strangers {
        fs::write(stranger, "x").unwrap();
    }
    assert_eq!(before(&objects, soon()), [ours]);
    assert_eq!(objects.discard_unfinished(soon()).unwrap(), 0);
    for stranger in &strangers {
        assert!(stranger.exists());
    }
}
