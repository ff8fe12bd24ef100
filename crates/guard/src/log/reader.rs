use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::writer::is_continuation;

/// No character is longer, so a slice of this size always has one.
const LONGEST_CHAR: usize = 4;
/// The longest slice, whatever is asked for: 1 MiB.
const LONGEST_SLICE: usize = 1024 * 1024;

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The text. Bytes that are no UTF-8 show as U+FFFD.
    pub content: String,
    /// Where the next slice begins, in bytes from the beginning of the log.
    pub next_offset: u64,
    /// How long the log is now, in bytes.
    pub total: u64,
    /// Whether there is nothing after this slice for now. The log of a live
    /// run may grow.
    pub at_end: bool,
}

/// Reads up to `limit` bytes of a log from the byte `offset` on. A character that
/// was read only in part is left for the next slice. So slices that each begin at
/// the last `next_offset` give the text undamaged.
///
/// # Errors
///
/// The file does not exist or cannot be read.
pub fn read_log(path: &Path, offset: u64, limit: usize) -> io::Result<LogPart> {
    let file = File::open(path)?;
    let total = file.metadata()?.len();
    let limit = limit.clamp(LONGEST_CHAR, LONGEST_SLICE);
    let available = usize::try_from(total.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; limit.min(available)];
    read_full(&file, &mut bytes, offset)?;
    let complete = bytes.len() - unfinished_char(&bytes);
    let at_end = offset + bytes.len() as u64 >= total;
    Ok(LogPart {
        content: String::from_utf8_lossy(&bytes[..complete]).into_owned(),
        next_offset: offset + complete as u64,
        total,
        at_end,
    })
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
