//! One cluster for many tests.

use std::sync::OnceLock;

use crate::{Cluster, ClusterError};

/// The environment variable that names a running cluster, by the URL of a database on it whose
/// user may create databases.
pub const CLUSTER_URL_VARIABLE: &str = "WORKFORCE_TEST_POSTGRES_URL";

/// The URL of the cluster that the tests of this process share.
///
/// It is the value of [`CLUSTER_URL_VARIABLE`], or else of a cluster that the first call starts
/// and that ends with this process. `None` when no PostgreSQL server is installed; tests that need
/// one return early then, and each is told of on standard error as left out.
///
/// # Panics
///
/// When an installed server does not start, and with `CI=true` also when none is installed: there
/// the tests on PostgreSQL may not be left out.
#[must_use]
pub fn shared_cluster_url() -> Option<String> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    match std::env::var(CLUSTER_URL_VARIABLE) {
        Ok(url) if !url.is_empty() => Some(url),
        _ => {
            let cluster = CLUSTER
                .get_or_init(|| if_installed(Cluster::start))
                .as_ref();
            if cluster.is_none() {
                workforce_skipped_tests::tell("there is no PostgreSQL server");
            }
            cluster.map(|it| it.url().to_owned())
        }
    }
}

/// A cluster of one's own, to be stopped and started, on which commits are durable. `None` where
/// [`shared_cluster_url`] gives none.
///
/// # Panics
///
/// As [`shared_cluster_url`].
#[must_use]
pub fn own_cluster() -> Option<Cluster> {
    if_installed(Cluster::start_durable)
}

fn if_installed(start: impl FnOnce() -> Result<Cluster, ClusterError>) -> Option<Cluster> {
    match start() {
        Ok(cluster) => Some(cluster),
        Err(ClusterError::NotInstalled) if !workforce_skipped_tests::is_failure() => None,
        Err(error) => panic!("the tests need PostgreSQL: {error}"),
    }
}
