//! The output of a run, in files (docs/heartbeats.md#logs).

mod reader;
mod ring;
mod scrubber;
mod source;
mod times;
mod writer;

pub use reader::{LogPart, read_log};
pub(crate) use scrubber::OutputScrubber;
pub(crate) use source::OutputSource;
pub use times::{LogTime, read_log_times};
pub use writer::{DEFAULT_LOG_CAP, LogSummary, RunLog, TAIL_LEN};
