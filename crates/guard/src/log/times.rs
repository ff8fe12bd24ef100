//! When the output of a run was written: a file beside its log with pairs of
//! an instant and an offset.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::libc;
use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;

use super::ring::Gap;

/// A pair as it is stored: microseconds, then an offset, both little-endian.
const PAIR_LEN: usize = 16;
/// Set in an offset that counts from the beginning of the ring, which has no
/// place in the log before the run ends.
const IN_RING: u64 = 1 << 63;
/// All output of one span shares the pair of its first byte.
const SPAN: Duration = Duration::from_secs(1);
/// After this many pairs the span doubles, and again after as many, so that the
/// file of a run that never ends stays small.
const PAIRS_PER_SPAN: u32 = 16_384;

/// Since when a part of a log has been there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogTime {
    /// Not later than the first byte of the part.
    pub at: Timestamp,
    /// Where the part begins, in bytes from the beginning of the log.
    pub offset: u64,
}

/// Notes when a log grows.
pub(super) struct LogTimes {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    file: Option<File>,
    next: Option<Timestamp>,
    span: Duration,
    pairs: u32,
}

impl fmt::Debug for LogTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogTimes")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl LogTimes {
    /// The times of the log at `log`, which are read from `clock`.
    pub(super) fn of(log: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            path: path_beside(log),
            clock,
            file: None,
            next: None,
            span: SPAN,
            pairs: 0,
        }
    }

    /// Notes that the log grows from `offset` on.
    pub(super) fn note(&mut self, offset: u64) -> io::Result<()> {
        let now = self.clock.now();
        if self.next.is_some_and(|next| now < next) {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(options().append(true).open(&self.path)?),
        };
        file.write_all(&encoded(now, offset))?;
        self.pairs += 1;
        if self.pairs.is_multiple_of(PAIRS_PER_SPAN) {
            self.span *= 2;
        }
        self.next = Some(now.plus(self.span));
        Ok(())
    }

    /// The same for output that goes to the ring, `written` bytes after its
    /// beginning.
    pub(super) fn note_in_ring(&mut self, written: u64) -> io::Result<()> {
        self.note(IN_RING | written)
    }
}

/// Gives the pairs of a ring their places in the log, right before the ring
/// joins it. Of what is left out only the last pair is kept, for the first
/// byte after the gap. Does nothing the second time.
pub(super) fn settle(log: &Path, gap: &Gap) -> io::Result<()> {
    let path = path_beside(log);
    let stored = match fs::read(&path) {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut settled = Vec::with_capacity(stored.len());
    let mut before_gap_end = None;
    for (at, offset) in pairs(&stored) {
        if offset & IN_RING == 0 {
            settled.extend(encoded(at, offset));
            continue;
        }
        match gap.place_of(offset & !IN_RING) {
            Some(place) => {
                if let Some(at) = before_gap_end.take() {
                    settled.extend(encoded(at, gap.end()));
                }
                settled.extend(encoded(at, place));
            }
            None => before_gap_end = Some(at),
        }
    }
    if let Some(at) = before_gap_end {
        settled.extend(encoded(at, gap.end()));
    }
    let mut new = path.clone().into_os_string();
    new.push(".new");
    options()
        .write(true)
        .truncate(true)
        .open(&new)?
        .write_all(&settled)?;
    fs::rename(new, path)
}

/// Since when the parts of a log have been there, in its order; at most one
/// part in a second. Nothing for a log whose times were not noted.
///
/// # Errors
///
/// The times exist and cannot be read.
pub fn read_log_times(log: &Path) -> io::Result<Vec<LogTime>> {
    match fs::read(path_beside(log)) {
        Ok(stored) => Ok(pairs(&stored)
            .filter(|(_, offset)| offset & IN_RING == 0)
            .map(|(at, offset)| LogTime { at, offset })
            .collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The pairs of a file; what a crash cut off is no pair.
fn pairs(stored: &[u8]) -> impl Iterator<Item = (Timestamp, u64)> {
    let (whole, _cut) = stored.as_chunks::<PAIR_LEN>();
    whole.iter().map(|pair| {
        let number = |from: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&pair[from..from + 8]);
            bytes
        };
        let at = Timestamp::from_micros(i64::from_le_bytes(number(0)));
        (at, u64::from_le_bytes(number(8)))
    })
}

fn encoded(at: Timestamp, offset: u64) -> [u8; PAIR_LEN] {
    let mut pair = [0; PAIR_LEN];
    pair[..8].copy_from_slice(&at.micros().to_le_bytes());
    pair[8..].copy_from_slice(&offset.to_le_bytes());
    pair
}

fn path_beside(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".times");
    name.into()
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    options
}
