use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::libc;
use serde::{Deserialize, Serialize};
use workforce_domain::port::{Clock, LogStream};

use super::note_writer::{self, NoteWriter};
use super::part::LogPart;
use super::ring::TailRing;

/// How many bytes of a run's output are kept unless told otherwise: 64 MiB.
pub const DEFAULT_LOG_CAP: u64 = 64 * 1024 * 1024;
/// How many bytes of the end of the output the run's row keeps: 8 KiB.
pub const TAIL_LEN: usize = 8 * 1024;

/// The output of one run: a file that only grows (docs/heartbeats.md#logs).
///
/// Half of the cap is written straight to the file, where readers see it at
/// once. What comes after is kept in a ring of the other half, in a file
/// beside it whose name ends in `.tail`, and joins the log when the run
/// finishes, after a line that says how many bytes are missing. Offsets into
/// the file therefore stay valid for ever.
#[derive(Debug)]
pub struct RunLog {
    path: PathBuf,
    file: File,
    head_len: u64,
    head_cap: u64,
    tail_cap: u64,
    ring: Option<TailRing>,
    notes: Option<NoteWriter>,
    recent: VecDeque<u8>,
    total: u64,
    fault: Option<io::Error>,
}

/// What a finished log held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSummary {
    /// Bytes that were appended, kept or not.
    pub total_bytes: u64,
    /// Bytes of them that the cap left out.
    pub left_out_bytes: u64,
    /// The end of the output, at most [`TAIL_LEN`] bytes of it, as text.
    pub tail: String,
    /// Why part of the output could not be stored, if that happened.
    pub fault: Option<String>,
}

impl RunLog {
    /// Opens a log for appending. Folders that are missing are made for their
    /// owner only, as is the file. A log that exists is continued; what an
    /// earlier process did not get to finish of it is finished first.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be made or written.
    pub fn open(path: &Path, cap: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        Self::recover(path)?;
        let file = append_options().create(true).open(path)?;
        let head_len = file.metadata()?.len();
        let cap = cap.max(2);
        Ok(Self {
            path: path.to_owned(),
            file,
            head_len,
            head_cap: cap / 2,
            tail_cap: cap - cap / 2,
            ring: None,
            notes: None,
            recent: VecDeque::with_capacity(2 * TAIL_LEN),
            total: 0,
            fault: None,
        })
    }

    /// Notes beside the log when it grows, by this clock, and by which stream (see
    /// [`read_log_notes`](super::read_log_notes)).
    #[must_use]
    pub fn noted_by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.notes = Some(NoteWriter::of(&self.path, clock));
        self
    }

    /// Finishes a log that a dead process left unfinished. Returns whether
    /// there was anything to do.
    ///
    /// # Errors
    ///
    /// The files cannot be read or written.
    pub fn recover(path: &Path) -> io::Result<bool> {
        match TailRing::left_at(LogPart::Tail.beside(path))? {
            Some(ring) => {
                settle_notes(path, &ring);
                ring.fold_into(&mut append_options().open(path)?)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Appends what was written to `stream`. A fault of the file system does not stop a run: it is
    /// kept for the summary, and later output is only counted.
    pub fn append(&mut self, stream: LogStream, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        // The end is that of the program; what it was told is not for everybody.
        if stream != LogStream::System {
            self.remember(chunk);
        }
        if self.fault.is_some() || chunk.is_empty() {
            return;
        }
        // Before the output, so that whoever reads that finds its notes.
        self.note(stream);
        if let Err(error) = self.store(chunk) {
            tracing::error!(%error, path = %self.path.display(), "output of a run is not stored");
            self.fault = Some(error);
        }
    }

    /// Notes that output comes. After a fault later notes are missing, not the
    /// output.
    fn note(&mut self, stream: LogStream) {
        let Some(notes) = self.notes.as_mut() else {
            return;
        };
        let noted = match &self.ring {
            Some(ring) => notes.note_in_ring(ring.written(), stream),
            None if self.head_len >= self.head_cap => notes.note_in_ring(0, stream),
            None => notes.note(self.head_len, stream),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, path = %self.path.display(), "a log goes on without notes");
            self.notes = None;
        }
    }

    fn store(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = self.head_cap.saturating_sub(self.head_len);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (head, rest) = chunk.split_at(chunk.len().min(room));
        self.file.write_all(head)?;
        self.head_len += head.len() as u64;
        if rest.is_empty() {
            return Ok(());
        }
        if let Some(ring) = self.ring.as_mut() {
            return ring.push(rest);
        }
        let ring = TailRing::create(
            LogPart::Tail.beside(&self.path),
            self.tail_cap,
            self.head_len,
        )?;
        self.ring.insert(ring).push(rest)
    }

    fn remember(&mut self, chunk: &[u8]) {
        let chunk = &chunk[chunk.len().saturating_sub(TAIL_LEN)..];
        let surplus = (self.recent.len() + chunk.len()).saturating_sub(TAIL_LEN);
        self.recent.drain(..surplus);
        self.recent.extend(chunk);
    }

    /// Closes the log: after this the file is complete.
    pub fn finish(mut self) -> LogSummary {
        let mut left_out_bytes = 0;
        if let Some(ring) = self.ring.take() {
            settle_notes(&self.path, &ring);
            match ring.fold_into(&mut self.file) {
                Ok(left_out) => left_out_bytes = left_out,
                Err(error) => {
                    tracing::error!(%error, path = %self.path.display(), "a log is not finished");
                    self.fault.get_or_insert(error);
                }
            }
        }
        LogSummary {
            total_bytes: self.total,
            left_out_bytes,
            tail: self.tail(),
            fault: self.fault.map(|error| error.to_string()),
        }
    }

    fn tail(&mut self) -> String {
        let mut bytes: &[u8] = self.recent.make_contiguous();
        if self.total > TAIL_LEN as u64 {
            // The cut may have gone through a character of up to four bytes.
            let rest_of_char = bytes
                .iter()
                .take(3)
                .take_while(|&&byte| is_continuation(byte))
                .count();
            bytes = &bytes[rest_of_char..];
        }
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Before the ring joins its log. A fault costs notes, not output.
fn settle_notes(path: &Path, ring: &TailRing) {
    if let Err(error) = note_writer::settle(path, &ring.gap()) {
        tracing::warn!(%error, path = %path.display(), "the notes of the end of a log are lost");
    }
}

/// Whether a byte continues a UTF-8 character rather than beginning one.
pub(super) const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn append_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .append(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    options
}
