use actix_web::web::Bytes;
use serde::Serialize;
use workforce_domain::id::RunId;
use workforce_domain::port::LogSlice;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::string_enum;
use workforce_domain::time::Timestamp;

use super::log_end::LogEnd;
use super::log_lines::{LogLines, NDJSON};
use crate::problem::Problem;
use crate::request_context::Request;
use crate::streams::{EVENT_STREAM, Frame, KEEP_ALIVE, preamble};

string_enum! {
    /// The forms in which a log is told.
    pub(super) enum LogFormat {
        /// As text, in a JSON object or in server-sent events.
        Plain = "plain",
        /// A line of JSON for each part.
        Ndjson = "ndjson",
    }
}

/// A piece of output on its way.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    run_id: RunId,
    offset: u64,
    next_offset: u64,
    content: String,
}

/// How the run ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct End {
    run_id: RunId,
    status: RunStatus,
    error_code: Option<RunErrorCode>,
    total_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl LogFormat {
    /// The form that the caller asks for.
    ///
    /// # Errors
    /// `invalid_request` when there is no such form.
    pub(super) fn of(rq: &Request) -> Result<Self, Problem> {
        Ok(rq.query()?.word("format")?.unwrap_or(Self::Plain))
    }

    /// The content type of a stream.
    pub(super) const fn stream_type(self) -> &'static str {
        match self {
            Self::Plain => EVENT_STREAM,
            Self::Ndjson => NDJSON,
        }
    }

    /// What a stream from `offset` on begins with.
    pub(super) fn begin(self, offset: u64) -> Option<Bytes> {
        match self {
            Self::Plain => Some(preamble(offset).into()),
            Self::Ndjson => None,
        }
    }

    /// The piece that begins at `offset`.
    ///
    /// # Errors
    /// `internal` when it cannot be written as JSON, which all of them can.
    pub(super) fn piece(self, run: &Run, offset: u64, slice: &LogSlice) -> Result<Bytes, Problem> {
        match self {
            Self::Plain => event(
                slice.next_offset,
                "log",
                &Chunk {
                    run_id: run.id,
                    offset,
                    next_offset: slice.next_offset,
                    content: slice.content(),
                },
            ),
            Self::Ndjson => {
                let mut lines = LogLines::default();
                lines.piece(run, slice)?;
                Ok(lines.into_bytes())
            }
        }
    }

    /// What a stream ends with when the run has ended; the log is `total` bytes
    /// long.
    ///
    /// # Errors
    /// As of [`piece`](Self::piece).
    pub(super) fn end(
        self,
        run: &Run,
        end: LogEnd,
        total: u64,
        now: Timestamp,
    ) -> Result<Bytes, Problem> {
        match self {
            Self::Plain => event(
                end.next_offset,
                "end",
                &End {
                    run_id: run.id,
                    status: run.status,
                    error_code: run.error_code,
                    total_bytes: total,
                    note: end.note,
                },
            ),
            Self::Ndjson => {
                let mut lines = LogLines::default();
                lines.end(now, end)?;
                Ok(lines.into_bytes())
            }
        }
    }

    /// What is sent when nothing happens; the next piece begins at `offset`.
    ///
    /// # Errors
    /// As of [`piece`](Self::piece).
    pub(super) fn keep_alive(self, offset: u64, now: Timestamp) -> Result<Bytes, Problem> {
        match self {
            Self::Plain => Ok(KEEP_ALIVE.into()),
            Self::Ndjson => {
                let mut lines = LogLines::default();
                lines.position(now, offset)?;
                Ok(lines.into_bytes())
            }
        }
    }

    /// What a stream ends with that may not go on. Lines have no word for it: what
    /// breaks off has no last line.
    pub(super) fn refusal(self, problem: &Problem) -> Option<Bytes> {
        match self {
            Self::Plain => Some(format!(": {}\n\n", problem.code()).into()),
            Self::Ndjson => None,
        }
    }
}

fn event(id: u64, kind: &str, data: &impl Serialize) -> Result<Bytes, Problem> {
    let frame = Frame::new(id, kind, data).map_err(|error| Problem::internal(&error))?;
    Ok(frame.text().clone())
}
