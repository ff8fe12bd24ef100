//! How a run comes to its end.

use alloc::string::String;

use super::{Run, RunErrorCode, RunStatus};
use crate::lifecycle::{IllegalTransition, Lifecycle};
use crate::port::TextScrubber;
use crate::text::SessionId;
use crate::time::Timestamp;

/// What became of the execution of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Its program ended well.
    Succeeded,
    /// It ended otherwise.
    Failed(RunErrorCode),
    /// It exceeded a time limit.
    TimedOut(RunErrorCode),
    /// It was stopped because somebody asked for it, for this reason.
    Stopped(RunErrorCode),
    /// It ended by no doing of its own, such as with its server.
    Lost(RunErrorCode),
}

impl RunOutcome {
    /// The status of a run that ended so.
    pub const fn status(self) -> RunStatus {
        match self {
            Self::Succeeded => RunStatus::Succeeded,
            Self::Failed(_) | Self::Lost(_) => RunStatus::Failed,
            Self::TimedOut(_) => RunStatus::TimedOut,
            Self::Stopped(_) => RunStatus::Cancelled,
        }
    }

    /// Why it ended otherwise than well.
    pub const fn error_code(self) -> Option<RunErrorCode> {
        match self {
            Self::Succeeded => None,
            Self::Failed(code) | Self::Lost(code) | Self::TimedOut(code) | Self::Stopped(code) => {
                Some(code)
            }
        }
    }
}

/// The text with which a run ended is kept up to this length.
pub const MAX_RESULT_BYTES: usize = 16 * 1024;

/// The text with which a run ended, as far as it is kept: its beginning, with
/// the mark of an unknown character for NUL, which not every database takes.
pub fn bounded_result(text: String) -> String {
    start_of(text, MAX_RESULT_BYTES)
}

/// The beginning of a text, with the mark of an unknown character for NUL.
pub(super) fn start_of(text: String, max: usize) -> String {
    let mut text = if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    };
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
    text
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// What became of it.
    pub outcome: RunOutcome,
    /// The same for people.
    pub error: Option<String>,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// Bytes of output it wrote.
    pub log_bytes: i64,
    /// The end of its output.
    pub log_tail: Option<String>,
    /// The session that its program named; none leaves the one that is known.
    pub session: Option<SessionId>,
    /// The text with which its program ended.
    pub result_text: Option<String>,
    /// Until when the provider of the model said to wait.
    pub retry_at: Option<Timestamp>,
}

impl RunEnd {
    /// The end of a run of whose program nothing is known.
    pub fn without_exit(outcome: RunOutcome, error: impl Into<String>) -> Self {
        Self {
            outcome,
            error: Some(error.into()),
            exit_code: None,
            signal: None,
            log_bytes: 0,
            log_tail: None,
            session: None,
            result_text: None,
            retry_at: None,
        }
    }

    /// Takes the values of the run's secrets out of every text.
    pub fn scrub(&mut self, scrubber: &dyn TextScrubber) {
        for text in self.texts() {
            if let Some(clean) = scrubber.scrub(text) {
                *text = clean;
            }
        }
    }

    /// Shows NUL as the mark of an unknown character: not every database takes
    /// it in a text.
    fn replace_nul(&mut self) {
        for text in self.texts() {
            if text.contains('\0') {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
    }

    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.error, &mut self.log_tail, &mut self.result_text]
            .into_iter()
            .flatten()
    }
}

impl Run {
    /// Ends the run: its token dies with it, and nobody runs it any more.
    /// Whatever became of it after somebody had asked it to stop, it was
    /// stopped, for the reason that was given.
    ///
    /// # Errors
    /// When it has ended already; then nothing changed.
    pub fn end(
        &mut self,
        mut end: RunEnd,
        now: Timestamp,
    ) -> Result<RunOutcome, IllegalTransition<RunStatus>> {
        let asked = self.stop_reason.map(RunOutcome::Stopped);
        let outcome = asked.unwrap_or(end.outcome);
        self.status = self.status.transition_to(outcome.status())?;
        end.replace_nul();
        self.error_code = outcome.error_code();
        self.error = end.error;
        self.exit_code = end.exit_code;
        self.signal = end.signal;
        self.log_bytes = end.log_bytes;
        self.log_tail = end.log_tail;
        self.session = end.session.or_else(|| self.session.take());
        self.result_text = end.result_text.map(bounded_result);
        self.retry_at = end.retry_at;
        self.token_digest = None;
        self.instance = None;
        self.lease_expires_at = None;
        self.finished_at = Some(now);
        self.updated_at = now;
        Ok(outcome)
    }

    /// Notes that a running run is to stop, for this reason; the first reason
    /// counts. True when nobody had asked before.
    pub fn ask_to_stop(&mut self, reason: RunErrorCode, now: Timestamp) -> bool {
        let is_new = self.status.is_live() && self.stop_requested_at.is_none();
        if is_new {
            self.stop_requested_at = Some(now);
            self.stop_reason = Some(reason);
            self.updated_at = now;
        }
        is_new
    }
}
