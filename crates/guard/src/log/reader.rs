use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use workforce_domain::port::{LogPart, LogSlice, LogStream};

use super::notes::{LogNote, notes_of};
use super::packed::PackedLog;
use super::writer::is_continuation;

/// No character is longer, so a slice of this size always has one.
const LONGEST_CHAR: usize = 4;
/// The longest slice, whatever is asked for: 1 MiB.
const LONGEST_SLICE: usize = 1024 * 1024;

/// Reads up to `limit` bytes of a log from the byte `offset` on. A character that
/// was read only in part is left for the next slice. So slices that each begin at
/// the last `next_offset` give the text undamaged. Bytes that are no UTF-8 show as
/// U+FFFD. Where the notes beside the log cannot be read, the text has none.
///
/// # Errors
///
/// The file does not exist or cannot be read.
pub fn read_log(path: &Path, offset: u64, limit: usize) -> io::Result<LogSlice> {
    let source = Source::open(path)?;
    let total = source.total;
    let limit = limit.clamp(LONGEST_CHAR, LONGEST_SLICE);
    let available = usize::try_from(total.saturating_sub(offset)).unwrap_or(usize::MAX);
    let bytes = source.read(offset, limit.min(available))?;
    let complete = bytes.len() - unfinished_char(&bytes);
    let next_offset = offset + complete as u64;
    // After the text: what is written later has its notes in time, too.
    let notes = notes_of(path, offset..next_offset).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "the notes of a log are out of reach");
        Vec::new()
    });
    Ok(LogSlice {
        parts: parts(&bytes[..complete], offset, &notes),
        next_offset,
        total,
    })
}

/// Where the text of a log is.
struct Source {
    place: Place,
    total: u64,
}

enum Place {
    Plain(File),
    Packed(PackedLog),
}

impl Source {
    /// The log at `path`, as it was written or packed.
    fn open(path: &Path) -> io::Result<Self> {
        match File::open(path) {
            Ok(file) => Ok(Self {
                total: file.metadata()?.len(),
                place: Place::Plain(file),
            }),
            // It is packed before it goes.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let packed = PackedLog::of(path)?;
                Ok(Self {
                    total: packed.total(),
                    place: Place::Packed(packed),
                })
            }
            Err(error) => Err(error),
        }
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        match &self.place {
            Place::Plain(file) => {
                let mut bytes = vec![0; length];
                read_full(file, &mut bytes, offset)?;
                Ok(bytes)
            }
            Place::Packed(packed) => packed.read(offset, length),
        }
    }
}

/// The text that begins at `offset`, in parts of one note each. What of a
/// character, or of bytes that are none, lies beyond the beginning of a part still
/// belongs to the part before.
fn parts(bytes: &[u8], offset: u64, notes: &[LogNote]) -> Vec<LogPart> {
    let mut notes = notes.iter().peekable();
    let mut noted = None;
    let mut parts: Vec<LogPart> = Vec::new();
    let mut offset = offset;
    let mut push = |character: char, len: usize| {
        let mut is_new = parts.is_empty();
        while let Some(note) = notes.next_if(|note| note.offset <= offset) {
            noted = Some(*note);
            is_new = true;
        }
        if is_new {
            parts.push(LogPart {
                at: noted.map(|note| note.at),
                stream: noted.map_or(LogStream::Stdout, |note| note.stream),
                offset,
                text: String::new(),
            });
        }
        if let Some(part) = parts.last_mut() {
            part.text.push(character);
        }
        offset += len as u64;
    };
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push(character, character.len_utf8());
        }
        if !chunk.invalid().is_empty() {
            push(char::REPLACEMENT_CHARACTER, chunk.invalid().len());
        }
    }
    parts
}

fn read_full(file: &File, bytes: &mut Vec<u8>, offset: u64) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(len) => filled += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(())
}

/// How many bytes at the end are the beginning of a character that goes on.
fn unfinished_char(bytes: &[u8]) -> usize {
    let continued = bytes
        .iter()
        .rev()
        .take(LONGEST_CHAR - 1)
        .take_while(|&&byte| is_continuation(byte))
        .count();
    let len = continued + 1;
    let Some(start) = bytes.len().checked_sub(len) else {
        return 0;
    };
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => len,
        Ok(_) | Err(_) => 0,
    }
}
