//! Why there is no cluster.

use std::io;

use thiserror::Error;

/// Why no cluster could be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// No PostgreSQL server is installed.
    #[error(
        "no PostgreSQL server found: neither on PATH nor under /usr/lib/postgresql is there a directory with initdb and postgres"
    )]
    NotInstalled,
    /// This process is root, PostgreSQL refuses root, and there is nobody else to run it.
    #[error("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`")]
    NoUnprivilegedUser,
    /// A step outside of PostgreSQL failed.
    #[error("failed to {step}")]
    Io {
        /// What was tried, as a verb phrase.
        step: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// `initdb` refused.
    #[error("initdb failed:\n{output}")]
    Initdb {
        /// What it printed.
        output: String,
    },
    /// The server ended at once or accepted no connection in time.
    #[error("the PostgreSQL server did not start:\n{log}")]
    Start {
        /// The server's log.
        log: String,
    },
}

pub(crate) fn failed_to(step: &'static str) -> impl FnOnce(io::Error) -> ClusterError {
    move |source| ClusterError::Io { step, source }
}
