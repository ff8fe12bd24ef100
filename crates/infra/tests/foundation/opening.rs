//! Who may open a store.

use std::os::unix::fs::PermissionsExt;

use workforce_infra::store::{
    DatabaseUrl, DatabaseUrlError, Durability, OpenError, OpenOptions, open,
};
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::company::{company, find_company, store_company};
use crate::raw::Raw;

#[test]
fn a_file_is_open_once() {
    let store = sqlite_store();
    let error = open(store.url(), &OpenOptions::default()).err().unwrap();
    assert!(matches!(error, OpenError::InUse(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("workforce.db is in use by another process")
    );
}

#[test]
fn a_file_may_be_opened_again_and_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/deep/workforce.db");
    let url = DatabaseUrl::sqlite(&path);
    let new = company("ACM");
    let options = OpenOptions {
        pool_size: 2,
        durability: Durability::PowerLoss,
        ..OpenOptions::default()
    };
    let store = open(&url, &options).unwrap();
    store_company(&*store, &new).unwrap();
    drop(store);
    let store = open(&url, &options).unwrap();
    assert_eq!(find_company(&*store, new.id), Some(new));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// What the build sets in `.cargo/config.toml`.
#[test]
fn sqlite_is_built_to_plan_once_and_to_lock_no_connection() {
    let store = sqlite_store();
    let mut raw = Raw::of(&store);
    let built_with = ["ENABLE_QPSG", "THREADSAFE=2"].map(|option| {
        raw.count(&format!(
            "SELECT COUNT(*) AS n FROM pragma_compile_options WHERE compile_options = '{option}'"
        ))
    });
    assert_eq!(built_with, [1, 1]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("file/workforce.db"));
    let error = open(&url, &OpenOptions::default()).err().unwrap();
    assert!(matches!(error, OpenError::DataFolder { .. }), "{error:?}");
}

#[test]
fn a_server_that_does_not_answer_is_told() {
    let url: DatabaseUrl = "postgres://127.0.0.1:1/none?connect_timeout=2"
        .parse()
        .unwrap();
    let error = open(&url, &OpenOptions::default()).err().unwrap();
    assert!(matches!(error, OpenError::Connect(_)), "{error:?}");
}

#[test]
fn clear_text_over_a_network_is_refused() {
    let outcome = "postgres://db.example.org/workforce".parse::<DatabaseUrl>();
    assert_eq!(outcome, Err(DatabaseUrlError::ClearText));
}

#[test]
fn several_servers_share_a_database() {
    let Some(store) = postgres_store() else {
        return;
    };
    let other = open(store.url(), &OpenOptions::default()).unwrap();
    let new = company("ACM");
    store_company(&*other, &new).unwrap();
    assert_eq!(find_company(&*store, new.id), Some(new));
}

#[test]
fn readers_do_not_wait_for_the_writer() {
    let store = sqlite_store();
    let new = company("ACM");
    let outcome: Result<(), crate::company::Never> = store.write(|tx| {
        tx.companies_mut().insert(new.clone())?;
        assert_eq!(find_company(&*store, new.id), None);
        Ok(())
    });
    outcome.unwrap();
    let mut raw = Raw::of(&store);
    assert_eq!(raw.count("SELECT count(*) AS n FROM companies"), 1);
}
