//! PostgreSQL: a pool of connections, rows locked where they are changed.

mod open;
mod relay;
mod store;

#[path = "queries/mod.rs"]
mod queries;
#[path = "transaction.rs"]
mod transaction;

pub(crate) use open::{migrate_down, open};
use transaction::Transaction;

/// Where statements run.
pub(crate) type Connection = diesel::PgConnection;
/// How rows arrive when a list is cut short while it is read.
pub(crate) type LoadingMode = diesel::pg::PgRowByRowLoadingMode;

/// A query whose rows stay as they are until the transaction ends. Foreign key checks of others
/// need not wait: keys never change.
macro_rules! held {
    ($query:expr) => {
        diesel::QueryDsl::for_no_key_update($query)
    };
}
pub(crate) use held;

/// A query whose rows stay as they are until the transaction ends, for any number of transactions
/// at once.
macro_rules! shared {
    ($query:expr) => {
        diesel::QueryDsl::for_share($query)
    };
}
pub(crate) use shared;
