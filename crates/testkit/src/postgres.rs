//! A real PostgreSQL to throw away after the tests.
//!
//! One [`Cluster`] serves many tests, each with a [`TestDatabase`] of its own. The cluster runs
//! without durability and, where there is room, in memory unless it is started to measure, listens on
//! a free port of 127.0.0.1 only, and trusts every local connection. It ends with the process that
//! started it, however that process ends.
//!
//! ```no_run
//! use workforce_testkit::postgres;
//!
//! if let Some(cluster_url) = postgres::shared_cluster_url() {
//!     let database = postgres::database(&cluster_url);
//!     println!("{}", database.url());
//! }
//! ```

mod cluster;
mod database;
mod left_out;
mod programs;
mod proxy;
mod shared;
mod template;

pub use cluster::{Cluster, ClusterError, Stop};
pub use database::{TestDatabase, database, migrated_database};
pub use left_out::LEFT_OUT_VARIABLE;
pub use proxy::{Cut, Proxy};
pub use shared::{CLUSTER_URL_VARIABLE, own_cluster, shared_cluster_url};
