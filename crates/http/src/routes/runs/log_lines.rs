//! A run's log as lines of JSON (docs/heartbeats.md#lines-of-json).

use actix_web::web::Bytes;
use serde::Serialize;
use workforce_domain::port::{LogSlice, LogStream};
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;

use super::log_end::LogEnd;
use crate::json;
use crate::problem::Problem;

/// The content type of lines of JSON.
pub(super) const NDJSON: &str = "application/x-ndjson";

/// One line.
#[derive(Serialize)]
struct LogLine<'a> {
    ts: Timestamp,
    stream: LogStream,
    chunk: &'a str,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// Writes lines.
#[derive(Default)]
pub(super) struct LogLines(Vec<u8>);

impl LogLines {
    /// A line for each part. What was not noted when it was written is told to be
    /// of the instant at which the run started.
    ///
    /// # Errors
    /// `internal` when the lines cannot be written as JSON, which all of them can.
    pub(super) fn piece(&mut self, run: &Run, slice: &LogSlice) -> Result<(), Problem> {
        slice.parts.iter().try_for_each(|part| {
            self.line(&LogLine {
                ts: part.at.or(run.started_at).unwrap_or(run.created_at),
                stream: part.stream,
                chunk: &part.text,
                seq: part.offset,
                complete: None,
                note: None,
            })
        })
    }

    /// A line without text, which only says where the next piece begins.
    ///
    /// # Errors
    /// As of [`piece`](Self::piece).
    pub(super) fn position(&mut self, now: Timestamp, next_offset: u64) -> Result<(), Problem> {
        self.empty(now, next_offset, None, None)
    }

    /// The last line, which also says whether the log is complete.
    ///
    /// # Errors
    /// As of [`piece`](Self::piece).
    pub(super) fn end(&mut self, now: Timestamp, end: LogEnd) -> Result<(), Problem> {
        self.empty(now, end.next_offset, Some(end.complete), end.note)
    }

    fn empty(
        &mut self,
        ts: Timestamp,
        seq: u64,
        complete: Option<bool>,
        note: Option<&'static str>,
    ) -> Result<(), Problem> {
        self.line(&LogLine {
            ts,
            stream: LogStream::System,
            chunk: "",
            seq,
            complete,
            note,
        })
    }

    fn line(&mut self, line: &LogLine<'_>) -> Result<(), Problem> {
        json::write(&mut self.0, line).map_err(|error| Problem::internal(&error))?;
        self.0.push(b'\n');
        Ok(())
    }

    /// What was written.
    pub(super) fn into_bytes(self) -> Bytes {
        self.0.into()
    }
}
