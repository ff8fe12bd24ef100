//! A connection, and the life of the server that it belongs to.

use diesel::sql_types::{BigInt, Nullable};
use diesel::{PgConnection, QueryableByName, RunQueryDsl, sql_query};

use super::open::connect;
use crate::store::pool::ConnectError;

/// A connection of the pool.
pub(super) struct Session {
    /// Where statements run.
    pub(super) conn: PgConnection,
    /// The life in which every transaction of this connection runs: no
    /// connection outlives a crash.
    pub(super) life: Option<Life>,
}

/// A server's life from one crash to the next, an orderly restart included. A
/// crash may take back numbers of transactions that left no trace, and others
/// get them afterwards; so does the server that takes the place of one that
/// failed. Both begin to count their statistics anew, and that instant, in
/// microseconds, is what tells lives apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life(i64);

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = Nullable<BigInt>)]
    since: Option<i64>,
}

impl Session {
    /// Connects to the database at `url`.
    pub(super) fn open(url: &str) -> Result<Self, ConnectError> {
        let mut conn = connect(url)?;
        let counted: Counted = sql_query(
            "SELECT CAST(extract(epoch FROM stats_reset) * 1000000 AS bigint) AS since
             FROM pg_stat_bgwriter",
        )
        .get_result(&mut conn)?;
        Ok(Self {
            conn,
            life: counted.since.map(Life),
        })
    }
}
