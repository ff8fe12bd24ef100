//! The lines of a run's log.

use workforce_domain::port::{LogPart, LogStream};
use workforce_domain::time::Timestamp;

/// A line, or what workforce wrote at once.
pub(crate) struct Line {
    /// When it was begun.
    pub(crate) at: Option<Timestamp>,
    pub(crate) stream: LogStream,
    /// Where it begins, in bytes.
    pub(crate) offset: u64,
    pub(crate) text: String,
}

/// The lines of a piece that begins at `begin`, in the order in which they were begun. The end of
/// a line that was begun before is left out, and so is one that is still written, unless there is
/// nothing else.
pub(crate) fn lines(parts: &[LogPart], begin: u64, is_growing: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for stream in [LogStream::Stdout, LogStream::Stderr, LogStream::System] {
        let of_stream = parts.iter().filter(|part| part.stream == stream);
        collect(of_stream, is_growing, &mut lines);
    }
    lines.sort_by_key(|line| line.offset);
    let is_cut = lines.first().is_some_and(|line| line.offset == begin);
    if begin > 0 && is_cut && lines.len() > 1 {
        lines.remove(0);
    }
    lines
}

fn collect<'a>(parts: impl Iterator<Item = &'a LogPart>, is_growing: bool, lines: &mut Vec<Line>) {
    let mut begun: Option<Line> = None;
    for part in parts {
        let mut offset = part.offset;
        // What workforce writes at once is one text.
        let pieces: Vec<&str> = match part.stream {
            LogStream::System => vec![&part.text],
            LogStream::Stdout | LogStream::Stderr => part.text.split_inclusive('\n').collect(),
        };
        for piece in pieces {
            let line = begun.get_or_insert_with(|| Line {
                at: part.at,
                stream: part.stream,
                offset,
                text: String::new(),
            });
            line.text.push_str(piece);
            offset += u64::try_from(piece.len()).unwrap_or_default();
            if piece.ends_with('\n') || part.stream == LogStream::System {
                lines.extend(begun.take());
            }
        }
    }
    lines.extend(begun.filter(|_| !is_growing));
}
