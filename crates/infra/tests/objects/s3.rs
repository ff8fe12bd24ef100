//! A bucket as the place, on a real server of that interface.

use workforce_domain::attachment::Provider;
use workforce_domain::port::{ObjectError, ObjectStore};
use workforce_infra::objects::{Bucket, Credentials, Location, Objects};
use workforce_testkit::s3::{ACCESS_KEY, BUCKET, S3Server, SECRET_KEY};

use crate::contract::{before, hold_to, name, noise, put, soon};

/// The bucket of a server, below a prefix, for whoever has this secret.
fn open(server: &S3Server, prefix: &str, secret: &str) -> Objects {
    Objects::open(&Location::Bucket(Bucket {
        name: BUCKET.into(),
        prefix: prefix.into(),
        endpoint: Some(server.endpoint()),
        region: Some("us-east-1".into()),
        credentials: Some(Credentials::new(ACCESS_KEY, secret)),
    }))
    .unwrap()
}

#[test]
fn a_bucket_holds_to_the_contract() {
    let server = S3Server::start();
    let objects = open(&server, "", SECRET_KEY);
    assert_eq!(objects.provider(), Provider::S3);
    hold_to(&objects);
}

#[test]
fn a_prefix_keeps_to_itself() {
    let server = S3Server::start();
    let (one, other) = (
        open(&server, "work/one", SECRET_KEY),
        open(&server, "work/other", SECRET_KEY),
    );
    let name = name();
    put(&one, name, b"kept", 2);
    let path = server.bucket_folder().join(format!("work/one/{name}"));
    assert_eq!(std::fs::read(path).unwrap(), b"kept");
    assert!(matches!(
        other.read(name, 0, 1),
        Err(ObjectError::Missing(_))
    ));
    other.delete(name).unwrap();
    assert_eq!(before(&other, soon()), []);
    assert_eq!(before(&one, soon()), [name]);
    assert_eq!(one.read(name, 1, 2).unwrap(), b"ep");
    hold_to(&other);
    // What is above the prefix is not ours.
    put(&open(&server, "", SECRET_KEY), name, b"x", 1);
    assert_eq!(before(&one, soon()), [name]);
}

#[test]
fn an_upload_that_is_given_up_is_never_seen() {
    let server = S3Server::start();
    let objects = open(&server, "", SECRET_KEY);
    let name = name();
    let mut writer = objects.create(name).unwrap();
    writer.write(&noise(12 * 1024 * 1024)).unwrap();
    drop(writer);
    put(&objects, name, b"whole", 5);
    assert_eq!(objects.read(name, 0, 10).unwrap(), b"whole");
}

#[test]
fn whoever_is_not_let_in_is_told_so_without_the_secret() {
    let server = S3Server::start();
    let objects = open(&server, "", "another-secret");
    let mut writer = objects.create(name()).unwrap();
    writer.write(b"x").unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, ObjectError::Failed(_)));
    assert!(!format!("{error:?}").contains("another-secret"));
    let place = format!("{objects:?}");
    assert!(!place.contains("another-secret"), "{place}");
}
