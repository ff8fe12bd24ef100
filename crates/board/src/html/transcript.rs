//! What a run's log tells, to be read.

use std::collections::HashMap;

use workforce_agent_programs::{AgentProgram, Marked, Passage, Reply, Transcript, Usage};
use workforce_domain::agent::AdapterType;
use workforce_domain::port::{LogPart, LogStream};
use workforce_domain::time::Timestamp;

use super::log_lines::{Line, lines};
use super::output::Output;
use super::when;

/// The longest text that is shown of one passage, in bytes.
const LONGEST: usize = 4096;
/// The heaviest transcript on a page, as markup.
const HEAVIEST: usize = 56 * 1024;
/// The markup of a row around its texts.
const AROUND: usize = 220;
/// Rows on a page.
const MOST: usize = 300;

/// A row of a transcript.
pub(crate) struct Row {
    /// Unlike that of any other row, and the same whenever it is shown.
    pub(crate) id: String,
    mark: u64,
    /// When it was written.
    pub(crate) at: String,
    pub(crate) class: &'static str,
    pub(crate) kind: Kind,
    /// What was used until then.
    pub(crate) used: String,
}

/// What a row shows.
pub(crate) enum Kind {
    /// A text.
    Text(Text),
    /// Something that is opened to be read.
    Folded(&'static str, Text),
    /// The call of a tool, with what it was called with and what came of it.
    Call {
        tool: String,
        about: Output,
        input: Text,
        reply: Option<Text>,
        has_failed: bool,
    },
}

/// A text, and how many bytes of it are left out.
pub(crate) struct Text {
    pub(crate) text: Output,
    pub(crate) left_out: usize,
}

impl Text {
    fn new(text: &str) -> Self {
        let (text, left_out) = Output::cut(text.trim_end(), LONGEST);
        Self { text, left_out }
    }
}

/// The rows that fit on a page, and the place in the log before which others are.
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    pub(crate) earlier: Option<u64>,
}

/// Reads a piece of a log that begins at `begin`. A line that is still written is left out.
pub(crate) fn read(adapter: AdapterType, parts: &[LogPart], begin: u64, is_growing: bool) -> Rows {
    let lines = lines(parts, begin, is_growing);
    let program = program(adapter);
    let mut transcript = program.map(Transcript::of);
    let mut rows = Vec::new();
    let mut times = HashMap::new();
    for line in &lines {
        times.insert(line.offset, line.at);
        match (line.stream, &mut transcript) {
            (LogStream::Stdout, Some(transcript)) => transcript.line(line.offset, &line.text),
            _ => rows.extend(plain(line)),
        }
    }
    let passages = transcript.map(Transcript::finish).unwrap_or_default();
    for Marked { mark, passage } in passages {
        let at = times.get(&mark).copied().flatten();
        match passage {
            Passage::Used(usage) => note_use(&mut rows, mark, at, usage),
            passage => rows.extend(row(mark, at, passage)),
        }
    }
    rows.sort_by_key(|row: &Row| row.mark);
    name(&mut rows);
    fitting(rows, begin)
}

const fn program(adapter: AdapterType) -> Option<AgentProgram> {
    match adapter {
        AdapterType::ClaudeLocal => Some(AgentProgram::Claude),
        AdapterType::CodexLocal => Some(AgentProgram::Codex),
        AdapterType::Cursor => Some(AgentProgram::Cursor),
        AdapterType::GeminiLocal => Some(AgentProgram::Gemini),
        AdapterType::OpencodeLocal => Some(AgentProgram::Opencode),
        AdapterType::PiLocal => Some(AgentProgram::Pi),
        AdapterType::Process | AdapterType::Http => None,
    }
}

fn new_row(mark: u64, at: Option<Timestamp>, class: &'static str, kind: Kind) -> Row {
    Row {
        id: String::new(),
        mark,
        at: at.map(when::clock).unwrap_or_default(),
        class,
        kind,
        used: String::new(),
    }
}

/// A line that no program of ours wrote.
fn plain(line: &Line) -> Option<Row> {
    let text = Text::new(&line.text);
    if text.text.is_empty() {
        return None;
    }
    let (class, kind) = match line.stream {
        LogStream::Stdout => ("", Kind::Text(text)),
        LogStream::Stderr => ("warn", Kind::Text(text)),
        LogStream::System => ("quiet", Kind::Folded("Workforce", text)),
    };
    Some(new_row(line.offset, line.at, class, kind))
}

