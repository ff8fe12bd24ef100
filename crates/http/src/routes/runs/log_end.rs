use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{LogPart, LogSlice, LogStream};
use workforce_domain::run::Run;

/// Said of a log that another server wrote.
const ELSEWHERE: &str = "the log lies on another server; this is what the run keeps of its end";

/// What is said after a piece of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    /// Where the next piece begins, in bytes.
    pub(super) next_offset: u64,
    /// Whether the run has ended and nothing it wrote follows, here or on another
    /// server.
    pub(super) complete: bool,
    /// Why the log cannot be read here, when the run wrote one and this server has
    /// none of it.
    pub(crate) note: Option<&'static str>,
}

impl LogEnd {
    /// What is said after this piece, which is from `offset` on. When the log lies
    /// on another server, the piece is at first what the run keeps of its end.
    pub(super) fn of(run: &mut Run, offset: u64, slice: &mut LogSlice) -> Self {
        let has_ended = run.status.is_terminal();
        let elsewhere = has_ended && slice.total == 0 && run.log_bytes > 0;
        if elsewhere && offset == 0 {
            slice.parts = tail(run);
        }
        Self {
            next_offset: slice.next_offset,
            complete: has_ended && !elsewhere && slice.next_offset >= slice.total,
            note: elsewhere.then_some(ELSEWHERE),
        }
    }
}

fn tail(run: &mut Run) -> Vec<LogPart> {
    let part = |text| LogPart {
        at: None,
        stream: LogStream::Stdout,
        offset: 0,
        text,
    };
    let tail = run.log_tail.take().filter(|text| !text.is_empty());
    tail.map(part).into_iter().collect()
}
