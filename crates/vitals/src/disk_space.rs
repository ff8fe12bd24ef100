use std::error::Error;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::families::Families;

/// After a failure for lack of room nothing is begun for so long.
const FULL_FOR: Duration = Duration::from_secs(5);

/// Where a server writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageArea {
    /// The data folder: the logs of runs, and the database when it is SQLite.
    Data,
    /// Where attachments are kept.
    Attachments,
    /// The database.
    Database,
}

impl StorageArea {
    const ALL: [Self; 3] = [Self::Data, Self::Attachments, Self::Database];

    /// The word for it in answers and counters.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Attachments => "attachments",
            Self::Database => "database",
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::Data => 0,
            Self::Attachments => 1,
            Self::Database => 2,
        }
    }
}

/// Why nothing that takes room may be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Where room is short.
    pub place: StorageArea,
    /// Bytes that are free there; `None` where all that is known is that
    /// something could not be written.
    pub free_bytes: Option<u64>,
    /// Bytes that should be free.
    pub min_free_bytes: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            StorageArea::Data => "the disk of the data folder",
            StorageArea::Attachments => "the disk of the attachments",
            StorageArea::Database => "the disk of the database",
        };
        match self.free_bytes {
            Some(free) => write!(
                f,
                "{place} has {free} bytes free and should have {}",
                self.min_free_bytes
            ),
            None => write!(f, "{place} is full"),
        }
    }
}

/// Whether there is room to write: looked at now and then, and noted whenever
/// something could not be written. Clones share what they know.
#[derive(Clone, Debug, Default)]
pub struct DiskSpace(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    min_free_bytes: u64,
    known: Mutex<[Known; StorageArea::ALL.len()]>,
    failures: AtomicU64,
}

/// What is known of one place.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    free_bytes: Option<u64>,
    is_low: bool,
    full_at: Option<Instant>,
}

impl DiskSpace {
    /// Nothing is known yet, and so much should be free everywhere; 0 for no
    /// such limit.
    #[must_use]
    pub fn new(min_free_bytes: u64) -> Self {
        Self(Arc::new(Inner {
            min_free_bytes,
            ..Inner::default()
        }))
    }

    /// Notes how much is free at a place. A place that was low counts as low until
    /// it has an eighth more than the minimum, so that it does not go back and forth.
    pub fn see(&self, place: StorageArea, free_bytes: u64) {
        let min = self.0.min_free_bytes;
        let mut all = self.known();
        let known = &mut all[place.index()];
        let enough = if known.is_low {
            min.saturating_add(min / 8)
        } else {
            min
        };
        known.is_low = free_bytes < enough;
        known.free_bytes = Some(free_bytes);
    }

    /// Notes that something could not be written for lack of room.
    pub fn note_full(&self, place: StorageArea) {
        self.0.failures.fetch_add(1, Ordering::Relaxed);
        self.known()[place.index()].full_at = Some(Instant::now());
    }

    /// Why nothing that takes room may be begun at the moment; `None` when it
    /// may.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        let known = *self.known();
        let min_free_bytes = self.0.min_free_bytes;
        let short = |place: StorageArea, free_bytes| Shortage {
            place,
            free_bytes,
            min_free_bytes,
        };
        let each = || StorageArea::ALL.into_iter().zip(known);
        let low = each().find(|(_, known)| known.is_low);
        let full = || each().find(|(_, known)| known.is_full());
        low.map(|(place, known)| short(place, known.free_bytes))
            .or_else(|| full().map(|(place, _)| short(place, None)))
    }

    fn known(&self) -> MutexGuard<'_, [Known; StorageArea::ALL.len()]> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whoever asks for metrics what is known.
    pub(crate) fn tell(&self, families: &mut Families<'_>) -> fmt::Result {
        let known = StorageArea::ALL.into_iter().zip(*self.known());
        families.gauges(
            "storage_free_bytes",
            "Bytes that are free where the server writes.",
            "place",
            known.filter_map(|(place, known)| Some((place.as_str(), known.free_bytes?))),
        )?;
        families.gauge(
            "storage_short",
            "Whether nothing is begun for lack of room.",
            u32::from(self.shortage().is_some()),
        )?;
        families.counter(
            "storage_full",
            "Writes that failed for lack of room.",
            self.0.failures.load(Ordering::Relaxed),
        )
    }
}

impl Known {
    fn is_full(&self) -> bool {
        self.full_at.is_some_and(|at| at.elapsed() < FULL_FOR)
    }
}

/// Whether an error, or what led to it, is a disk or a quota without room.
#[must_use]
pub fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) {
                return true;
            }
            // An error that was wrapped is not among its own sources.
            if let Some(inner) = error.get_ref()
                && is_full(inner)
            {
                return true;
            }
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_short_below_the_limit_until_there_is_clearly_enough() {
        let space = DiskSpace::new(800);
        assert_eq!(space.shortage(), None, "nothing is known yet");
        space.see(StorageArea::Data, 800);
        assert_eq!(space.shortage(), None);
        space.see(StorageArea::Attachments, 799);
        let shortage = space.shortage().unwrap();
        assert_eq!(
            (shortage.place, shortage.free_bytes),
            (StorageArea::Attachments, Some(799))
        );
        space.see(StorageArea::Attachments, 899);
        assert!(space.shortage().is_some());
        space.see(StorageArea::Attachments, 900);
        assert_eq!(space.shortage(), None);
    }

    #[test]
    fn without_a_limit_only_a_failure_tells() {
        let space = DiskSpace::new(0);
        space.see(StorageArea::Data, 0);
        assert_eq!(space.shortage(), None);
        space.note_full(StorageArea::Database);
        let shortage = space.shortage().unwrap();
        assert_eq!(
            (shortage.place, shortage.free_bytes),
            (StorageArea::Database, None)
        );
        assert_eq!(shortage.to_string(), "the disk of the database is full");
    }

    #[test]
    fn a_full_disk_is_found_among_the_causes() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(is_full(&full()));
        assert!(is_full(&io::Error::other(io::Error::other(full()))));
        assert!(is_full(&io::Error::from_raw_os_error(122)), "EDQUOT");
        assert!(!is_full(&io::Error::from(io::ErrorKind::BrokenPipe)));
    }
}
