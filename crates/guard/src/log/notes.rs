//! When the output of a run was written, and to which stream: a file beside its
//! log (docs/heartbeats.md#notes-beside-the-log).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;
use workforce_domain::port::LogStream;
use workforce_domain::time::Timestamp;

use super::part::LogPart;

/// A note as it is stored: microseconds, then an offset, both little-endian.
pub(super) const NOTE_LEN: usize = 16;
/// Set in an offset that counts from the beginning of the ring, which has no
/// place in the log before the run ends.
const IN_RING: u64 = 1 << 63;
/// The two bits of an offset that name the stream. In notes that knew of none
/// they are zero.
const STREAM_SHIFT: u32 = 61;
const OFFSET: u64 = (1 << STREAM_SHIFT) - 1;

/// Since when a part of a log has been there, and who wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogNote {
    /// Not later than the first byte of the part.
    pub at: Timestamp,
    /// Where the part begins, in bytes from the beginning of the log.
    pub offset: u64,
    /// Who wrote its first byte.
    pub stream: LogStream,
}

/// A note and what its offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    InLog(LogNote),
    InRing(LogNote),
}

impl Placed {
    pub(super) fn encode(self) -> [u8; NOTE_LEN] {
        let (note, place) = match self {
            Self::InLog(note) => (note, 0),
            Self::InRing(note) => (note, IN_RING),
        };
        let stream = match note.stream {
            LogStream::Stdout => 0,
            LogStream::Stderr => 1 << STREAM_SHIFT,
            LogStream::System => 2 << STREAM_SHIFT,
        };
        let mut stored = [0; NOTE_LEN];
        stored[..8].copy_from_slice(&note.at.micros().to_le_bytes());
        stored[8..].copy_from_slice(&(place | stream | note.offset & OFFSET).to_le_bytes());
        stored
    }

    pub(super) fn decode(stored: &[u8; NOTE_LEN]) -> Self {
        let number = |from: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&stored[from..from + 8]);
            bytes
        };
        let place = u64::from_le_bytes(number(8));
        let note = LogNote {
            at: Timestamp::from_micros(i64::from_le_bytes(number(0))),
            offset: place & OFFSET,
            stream: match (place & !IN_RING) >> STREAM_SHIFT {
                1 => LogStream::Stderr,
                2 => LogStream::System,
                _ => LogStream::Stdout,
            },
        };
        if place & IN_RING == 0 {
            Self::InLog(note)
        } else {
            Self::InRing(note)
        }
    }

    /// The note, where its offset is one into the log.
    pub(super) const fn in_log(self) -> Option<LogNote> {
        match self {
            Self::InLog(note) => Some(note),
            Self::InRing(_) => None,
        }
    }
}

/// All notes of a log, in its order; none of one that nothing was noted of. What
/// a crash cut off is no note.
pub(super) fn read_placed(log: &Path) -> io::Result<Vec<Placed>> {
    match fs::read(LogPart::Notes.beside(log)) {
        Ok(stored) => {
            let (whole, _cut) = stored.as_chunks::<NOTE_LEN>();
            Ok(whole.iter().map(Placed::decode).collect())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The notes of a log, in its order. Those of the end that the cap keeps apart
/// come with it, when the run has ended.
///
/// # Errors
///
/// The notes exist and cannot be read.
pub fn read_log_notes(log: &Path) -> io::Result<Vec<LogNote>> {
    Ok(read_placed(log)?
        .into_iter()
        .filter_map(Placed::in_log)
        .collect())
}

/// The notes that tell of a part of a log: the last one up to its beginning and
/// those within it.
pub(super) fn notes_of(log: &Path, part: Range<u64>) -> io::Result<Vec<LogNote>> {
    let file = match File::open(LogPart::Notes.beside(log)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let note = |index: u64| -> io::Result<Option<LogNote>> {
        let mut stored = [0; NOTE_LEN];
        file.read_exact_at(&mut stored, index * NOTE_LEN as u64)?;
        Ok(Placed::decode(&stored).in_log())
    };
    let count = file.metadata()?.len() / NOTE_LEN as u64;
    // A long log is read in many pieces, so that no piece reads all notes.
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if note(middle)?.is_some_and(|note| note.offset <= part.start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut notes = Vec::new();
    for index in low.saturating_sub(1)..count {
        match note(index)? {
            Some(note) if note.offset < part.end => notes.push(note),
            _ => break,
        }
    }
    Ok(notes)
}

pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    options
}
