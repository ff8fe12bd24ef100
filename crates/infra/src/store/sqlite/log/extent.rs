//! How long the write-ahead log is, and what of it is worth copying.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;
use workforce_domain::port::StoreError;

use crate::store::errors::failed;
use crate::store::sqlite::Connection;

/// So many pages that are not copied are worth a checkpoint. With more, a page that many commits
/// wrote is copied less often; with fewer, a flush that commits wait for is shorter.
pub(super) const WORTH_COPYING: i32 = 2_000;
/// A log of so many pages, 32 MiB, is to begin anew.
pub(super) const LONG: i32 = 8_000;
/// So many pages the writer does not copy, which waits for it.
pub(super) const TOO_MANY_FOR_WRITER: i32 = 1_000;

/// The write-ahead log, in pages. Of one that is copied, as it was before.
#[derive(Clone, Copy, Debug, QueryableByName)]
pub(super) struct Log {
    /// Not 0 when somebody else copies it. The rest is not told then.
    #[diesel(sql_type = Integer)]
    pub(super) busy: i32,
    #[diesel(sql_type = Integer)]
    pub(super) log: i32,
    #[diesel(sql_type = Integer)]
    pub(super) checkpointed: i32,
}

/// What the thread leaves of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// So little that it waits for more.
    Little,
    /// The last of a long one, which the writer is to copy.
    ToWriter,
    /// Much: a reader stands in the way, and would in the writer's.
    ToReader,
}

/// What is done with the log.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Its length is read.
    Look,
    /// As much is copied as no reader stands in the way of.
    Copy,
    /// All is copied, and its room is given back to the disk, unless anybody reads or writes it.
    GiveBack,
}

impl Log {
    /// What is not copied.
    pub(super) const fn rest(self) -> i32 {
        self.log - self.checkpointed
    }

    /// Whether the rest is much for the thread, or for the writer, whose it is next.
    pub(super) const fn is_much(self) -> bool {
        self.rest() >= WORTH_COPYING || self.is_much_for_writer()
    }

    /// Whether the log is to begin anew, and more is left than the writer should copy.
    pub(super) const fn is_much_for_writer(self) -> bool {
        self.log >= LONG && self.rest() >= TOO_MANY_FOR_WRITER
    }

    /// Leaves the rest to the writer, which waits for it, when the log is long, and the rest is little
    /// or, since as much is added as is copied meanwhile, no longer becomes less.
    pub(super) const fn left_after(self, before: Self) -> Left {
        let becomes_less = self.rest() < before.rest();
        if self.log >= LONG && (self.rest() < TOO_MANY_FOR_WRITER || !becomes_less) {
            Left::ToWriter
        } else {
            Left::Little
        }
    }
}

/// How many pages of the log can be read.
pub(in crate::store::sqlite) fn log_pages(conn: &mut Connection) -> Result<u64, StoreError> {
    let log = checkpoint(conn, Mode::Look).map_err(failed)?;
    // Without a log it is -1.
    Ok(log.map_or(0, |it| u64::try_from(it.log).unwrap_or(0)))
}

/// Does something with the log, and returns how long it was. Returns nothing when somebody else copies
/// it.
pub(super) fn checkpoint(conn: &mut Connection, mode: Mode) -> QueryResult<Option<Log>> {
    let log: Log = sql_query(match mode {
        Mode::Look => "PRAGMA wal_checkpoint(NOOP)",
        Mode::Copy => "PRAGMA wal_checkpoint(PASSIVE)",
        Mode::GiveBack => "PRAGMA wal_checkpoint(TRUNCATE)",
    })
    .get_result(conn)?;
    Ok((log.busy == 0).then_some(log))
}
