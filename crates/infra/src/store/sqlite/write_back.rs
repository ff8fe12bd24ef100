//! Sending much that is written to the disk bit by bit.

use core::convert::Infallible;
use core::time::Duration;
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

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
