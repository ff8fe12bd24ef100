//! SQLite: readers in a pool, one writer whose commits are shared.

mod copy;
mod journal;
mod lock;
mod log;
mod memory;
mod open;
mod outcome;
mod statement;
mod store;
mod write_back;
mod writer;

#[path = "queries/mod.rs"]
mod queries;
#[path = "transaction.rs"]
mod transaction;

pub(crate) use copy::{inspect, known_migrations, repair, snapshot, take_over};
pub use memory::MemoryStore;
pub(crate) use open::{broken_invariants, migrate_down, open};
use transaction::Transaction;

/// Where statements run.
pub(crate) type Connection = diesel::SqliteConnection;
/// How rows arrive when a list is cut short while it is read.
pub(crate) type LoadingMode = diesel::connection::DefaultLoadingMode;

/// Transactions have no numbers here: nothing is asked about them later.
pub(crate) type TransactionNumber = ();

/// Keeps others from counting costs until the transaction ends: there is one writer.
const LOCK_LEDGER: &str = "";

/// A query whose rows stay as they are until the transaction ends. There is one writer, so there
/// is nothing to lock.
macro_rules! for_update {
    ($query:expr) => {
        $query
    };
}
pub(crate) use for_update;

/// The same for any number of transactions at once.
macro_rules! for_share {
    ($query:expr) => {
        $query
    };
}
pub(crate) use for_share;

/// Changes the one row that `$row` finds, and reads these columns of it afterwards, if it is there.
/// Which columns are changed must not depend on a value: the statement is found by its place.
/// One statement with `RETURNING` would do both, but SQLite runs it in a savepoint of its own, and
/// at each savepoint it writes the index of words, which is otherwise written once for a commit.
macro_rules! change_one {
    ($row:expr, $changes:expr, $columns:expr, $conn:expr) => {
        $crate::store::cached::cached_here!(diesel::update($row).set($changes))
            .execute($conn)
            .and_then(|_changed| $row.select($columns).get_result($conn))
            .optional()
    };
}
pub(crate) use change_one;

/// The month of a cost event, as totals number months.
const MONTH_OF_COST: &str =
    "CAST(strftime('%Y%m', e.occurred_at / 1000000, 'unixepoch') AS integer)";

/// The day of a cost event, counted from 1970-01-01 in UTC.
const DAY_OF_COST: &str = "e.occurred_at / 86400000000";

/// How many whole times so many seconds lie between two instants.
fn intervals_between(from: &str, until: &str, seconds: &str) -> String {
    format!("({until} - {from}) / ({seconds} * 1000000)")
}
