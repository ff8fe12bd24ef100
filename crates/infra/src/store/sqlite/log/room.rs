//! Room on the disk to copy the log.
//!
//! The database grows when the log is copied, and the log begins anew only after that. A log that
//! took the last room could not be copied any more, and everything would stand until somebody makes
//! room. So the log takes no more than leaves enough for its own copy.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// So many bytes are left for what else grows with the log, such as its index.
const ASIDE: u64 = 1024 * 1024;

/// The room beside a database.
pub(super) struct Room {
    database: PathBuf,
    page_bytes: u64,
    /// How many pages the database has when the log is copied.
    pages: u64,
    /// For so many there was room.
    assured: u64,
}

impl Room {
    /// Nothing is known of the log yet.
    pub(super) fn beside(database: &Path) -> Self {
        Self {
            database: database.into(),
            page_bytes: 0,
            pages: 0,
            assured: 0,
        }
    }

    /// The log begins anew: all of it is copied.
    pub(super) const fn log_begins(&mut self) {
        self.pages = 0;
        self.assured = 0;
    }

    /// The log holds pages of a database that has so many.
    pub(super) fn log_holds(&mut self, pages: u32) {
        self.pages = self.pages.max(u64::from(pages));
    }

    /// How long a page is.
    pub(super) const fn pages_have(&mut self, bytes: u64) {
        self.page_bytes = bytes;
    }

    /// Whether there is room to copy the log when its file grows by so many bytes. Looks only when
    /// the log takes room, or the copy will need more. Where it cannot be told, there is.
    pub(super) fn is_enough_after(&mut self, growth: i64) -> bool {
        let growth = u64::try_from(growth).unwrap_or(0);
        if growth == 0 && self.pages <= self.assured {
            return true;
        }
        let is_enough = self.free_bytes().is_none_or(|(free, length)| {
            let copy = (self.pages * self.page_bytes).saturating_sub(length);
            let needed = growth.saturating_add(copy);
            needed == 0 || free >= needed.saturating_add(ASIDE)
        });
        if is_enough {
            self.assured = self.pages;
        }
        is_enough
    }

    /// How much is free, and how much the database has.
    fn free_bytes(&self) -> Option<(u64, u64)> {
        let disk = statvfs(&self.database).ok()?;
        let length = fs::metadata(&self.database).ok()?.len();
        Some((disk.blocks_available() * disk.fragment_size(), length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any disk has.
    const TOO_MUCH: i64 = i64::MAX / 2;

    #[test]
    fn room_is_wanted_for_the_log_and_for_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("notes.db");
        fs::write(&database, "").unwrap();
        let mut room = Room::beside(&database);
        room.pages_have(65_536);
        room.log_holds(3);
        assert!(room.is_enough_after(65_536));
        assert!(!room.is_enough_after(TOO_MUCH), "the log has no room");
        room.log_holds(u32::MAX);
        assert!(!room.is_enough_after(0), "its copy has none");
        room.log_begins();
        room.log_holds(3);
        assert!(room.is_enough_after(0));
    }

    #[test]
    fn what_the_database_has_is_not_wanted_again() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("notes.db");
        let pages = 100_000_000;
        // It takes no room, having no content.
        fs::File::create(&database)
            .and_then(|file| file.set_len(u64::from(pages) * 4096))
            .unwrap();
        let mut room = Room::beside(&database);
        room.pages_have(4096);
        room.log_holds(pages);
        assert!(room.is_enough_after(0));
    }

    #[test]
    fn room_that_cannot_be_told_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut room = Room::beside(&folder.path().join("none.db"));
        assert!(room.is_enough_after(TOO_MUCH));
    }
}
