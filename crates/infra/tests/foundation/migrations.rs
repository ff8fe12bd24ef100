//! Up, down, and up again.

use workforce_infra::store::{OpenError, OpenOptions, migrate_down, open};
use workforce_testkit::on_both_databases;
use workforce_testkit::postgres::{database, shared_cluster_url};
use workforce_testkit::store::postgres_store;

use crate::company::{company, find_company, store_company};
use crate::raw::Raw;
use crate::rows::insert_company;

on_both_databases! {
    #![beneath_the_rules]
    fn tables_come_and_go_and_come_again(store: &TestStore) {
        let mut raw = Raw::of(store);
        let before = (raw.tables(), raw.indexes());
        assert!(!before.0.is_empty());
        insert_company(&mut raw, 0);

        // SQLite lets one process in; its own lock is out of the way of another file only.
        let copy = Copy::of(store);
        migrate_down(&copy.url).unwrap();
        let mut raw = Raw::open(&copy.connection);
        assert_eq!((raw.tables(), raw.indexes()), (vec![], vec![]));
        drop(raw);

        let again = open(&copy.url, &OpenOptions::default()).unwrap();
        let mut raw = Raw::open(&copy.connection);
        assert_eq!((raw.tables(), raw.indexes()), before);
        let new = company("NEW");
        store_company(&*again, &new).unwrap();
        assert_eq!(find_company(&*again, new.id), Some(new));
    }

    fn a_database_of_a_newer_version_is_left_alone(store: &TestStore) {
        let copy = Copy::of(store);
        let mut raw = Raw::open(&copy.connection);
        raw.run("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
        drop(raw);
        let error = open(&copy.url, &OpenOptions::default()).err().unwrap();
        assert!(matches!(error, OpenError::TooNew(_)), "{error:?}");
    }
}

/// Other tests get a copy of a database that was migrated once.
#[test]
fn an_empty_database_gets_the_tables_that_a_copy_has() {
    let (Some(copied), Some(cluster_url)) = (postgres_store(), shared_cluster_url()) else {
        return;
    };
    let empty = database(&cluster_url);
    let mut raw = Raw::open(empty.url());
    assert_eq!(raw.tables(), [""; 0]);
    let opened = open(&empty.url().parse().unwrap(), &OpenOptions::default()).unwrap();
    let mut of_copied = Raw::of(&copied);
    assert_eq!(
        (raw.tables(), raw.indexes()),
        (of_copied.tables(), of_copied.indexes())
    );
    let new = company("NEW");
    store_company(&*opened, &new).unwrap();
    assert_eq!(find_company(&*opened, new.id), Some(new));
}

/// A database that may be opened while the store is.
struct Copy {
    url: workforce_infra::store::DatabaseUrl,
    connection: String,
}

impl Copy {
    /// On SQLite a copy of the file, on PostgreSQL the same database.
    fn of(store: &workforce_testkit::store::TestStore) -> Self {
        if store.url().sqlite_path().is_none() {
            let url = store.connection().parse().unwrap();
            return Self {
                url,
                connection: store.connection().to_owned(),
            };
        }
        let connection = format!("{}.copy", store.connection());
        Raw::of(store).run(&format!("VACUUM INTO '{connection}'"));
        Self {
            url: workforce_infra::store::DatabaseUrl::sqlite(&connection),
            connection,
        }
    }
}
