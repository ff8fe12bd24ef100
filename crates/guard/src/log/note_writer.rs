use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use workforce_domain::port::{Clock, LogStream};
use workforce_domain::time::Timestamp;

use super::notes::{LogNote, NOTE_LEN, Placed, options, read_placed};
use super::part::LogPart;
use super::ring::Gap;

/// All output of one span to one stream shares the note of its first byte.
const SPAN: Duration = Duration::from_secs(1);
/// After this many notes the span doubles, and again after as many, so that the
/// file of a run that never ends stays small.
const NOTES_PER_SPAN: u64 = 16_384;
/// After this many notes a change of the stream is noted with the next span only,
/// so that a program that alternates does not make a note of each byte.
const NOTES_OF_CHANGES: u64 = 32_768;

/// Notes when a log grows, and by which stream.
pub(super) struct NoteWriter {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    file: Option<File>,
    /// Of the last note.
    stream: Option<LogStream>,
    /// When the next one is due although the stream is the same.
    next: Option<Timestamp>,
    span: Duration,
    notes: u64,
}

impl fmt::Debug for NoteWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoteWriter")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl NoteWriter {
    /// Writes the notes of the log at `log`, with the instants of `clock`.
    pub(super) fn of(log: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            path: LogPart::Notes.beside(log),
            clock,
            file: None,
            stream: None,
            next: None,
            span: SPAN,
            notes: 0,
        }
    }

    /// Notes that the log grows from `offset` on.
    pub(super) fn note(&mut self, offset: u64, stream: LogStream) -> io::Result<()> {
        self.note_at(offset, stream, Placed::InLog)
    }

    /// The same for output that goes to the ring, `written` bytes after its
    /// beginning.
    pub(super) fn note_in_ring(&mut self, written: u64, stream: LogStream) -> io::Result<()> {
        self.note_at(written, stream, Placed::InRing)
    }

    fn note_at(
        &mut self,
        offset: u64,
        stream: LogStream,
        place: fn(LogNote) -> Placed,
    ) -> io::Result<()> {
        let at = self.clock.now();
        let is_due = self.next.is_none_or(|next| next <= at);
        let has_changed = self.stream != Some(stream) && self.notes < NOTES_OF_CHANGES;
        if !is_due && !has_changed {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(self.open()?);
        }
        let note = place(LogNote { at, offset, stream });
        if let Some(file) = &mut self.file {
            file.write_all(&note.encode())?;
        }
        self.notes += 1;
        if self.notes.is_multiple_of(NOTES_PER_SPAN) {
            self.span *= 2;
        }
        self.stream = Some(stream);
        self.next = Some(at.plus(self.span));
        Ok(())
    }

    /// The notes of a log that is continued count as well, and what a crash cut
    /// off must not shift those that follow.
    fn open(&mut self) -> io::Result<File> {
        let file = options().append(true).open(&self.path)?;
        let len = file.metadata()?.len();
        let notes = len / NOTE_LEN as u64;
        file.set_len(notes * NOTE_LEN as u64)?;
        self.notes = notes;
        for _ in 0..notes / NOTES_PER_SPAN {
            self.span *= 2;
        }
        Ok(file)
    }
}

/// Gives the notes of a ring their places in the log, right before the ring
/// joins it, and notes the line that stands for what is left out. Does nothing the
/// second time.
pub(super) fn settle(log: &Path, gap: &Gap) -> io::Result<()> {
    let stored = read_placed(log)?;
    let mut notes: Vec<LogNote> = stored.iter().filter_map(|note| note.in_log()).collect();
    let is_settled = notes
        .iter()
        .any(|note| note.offset == gap.begin() && note.stream == LogStream::System);
    if stored.is_empty() || is_settled {
        return Ok(());
    }
    let in_ring: Vec<LogNote> = stored
        .into_iter()
        .filter_map(|note| match note {
            Placed::InRing(note) => Some(note),
            Placed::InLog(_) => None,
        })
        .collect();
    let (before, after) = in_ring
        .split_at(in_ring.partition_point(|note| !gap.is_empty() && note.offset <= gap.left_out()));
    let last_in_log = notes.last().copied();
    if !gap.is_empty()
        && let Some(first) = before.first().or(last_in_log.as_ref())
        && let Some(last) = before.last().or(last_in_log.as_ref())
    {
        notes.push(LogNote {
            at: first.at,
            offset: gap.begin(),
            stream: LogStream::System,
        });
        notes.push(LogNote {
            offset: gap.end(),
            ..*last
        });
    }
    notes.extend(after.iter().filter_map(|note| {
        let offset = gap.place_of(note.offset)?;
        Some(LogNote { offset, ..*note })
    }));
    let settled: Vec<u8> = notes
        .into_iter()
        .flat_map(|note| Placed::InLog(note).encode())
        .collect();
    let new = LogPart::NewNotes.beside(log);
    options()
        .write(true)
        .truncate(true)
        .open(&new)?
        .write_all(&settled)?;
    fs::rename(new, LogPart::Notes.beside(log))
}
