//! The output of a run, in files (docs/heartbeats.md#logs).

mod note_writer;
mod notes;
mod packed;
mod part;
mod reader;
mod ring;
mod scrubber;
mod source;
mod writer;

pub use notes::{LogNote, read_log_notes};
pub use packed::pack_log;
pub use part::LogPart;
pub use reader::read_log;
pub(crate) use scrubber::OutputScrubber;
pub(crate) use source::OutputSource;
pub use writer::{DEFAULT_LOG_CAP, LogSummary, RunLog, TAIL_LEN};
