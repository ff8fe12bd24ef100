use r2d2::Pool;
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};

use super::lock::ExclusiveLock;
use super::statement::{Begin, Rollback, Statement};
use super::writer::Writer;
use super::{Connection, Transaction};
use crate::store::feed::Listeners;
use crate::store::pool::{Manager, take};
use crate::store::retry::until_settled;

/// A store in a SQLite file that this process has to itself.
pub(crate) struct SqliteStore {
    readers: Pool<Manager<Connection>>,
    writer: Writer,
    listeners: Listeners,
    /// Dropped last, after every connection is closed.
    _lock: ExclusiveLock,
}

impl SqliteStore {
    pub(super) const fn new(
        readers: Pool<Manager<Connection>>,
        writer: Writer,
        listeners: Listeners,
        lock: ExclusiveLock,
    ) -> Self {
        Self {
            readers,
            writer,
            listeners,
            _lock: lock,
        }
    }
}

impl Store for SqliteStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(|| {
            let mut reader = take(&self.readers)?;
            reader.in_transaction = true;
            let conn = &mut reader.conn;
            let outcome = Begin
                .run(conn)
                .and_then(|()| body(&mut Transaction::on(conn)));
            if Rollback.run(conn).is_ok() {
                reader.in_transaction = false;
            }
            outcome
        })
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(|| {
            let told = self.writer.run(&mut |tx| body(tx))?;
            self.listeners.wake(&told);
            Ok(())
        })
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.listeners
    }
}
