//! A real PostgreSQL to throw away after the tests.
//!
//! One [`Cluster`] serves many tests, each with a [`TestDatabase`] of its own.
//!
//! ```no_run
//! use workforce_testkit::postgres;
//!
//! if let Some(cluster_url) = postgres::shared_cluster_url() {
//!     let database = postgres::database(&cluster_url);
//!     println!("{}", database.url());
//! }
//! ```

mod database;
mod proxy;
mod template;

pub use database::{TestDatabase, database, migrated_database};
pub use proxy::{Cut, Proxy};
pub use workforce_postgres_cluster::{
    CLUSTER_URL_VARIABLE, Cluster, ClusterError, Stop, own_cluster, program, shared_cluster_url,
};
