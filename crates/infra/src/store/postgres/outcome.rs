//! What became of a transaction whose connection was lost while it committed.
//!
//! Either the answer to COMMIT was lost after the transaction was committed, or
//! COMMIT itself was lost before it reached the database. The database knows
//! which: it is asked on another connection, by the number of the transaction.

use core::time::Duration;
use std::thread::sleep;
use std::time::Instant;

use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};

use super::TransactionNumber;
use super::session::{Life, Session};
use crate::store::cached::cached;
use crate::store::pool::ConnectError;

/// For how long the database is asked: it may be starting again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions.
const PAUSE: Duration = Duration::from_millis(100);
/// Added to the URL, so that one attempt to connect does not use up the time.
const CONNECT_TIMEOUT: &str = "connect_timeout=3";

/// A transaction that has written something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    number: TransactionNumber,
    life: Option<Life>,
}

/// What the server tells of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of it was written.
    Committed,
    /// Nothing was written.
    Aborted,
    /// The server does not tell.
    Unknown,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = Nullable<BigInt>)]
    number: Option<i64>,
}

#[derive(QueryableByName)]
struct Status {
    #[diesel(sql_type = Nullable<Text>)]
    status: Option<String>,
}

/// The number of the running transaction, if it has written or locked anything.
pub(super) fn number_of_running(conn: &mut PgConnection) -> QueryResult<Option<TransactionNumber>> {
    let query = sql_query(
        "SELECT CAST(CAST(pg_current_xact_id_if_assigned() AS text) AS bigint) AS number",
    );
    let row: Number = cached(query).get_result(conn)?;
    Ok(row.number)
}

impl Written {
    pub(super) const fn new(number: TransactionNumber, life: Option<Life>) -> Self {
        Self { number, life }
    }

    /// Asks the database at `url` until it knows, for a bounded time. A
    /// transaction that still counts as running is ended first: nobody is left
    /// to commit it.
    pub(super) fn outcome(self, url: &str) -> Outcome {
        let url = with_timeout(url);
        let begun = Instant::now();
        loop {
            match self.ask(&url) {
                Ok(Some(outcome)) => return outcome,
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "the database does not tell of a transaction yet");
                }
            }
            if begun.elapsed() >= PATIENCE {
                return Outcome::Unknown;
            }
            sleep(PAUSE);
        }
    }

    /// The outcome as the server knows it now; `None` while the transaction runs.
    fn ask(self, url: &str) -> Result<Option<Outcome>, ConnectError> {
        let mut session = Session::open(url)?;
        if session.life.is_none() || session.life != self.life {
            return Ok(Some(Outcome::Unknown));
        }
        let row: Status =
            sql_query("SELECT pg_xact_status(CAST(CAST($1 AS text) AS xid8)) AS status")
                .bind::<BigInt, _>(self.number)
                .get_result(&mut session.conn)?;
        match row.status.as_deref() {
            Some("committed") => Ok(Some(Outcome::Committed)),
            Some("aborted") => Ok(Some(Outcome::Aborted)),
            Some("in progress") => {
                self.end(&mut session.conn)?;
                Ok(None)
            }
            // The transaction is so old that the database has forgotten it.
            _ => Ok(Some(Outcome::Unknown)),
        }
    }

    /// Ends the session that the transaction belongs to. Its server process may
    /// not have noticed that the connection is gone, and would keep its locks.
    fn end(self, conn: &mut PgConnection) -> QueryResult<()> {
        sql_query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND usename = current_user
                 AND backend_xid = CAST(CAST(CAST($1 AS text) AS xid8) AS xid)",
        )
        .bind::<BigInt, _>(self.number)
        .execute(conn)
        .map(drop)
    }
}

fn with_timeout(url: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{CONNECT_TIMEOUT}")
}