fn row(mark: u64, at: Option<Timestamp>, passage: Passage) -> Option<Row> {
    let (class, kind) = match passage {
        Passage::Said(text) => ("txt", Kind::Text(Text::new(&text))),
        Passage::Thought(text) => ("quiet", Kind::Folded("Thought", Text::new(&text))),
        Passage::Told(text) => ("quiet", Kind::Folded("Was told", Text::new(&text))),
        Passage::Noted(text) => ("quiet", Kind::Text(Text::new(&text))),
        Passage::Failed(text) => ("er", Kind::Text(Text::new(&text))),
        Passage::Raw(text) => ("", Kind::Text(Text::new(&text))),
        Passage::Answered(Reply { text, has_failed }) => {
            let class = if has_failed { "er" } else { "" };
            (class, Kind::Folded("Answer", Text::new(&text)))
        }
        Passage::Called(call) => {
            let has_failed = call.reply.as_ref().is_some_and(|reply| reply.has_failed);
            let kind = Kind::Call {
                about: Output::cut(&call.about, LONGEST / 16).0,
                tool: call.tool,
                input: Text::new(&call.input),
                reply: call.reply.map(|reply| Text::new(&reply.text)),
                has_failed,
            };
            (if has_failed { "er" } else { "" }, kind)
        }
        Passage::Used(_) => return None,
    };
    Some(new_row(mark, at, class, kind))
}

/// Tells what was used beside the row that used it.
fn note_use(rows: &mut Vec<Row>, mark: u64, at: Option<Timestamp>, usage: Usage) {
    if usage.tokens.is_zero() {
        return;
    }
    let words = tokens(usage);
    match rows.last_mut() {
        Some(row) if row.used.is_empty() => row.used = words,
        _ => {
            let mut row = new_row(mark, at, "quiet", Kind::Text(Text::new("Used")));
            row.used = words;
            rows.push(row);
        }
    }
}

fn tokens(usage: Usage) -> String {
    let tokens = usage.tokens;
    let input = tokens.sum().saturating_sub(tokens.output);
    format!("{} in, {} out", count(input), count(tokens.output))
}

/// `212 k` for a large number.
fn count(number: u64) -> String {
    match number {
        ..10_000 => number.to_string(),
        10_000..10_000_000 => format!("{} k", number / 1000),
        _ => format!("{} M", number / 1_000_000),
    }
}

fn name(rows: &mut [Row]) {
    let mut last = (u64::MAX, 0);
    for row in rows {
        last = if last.0 == row.mark {
            (row.mark, last.1 + 1)
        } else {
            (row.mark, 0)
        };
        row.id = match last {
            (mark, 0) => format!("o{mark}"),
            (mark, place) => format!("o{mark}-{place}"),
        };
    }
}

/// The last rows, as many as fit on a page. What one line tells stays together.
fn fitting(mut rows: Vec<Row>, begin: u64) -> Rows {
    let mut heavy = 0;
    let first = rows.iter().rposition(|row| {
        heavy += row.weight();
        heavy > HEAVIEST
    });
    let first = first.map_or(0, |place| place + 1);
    let mut first = first.max(rows.len().saturating_sub(MOST));
    // A row that is too heavy alone is shown all the same: its texts are cut.
    first = first.min(rows.len().saturating_sub(1));
    let cut = rows.get(first).map(|row| row.mark);
    let kept = rows.iter().position(|row| Some(row.mark) == cut);
    let kept = kept.unwrap_or(first);
    let shown = rows.split_off(kept);
    let place = shown.first().map_or(begin, |row| row.mark);
    Rows {
        earlier: (kept > 0 || begin > 0).then_some(place),
        rows: shown,
    }
}

impl Row {
    fn weight(&self) -> usize {
        let texts = match &self.kind {
            Kind::Text(text) | Kind::Folded(_, text) => text.text.weight(),
            Kind::Call {
                about,
                input,
                reply,
                ..
            } => {
                let reply = reply.as_ref().map_or(0, |reply| reply.text.weight());
                about.weight() + input.text.weight() + reply
            }
        };
        AROUND + texts
    }
}
