use diesel::connection::{AnsiTransactionManager, TransactionManager};
use r2d2::{Pool, PooledConnection};
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};
use workforce_vitals::Room;

use super::relay::Relay;
use super::{Connection, Transaction};
use crate::store::errors::failed;
use crate::store::pool::{Manager, take};
use crate::store::retry::until_settled;

/// Every statement sees the same state.
const BEGIN_READ: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
/// Every statement sees what was committed before it; what must stay is locked.
const BEGIN_WRITE: &str = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

/// A store in a PostgreSQL database, which several servers may share.
pub(crate) struct PostgresStore {
    pool: Pool<Manager<Connection>>,
    relay: Relay,
    room: Room,
}

impl PostgresStore {
    pub(super) const fn new(pool: Pool<Manager<Connection>>, relay: Relay, room: Room) -> Self {
        Self { pool, relay, room }
    }

    fn transact(
        &self,
        begin: &str,
        mut body: impl FnMut(&mut Transaction<'_>) -> Result<Verdict, StoreError>,
    ) -> Result<(), StoreError> {
        let mut pooled = self.begin(begin)?;
        let verdict = body(&mut Transaction::on(&mut pooled.conn));
        let ended = match verdict {
            Ok(Verdict::Commit) => AnsiTransactionManager::commit_transaction(&mut pooled.conn),
            Ok(Verdict::RollBack) | Err(_) => {
                AnsiTransactionManager::rollback_transaction(&mut pooled.conn)
            }
        };
        pooled.in_transaction = ended.is_err();
        verdict?;
        ended.map_err(failed)
    }

    /// A connection with a fresh transaction. A connection that was closed while it lay in the
    /// pool, as all are when the server restarts, is replaced by another: nothing has run yet.
    fn begin(&self, begin: &str) -> Result<PooledConnection<Manager<Connection>>, StoreError> {
        let mut stale = self.pool.state().idle_connections;
        loop {
            let mut pooled = take(&self.pool)?;
            // Kept from the pool until the transaction has ended well.
            pooled.in_transaction = true;
            match AnsiTransactionManager::begin_transaction_sql(&mut pooled.conn, begin)
                .map_err(failed)
            {
                Ok(()) => return Ok(pooled),
                Err(StoreError::Unavailable(_)) if stale > 0 => stale -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Store for PostgresStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.room, || {
            self.transact(BEGIN_READ, |tx| body(tx).map(|()| Verdict::Commit))
        })
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.room, || {
            let mut told = Vec::new();
            self.transact(BEGIN_WRITE, |tx| {
                let verdict = body(tx)?;
                if matches!(verdict, Verdict::Commit) {
                    told = tx.write_journal()?;
                }
                Ok(verdict)
            })?;
            self.relay.tell(&told);
            Ok(())
        })
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.relay
    }
}
