//! Sending much that is written to the disk bit by bit.

use core::convert::Infallible;
use core::time::Duration;
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// A file is sent in so many pieces.
const PIECES: u64 = 32;
/// The length of the shortest piece.
const SHORTEST: u64 = 1024 * 1024;
/// What was written in so long goes to the disk at once.
const PIECE: Duration = Duration::from_millis(30);

/// Does `work`, which fills `file`, and meanwhile has what is there written to the disk again and
/// again. If all of it went there at the end, every commit of that time would wait for it: the disk
/// has one queue, and a file system that keeps a journal writes the new blocks of one file before
/// it says that another is durable.
///
/// # Errors
/// When there can be no thread for it, before the work is begun; or when the disk takes no more.
pub(super) fn written_back<T>(file: &File, work: impl FnOnce() -> T) -> io::Result<T> {
    let (is_done, done) = mpsc::channel::<Infallible>();
    thread::scope(|scope| {
        let writing = thread::Builder::new().spawn_scoped(scope, move || {
            while done.recv_timeout(PIECE) == Err(RecvTimeoutError::Timeout) {
                file.sync_data()?;
            }
            Ok(())
        })?;
        let result = work();
        drop(is_done);
        let written: io::Result<()> = writing.join().unwrap_or_else(|panic| resume_unwind(panic));
        written.map(|()| result)
    })
}

/// Makes what was written to `file` durable, having sent it to the disk piece by piece before: whoever
/// flushes another file meanwhile waits for one piece at most, not for all of it.
///
/// # Errors
/// When the disk takes no more.
pub(super) fn flushed_in_pieces(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let piece = (length / PIECES).max(SHORTEST);
    let mut at = 0;
    while at < length {
        send(file, at, piece);
        at += piece;
    }
    file.sync_data()
}

/// Sends a part of a file to the disk, and waits for it. What the disk refuses, the next flush tells.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "there is nothing safe that calls the system for this"
)]
fn send(file: &File, at: u64, length: u64) {
    use std::os::fd::AsRawFd as _;

    use nix::libc::{
        self, SYNC_FILE_RANGE_WAIT_AFTER, SYNC_FILE_RANGE_WAIT_BEFORE, SYNC_FILE_RANGE_WRITE,
    };

    let (Ok(at), Ok(length)) = (i64::try_from(at), i64::try_from(length)) else {
        return;
    };
    let how = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the file is open, and no memory is passed.
    let _ = unsafe { libc::sync_file_range(file.as_raw_fd(), at, length, how) };
}

/// Other systems send it with the flush.
#[cfg(not(target_os = "linux"))]
const fn send(_file: &File, _at: u64, _length: u64) {}
