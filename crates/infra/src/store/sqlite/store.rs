use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use r2d2::Pool;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{
    Connections, EventFeed, Reads, Store, StoreError, Tx, Verdict, WriteQueue,
};
use workforce_vitals::DiskSpace;

use super::lock::ExclusiveLock;
use super::log::flush::Flushes;
use super::log::mender::Mender;
use super::statement::{Begin, Rollback, Statement};
use super::writer::Writer;
use super::writer::batch::Bodies;
use super::writer::member::Member;
use super::{Connection, Transaction};
use crate::store::errors::may_be_full;
use crate::store::feed::Listeners;
use crate::store::pool::{Manager, connections, take};
use crate::store::retry::{note_full, until_settled};

/// A store in a SQLite file that this process has to itself.
pub(crate) struct SqliteStore {
    readers: Pool<Manager<Connection>>,
    _mender: Mender,
    writer: Arc<Writer>,
    flushes: Arc<Flushes>,
    outside: Outside,
    /// Dropped last, after every connection is closed.
    _lock: Arc<ExclusiveLock>,
}

/// What is told of transactions, and what they depend on, outside of the file.
#[derive(Clone)]
struct Outside {
    listeners: Listeners,
    /// Where the file and what belongs to it lie.
    folder: Arc<Path>,
    disk_space: DiskSpace,
}

impl SqliteStore {
    pub(super) fn new(
        readers: Pool<Manager<Connection>>,
        (writer, flushes, mender): (Arc<Writer>, Arc<Flushes>, Mender),
        (folder, disk_space): (PathBuf, DiskSpace),
        lock: Arc<ExclusiveLock>,
    ) -> Self {
        Self {
            readers,
            _mender: mender,
            writer,
            flushes,
            outside: Outside {
                listeners: Listeners::default(),
                folder: folder.into(),
                disk_space,
            },
            _lock: lock,
        }
    }
}

impl Outside {
    /// The failure as it is: SQLite does not always say that the disk has no room.
    fn classify(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Failed(cause) if may_be_full(&*cause) && takes_nothing(&self.folder) => {
                StoreError::Full(cause)
            }
            other => other,
        }
    }

    /// Tells everybody how writes ended, whose batches are settled.
    fn tell(&self, writes: Box<dyn WriteQueue>, members: Vec<Member>) {
        let mut to_notify = BTreeSet::new();
        let outcomes = members.into_iter().map(|member| {
            let outcome = match member.ended() {
                Ok(Ok(companies)) => {
                    to_notify.extend(companies);
                    Ok(())
                }
                Ok(Err(error)) => Err(self.classify(error)),
                Err(_panic) => Err(StoreError::Failed("its body panicked".into())),
            };
            note_full(&self.disk_space, &outcome);
            outcome
        });
        let outcomes = outcomes.collect();
        let to_notify: Vec<CompanyId> = to_notify.into_iter().collect();
        self.listeners.notify(&to_notify);
        writes.end(outcomes);
    }
}

/// The writes of a caller, as the writer takes them.
struct Queued(Box<dyn WriteQueue>);

impl Bodies for Queued {
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
        let outcome = self.run_early_read(body);
        self.flushes.wait().and(outcome)
    }

    fn run_early_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.outside.disk_space, || {
            let mut reader = take(&self.readers)?;
            reader.in_transaction = true;
            let conn = &mut reader.conn;
            let outcome = Begin
                .run(conn)
                .and_then(|()| body(&mut Transaction::on(conn)));
            if Rollback.run(conn).is_ok() {
                reader.in_transaction = false;
            }
            outcome.map_err(|error| self.outside.classify(error))
        })
    }

    fn when_durable(&self, then: Box<dyn FnOnce() + Send>) {
        self.flushes.when_durable(then);
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.outside.disk_space, || {
            let run = self.writer.run(&mut |tx| body(tx));
            let companies = run.map_err(|error| self.outside.classify(error))?;
            self.outside.listeners.notify(&companies);
            Ok(())
        })
    }

    fn run_writes(&self, writes: Box<dyn WriteQueue>) {
        let mut queued = Queued(writes);
        let mut members = self.writer.run_all(&mut queued);
        let last = members.iter().rev().find_map(Member::batch).cloned();
        for (which, member) in members.iter_mut().enumerate() {
            if member.lost_a_race() {
                // By itself it runs until it wins.
                let won = self.run_write(&mut |tx| queued.0.run(which, tx));
                *member = Member::alone(Ok(won.map(|()| Vec::new())));
            }
        }
        let outside = self.outside.clone();
        let tell = move || outside.tell(queued.0, members);
        // Batches are settled in their order, save that one which failed is settled at once.
        match last {
            Some(last) => last.when_settled(Box::new(tell)),
            None => tell(),
        }
    }

    fn give_memory_back(&self) {
        self.writer.drop_cache();
    }

    fn has_one_writer(&self) -> bool {
        true
    }

    fn connections(&self) -> Option<Connections> {
        Some(connections(&self.readers))
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.outside.listeners
    }
}

/// Whether the disk of a folder has no room for a little more.
pub(super) fn takes_nothing(folder: &Path) -> bool {
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
