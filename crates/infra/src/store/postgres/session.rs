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

/// The life of a database server from one crash to the next; an orderly restart
/// does not end it. After a crash the numbers of transactions that left no
/// trace may be given out again, and so after a failover. Both reset the
/// statistics, so the instant of the reset, in microseconds, names a life.
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
