use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use r2d2::Pool;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict, WriteQueue};
use workforce_vitals::DiskSpace;

use super::batch::Bodies;
use super::lock::ExclusiveLock;
use super::statement::{Begin, Rollback, Statement};
use super::writer::Writer;
use super::{Connection, Transaction};
use crate::store::errors::may_be_full;
use crate::store::feed::Listeners;
use crate::store::pool::{Manager, take};
use crate::store::retry::{note_full, until_settled};

/// A store in a SQLite file that this process has to itself.
pub(crate) struct SqliteStore {
    readers: Pool<Manager<Connection>>,
    writer: Writer,
    listeners: Listeners,
    /// Where the file and what belongs to it lie.
    folder: PathBuf,
    disk_space: DiskSpace,
    /// Dropped last, after every connection is closed.
    _lock: Arc<ExclusiveLock>,
}

impl SqliteStore {
    pub(super) fn new(
        readers: Pool<Manager<Connection>>,
        writer: Writer,
        listeners: Listeners,
        (folder, disk_space): (PathBuf, DiskSpace),
        lock: Arc<ExclusiveLock>,
    ) -> Self {
        Self {
            readers,
            writer,
            listeners,
            folder,
            disk_space,
            _lock: lock,
        }
    }

    /// The failure as it is: SQLite does not always say that the disk has no room.
    fn classify(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Failed(cause) if may_be_full(&*cause) && takes_nothing(&self.folder) => {
                StoreError::Full(cause)
            }
            other => other,
        }
    }
}

/// The writes of a caller, as the writer takes them.
struct Queued<'a>(&'a mut dyn WriteQueue);

impl Bodies for Queued<'_> {
    fn has(&mut self, which: usize) -> bool {
        self.0.has(which)
    }

    fn run(&mut self, which: usize, tx: &mut Transaction<'_>) -> Result<Verdict, StoreError> {
        self.0.run(which, tx)
    }
}

impl Store for SqliteStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.disk_space, || {
            let mut reader = take(&self.readers)?;
            reader.in_transaction = true;
            let conn = &mut reader.conn;
            let outcome = Begin
                .run(conn)
                .and_then(|()| body(&mut Transaction::on(conn)));
            if Rollback.run(conn).is_ok() {
                reader.in_transaction = false;
            }
            outcome.map_err(|error| self.classify(error))
        })
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.disk_space, || {
            let run = self.writer.run(&mut |tx| body(tx));
            let companies = run.map_err(|error| self.classify(error))?;
            self.listeners.notify(&companies);
            Ok(())
        })
    }

    fn run_writes(&self, writes: &mut dyn WriteQueue) -> Vec<Result<(), StoreError>> {
        let ran = self.writer.run_all(&mut Queued(writes));
        let mut to_notify = BTreeSet::new();
        let mut settled = Vec::with_capacity(ran.len());
        for (which, ran) in ran.into_iter().enumerate() {
            let outcome = match ran {
                Ok(Ok(companies)) => {
                    to_notify.extend(companies);
                    Ok(())
                }
                // It lost a race: by itself it runs until it wins.
                Ok(Err(StoreError::Contended)) => self.run_write(&mut |tx| writes.run(which, tx)),
                Ok(Err(error)) => Err(self.classify(error)),
                Err(_panic) => Err(StoreError::Failed("its body panicked".into())),
            };
            note_full(&self.disk_space, &outcome);
            settled.push(outcome);
        }
        let to_notify: Vec<CompanyId> = to_notify.into_iter().collect();
        self.listeners.notify(&to_notify);
        settled
    }

    fn has_one_writer(&self) -> bool {
        true
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.listeners
    }
}

/// Whether the disk of a folder has no room for a little more.
fn takes_nothing(folder: &Path) -> bool {
    let path = folder.join(".workforce-room");
    let tried = std::fs::File::create(&path).and_then(|mut file| {
        file.write_all(&[0; 64 * 1024])?;
        file.sync_all()
    });
    if let Err(error) = std::fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "a file of a test for room is left");
    }
    tried.is_err_and(|error| workforce_vitals::is_full(&error))
}
