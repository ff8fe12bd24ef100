//! The store on either database.
//!
//! The queries are written once and mounted twice, by `sqlite` and by `postgres`, each of which
//! names its `Connection`, its `LoadingMode` and how it locks rows (`held!`).

mod columns;
mod errors;
mod migrations;
mod open;
mod pool;
mod retry;
mod schema;
mod url;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use open::{Durability, OpenError, OpenOptions, migrate_down, open};
pub use url::{DatabaseUrl, DatabaseUrlError};
