use diesel::QueryResult;
use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::result::Error;
use r2d2::{Pool, PooledConnection};
use workforce_domain::id::CompanyId;
use workforce_domain::port::{Connections, EventFeed, Reads, Store, StoreError, Tx, Verdict};
use workforce_vitals::DiskSpace;

use super::listener::NotificationListener;
use super::outcome::{Outcome, Written, number_of_running};
use super::session::Session;
use super::{Connection, Transaction};
use crate::store::errors::failed;
use crate::store::pool::{Manager, Pooled, connections, take};
use crate::store::retry::until_settled;

/// Every statement sees the same state.
const BEGIN_READ: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
/// Every statement sees what was committed before it; rows that must not change are locked.
const BEGIN_WRITE: &str = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

/// A store in a PostgreSQL database, which several servers may share.
pub(crate) struct PostgresStore {
    url: String,
    pool: Pool<Manager<Session>>,
    listener: NotificationListener,
    disk_space: DiskSpace,
}

/// Why a transaction was not seen to commit.
enum Uncommitted {
    /// The server undid it and said so.
    Undone(StoreError),
    /// The connection was lost before the server said anything.
    Unheard(Error),
}

impl PostgresStore {
    pub(super) const fn new(
        url: String,
        pool: Pool<Manager<Session>>,
        listener: NotificationListener,
        disk_space: DiskSpace,
    ) -> Self {
        Self {
            url,
            pool,
            listener,
            disk_space,
        }
    }

    fn read(
        &self,
        body: impl FnOnce(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut pooled = self.begin(BEGIN_READ)?;
        let read = body(&mut Transaction::on(&mut pooled.conn.conn));
        let ended = end(&mut pooled, |conn| {
            AnsiTransactionManager::rollback_transaction(conn)
        });
        read?;
        ended.map_err(failed)
    }

    /// Runs `body` in a transaction. Returns the companies whose listeners are to be woken.
    fn write(
        &self,
        body: impl FnOnce(&mut Transaction<'_>) -> Result<Verdict, StoreError>,
    ) -> Result<Vec<CompanyId>, StoreError> {
        let mut pooled = self.begin(BEGIN_WRITE)?;
        let (companies, written) = match run(&mut pooled.conn, body) {
            Ok(Some(ran)) => ran,
            refused => {
                let undone = end(&mut pooled, |conn| {
                    AnsiTransactionManager::rollback_transaction(conn)
                });
                refused?;
                return undone.map(|()| Vec::new()).map_err(failed);
            }
        };
        match commit(&mut pooled) {
            Ok(()) => Ok(companies),
            Err(Uncommitted::Undone(error)) => Err(error),
            Err(Uncommitted::Unheard(error)) => {
                // Its place in the pool is free for a new connection.
                drop(pooled);
                self.settle(written, error, companies)
            }
        }
    }

    /// Finds out what became of a transaction whose connection was lost while it committed.
    fn settle(
        &self,
        written: Option<Written>,
        error: Error,
        companies: Vec<CompanyId>,
    ) -> Result<Vec<CompanyId>, StoreError> {
        let outcome = written.map_or(Outcome::Aborted, |written| written.outcome(&self.url));
        tracing::warn!(%error, ?outcome, "the connection was lost during a commit");
        match outcome {
            Outcome::Committed => Ok(companies),
            Outcome::Aborted => Err(StoreError::Unavailable(Box::new(error))),
            Outcome::Unknown => {
                // At worst listeners are woken for nothing.
                self.listener.notify(&companies);
                Err(StoreError::OutcomeUnknown(Box::new(error)))
            }
        }
    }

    /// A connection with a fresh transaction. A connection that was closed while it lay in the
    /// pool, as all are when the server restarts, is replaced by another: nothing has run yet.
    fn begin(&self, begin: &str) -> Result<PooledConnection<Manager<Session>>, StoreError> {
        let mut stale = self.pool.state().idle_connections;
        loop {
            let mut pooled = take(&self.pool)?;
            // Kept from the pool until the transaction has ended well.
            pooled.in_transaction = true;
            match AnsiTransactionManager::begin_transaction_sql(&mut pooled.conn.conn, begin)
                .map_err(failed)
            {
                Ok(()) => return Ok(pooled),
                Err(StoreError::Unavailable(_)) if stale > 0 => stale -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// What a body wrote, and by which number the database is asked about it later; without one if it
/// wrote nothing. `None` when the body wants it undone.
type Ran = Option<(Vec<CompanyId>, Option<Written>)>;

/// Runs the body of a transaction up to its commit.
fn run(
    session: &mut Session,
    body: impl FnOnce(&mut Transaction<'_>) -> Result<Verdict, StoreError>,
) -> Result<Ran, StoreError> {
    let mut tx = Transaction::on(&mut session.conn);
    if matches!(body(&mut tx)?, Verdict::RollBack) {
        return Ok(None);
    }
    let (companies, number) = tx.write_journal()?;
    // After a failed statement PostgreSQL answers COMMIT with success, yet undoes everything. But
    // it refuses every other statement then, and at least one runs between the body and COMMIT:
    // one of the journal, or this one.
    let number = match number {
        None => number_of_running(&mut session.conn).map_err(failed)?,
        known => known,
    };
    let life = session.life;
    let written = number.map(|number| Written::new(number, life));
    Ok(Some((companies, written)))
}

/// Ends a transaction, after which the pool may have its connection back.
fn end(
    pooled: &mut Pooled<Session>,
    how: impl FnOnce(&mut Connection) -> QueryResult<()>,
) -> QueryResult<()> {
    let ended = how(&mut pooled.conn.conn);
    pooled.in_transaction = ended.is_err();
    ended
}

fn commit(pooled: &mut Pooled<Session>) -> Result<(), Uncommitted> {
    end(pooled, |conn| {
        AnsiTransactionManager::commit_transaction(conn)
    })
    .map_err(|error| {
        if AnsiTransactionManager::is_broken_transaction_manager(&mut pooled.conn.conn) {
            Uncommitted::Unheard(error)
        } else {
            Uncommitted::Undone(failed(error))
        }
    })
}

impl Store for PostgresStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.disk_space, || self.read(|tx| body(tx)))
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.disk_space, || {
            let companies = self.write(|tx| body(tx))?;
            self.listener.notify(&companies);
            Ok(())
        })
    }

    fn connections(&self) -> Option<Connections> {
        Some(connections(&self.pool))
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.listener
    }
}
