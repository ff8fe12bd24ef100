//! A real PostgreSQL to throw away.
//!
//! A [`Cluster`] runs without durability and, where there is room, in memory unless it is started to
//! measure, listens on a free port of 127.0.0.1 only, and trusts every local connection. It ends with
//! the process that started it, however that process ends.
//!
//! It knows no other crate and no client of a database, so that the tasks of the repository start a
//! cluster without being built with either.

mod cluster;
mod durability;
mod error;
mod programs;
mod shared;
mod watcher;

pub use cluster::Cluster;
pub use error::ClusterError;
pub use programs::program;
pub use shared::{CLUSTER_URL_VARIABLE, own_cluster, shared_cluster_url};
pub use watcher::Stop;
