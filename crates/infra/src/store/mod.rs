//! The store on either database.
//!
//! The queries are written once and mounted twice, by `sqlite` and by `postgres`, each of which
//! names its `Connection`, its `LoadingMode` and how it locks rows (`for_update!`, `for_share!`).

mod cached;
mod client_environment;
mod columns;
mod errors;
mod feed;
mod inspection;
mod invariants;
mod lock_order;
mod migrations;
mod open;
mod pool;
mod retry;
mod schema;
mod stable;
mod upkeep;
mod url;

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
compile_error!("a store needs at least one of the features `sqlite` and `postgres`");

#[cfg(feature = "postgres")]
#[cfg_attr(
    feature = "sqlite",
    expect(
        clippy::duplicate_mod,
        reason = "queries are written once for both databases"
    )
)]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use client_environment::UnknownParameter;
pub use inspection::{AssetFile, DatabaseState, Inspection, SchemaState, foreign_table, is_empty};
pub use invariants::{BrokenInvariant, OffendingRow, broken_invariants, invariant_names};
pub use open::{AttachmentsNote, Durability, OpenError, OpenOptions, migrate_down, open};
#[cfg(feature = "sqlite")]
pub use sqlite::MemoryStore;
pub use upkeep::{
    Repair, SnapshotError, TakeOverError, fill_if_empty, is_served, knows_migration, repair,
    snapshot, take_over,
};
pub use url::{DatabaseUrl, DatabaseUrlError};
