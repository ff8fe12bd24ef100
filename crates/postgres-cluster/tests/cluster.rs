//! A cluster is started again on its data, and leaves nothing behind.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use workforce_postgres_cluster::{Stop, own_cluster};
use workforce_testkit::postgres::{TestDatabase, database};

/// When the server was started, by its own account.
fn started_at(database: &TestDatabase) -> Vec<String> {
    database.texts("SELECT pg_postmaster_start_time()::text AS line")
}

#[test]
fn a_server_is_started_again_on_its_data() {
    let Some(mut cluster) = own_cluster() else {
        return;
    };
    let database = database(cluster.url());
    let mut before = started_at(&database);
    for stop in [Stop::Fast, Stop::Immediate] {
        cluster.restart(stop).unwrap();
        // The database is there still.
        let after = started_at(&database);
        assert_ne!(after, before, "{stop:?}");
        before = after;
    }
}

#[test]
fn the_directory_of_a_dropped_cluster_is_gone() {
    let Some(cluster) = own_cluster() else {
        return;
    };
    let database = database(cluster.url());
    let data = database.texts("SELECT current_setting('data_directory') AS line");
    drop(database);
    let directory = Path::new(&data[0]);
    assert!(directory.is_dir());
    let address: SocketAddr = cluster
        .url()
        .split(['@', '/'])
        .find_map(|part| part.parse().ok())
        .unwrap();

    drop(cluster);

    assert!(TcpStream::connect(address).is_err());
    assert!(!directory.exists());
    assert!(!directory.parent().unwrap().exists());
}
