//! `cargo xtask postgres`, and the cluster that the tests share.

use std::io::{self, Read};

use anyhow::{Context as _, Result, bail};
use workforce_postgres_cluster::{Cluster, ClusterError};

/// Prints the URL of a throw-away cluster and keeps it until standard input closes.
pub(crate) fn run() -> Result<()> {
    let cluster = Cluster::start().context("failed to start PostgreSQL")?;
    println!("{}", cluster.url());
    io::stdin()
        .read_to_end(&mut Vec::new())
        .context("failed to read standard input")?;
    Ok(())
}

/// A cluster for the tests, or `None` and a loud message where PostgreSQL is not installed.
///
/// # Errors
///
/// When PostgreSQL is installed and does not start, and when it is not installed and
/// `is_required`.
pub(crate) fn for_tests(is_required: bool) -> Result<Option<Cluster>> {
    match Cluster::start() {
        Ok(cluster) => Ok(Some(cluster)),
        Err(error @ ClusterError::NotInstalled) if is_required => {
            bail!("CI runs all tests, those on PostgreSQL too: {error}")
        }
        Err(error @ ClusterError::NotInstalled) => {
            warn(&error);
            Ok(None)
        }
        Err(error) => Err(error).context("failed to start PostgreSQL for the tests"),
    }
}

fn warn(error: &ClusterError) {
    let line = "!".repeat(80);
    eprintln!("{line}");
    eprintln!("!! The tests on PostgreSQL are LEFT OUT: {error}.");
    eprintln!("!! On Debian: apt-get install postgresql");
    eprintln!("{line}");
}
