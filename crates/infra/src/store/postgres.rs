//! PostgreSQL: a pool of connections, rows locked where they are changed.

mod open;
mod relay;
mod store;

#[path = "queries/mod.rs"]
mod queries;
#[path = "transaction.rs"]
mod transaction;

pub(crate) use open::{broken_invariants, migrate_down, open};
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

/// The month of a cost event, as totals number months.
const MONTH_OF_COST: &str = "CAST(to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYYMM') AS integer)";
