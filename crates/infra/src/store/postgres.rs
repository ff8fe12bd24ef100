//! PostgreSQL: a pool of connections, rows locked where they are changed.

mod copy;
mod journal;
mod listener;
mod open;
mod outcome;
mod session;
mod store;

#[path = "queries/mod.rs"]
mod queries;
#[path = "transaction.rs"]
mod transaction;

pub(crate) use copy::{fill_if_empty, inspect, known_migrations, repair, take_over};
pub(crate) use open::{broken_invariants, migrate_down, open};
use transaction::Transaction;

/// Where statements run.
pub(crate) type Connection = diesel::PgConnection;
/// How rows arrive when a list is cut short while it is read.
pub(crate) type LoadingMode = diesel::pg::PgRowByRowLoadingMode;

/// What PostgreSQL calls a transaction, during and after it.
pub(crate) type TransactionNumber = i64;

/// Keeps others from counting costs until the transaction ends.
const LOCK_LEDGER: &str = "LOCK TABLE spend_totals, cost_events IN SHARE ROW EXCLUSIVE MODE";

/// A query whose rows stay as they are until the transaction ends. Foreign key checks of others
/// need not wait: keys never change.
macro_rules! for_update {
    ($query:expr) => {
        diesel::QueryDsl::for_no_key_update($query)
    };
}
pub(crate) use for_update;

/// A query whose rows stay as they are until the transaction ends, for any number of transactions
/// at once.
macro_rules! for_share {
    ($query:expr) => {
        diesel::QueryDsl::for_share($query)
    };
}
pub(crate) use for_share;

/// Changes the one row that `$row` finds, and reads these columns of it afterwards, if it is there.
/// Which columns are changed must not depend on a value: the statement is found by its place.
macro_rules! change_one {
    ($row:expr, $changes:expr, $columns:expr, $conn:expr) => {{
        let change = diesel::update($row).set($changes).returning($columns);
        $crate::store::cached::cached_here!(change)
            .get_result($conn)
            .optional()
    }};
}
pub(crate) use change_one;

/// The month of a cost event, as totals number months.
const MONTH_OF_COST: &str = "CAST(to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYYMM') AS integer)";

/// The day of a cost event, counted from 1970-01-01 in UTC.
const DAY_OF_COST: &str = "CAST(FLOOR(EXTRACT(EPOCH FROM e.occurred_at) / 86400) AS bigint)";

/// How many whole times so many seconds lie between two instants.
fn intervals_between(from: &str, until: &str, seconds: &str) -> String {
    format!("CAST(FLOOR(EXTRACT(EPOCH FROM {until} - {from}) / {seconds}) AS bigint)")
}
