//! Reads what a program tells while it runs.

mod claude;
mod claude_calls;
mod claude_events;
mod codex;
mod codex_thread;
mod cursor;
mod ending;
mod gemini;
pub(crate) mod json;
mod lines;
mod opencode;
mod pi;
mod run_record;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::event::ProgramEvent;
use crate::failure::ProgramFailure;
use crate::program::AgentProgram;
use crate::session_id::SessionId;
use crate::usage::{MicroCents, TokenUsage, UsageBaseline};
use lines::{Lines, Tail};
use run_record::RunRecord;

/// What a program writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
    /// What this run has appended to the [usage file](crate::UsageFiles) of its session.
    UsageFile,
}

/// How the program's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramExit {
    /// Its exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The program told so in its last event.
    Succeeded,
    /// It told a failure, or it ended without its last event.
    Failed(ProgramFailure),
}

/// What is known of a run once its program has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// What became of it.
    pub outcome: Outcome,
    /// The session to resume next time; `None` when the program told none.
    pub session: Option<SessionId>,
    /// What the agent said last, 64 KiB of it at most.
    pub result_text: Option<String>,
    /// Turns of the conversation, where the program counts them.
    pub num_turns: Option<u64>,
    /// What the session is counted for now; to be stored with it.
    pub baseline: UsageBaseline,
    /// Tokens of the run: the sum of its [`ProgramEvent::Usage`]. `None` when the
    /// program told no figure.
    pub total: Option<TokenUsage>,
    /// Cost of the run: the sum of its [`ProgramEvent::Usage`]. `None` when the
    /// program told no figure.
    pub cost: Option<MicroCents>,
}

impl Conclusion {
    /// The end of a run whose program has neither session nor usage.
    #[must_use]
    pub const fn of(outcome: Outcome, result_text: Option<String>) -> Self {
        Self {
            outcome,
            session: None,
            result_text,
            num_turns: None,
            baseline: UsageBaseline::UNKNOWN,
            total: None,
            cost: None,
        }
    }
}

/// Reads what a program prints, in chunks that may be cut anywhere, within
/// bounded memory.
///
/// What is no line of JSON is skipped, and so is a line above 4 MiB.
pub struct OutputParser {
    program: AgentProgram,
    reader: Box<dyn ReadOutput>,
    record: RunRecord,
    stdout: Lines,
    stderr: Lines,
    stderr_tail: Tail,
    usage_file: Lines,
}

impl OutputParser {
    const LONGEST_LINE: usize = 4 * 1024 * 1024;
    const LONGEST_STDERR_LINE: usize = 16 * 1024;

    /// For one run of the program. `baseline` is what the session was counted
    /// for before: [`UsageBaseline::NEW_SESSION`], or what the conclusion of its
    /// last run said.
    #[must_use]
    pub fn new(program: AgentProgram, baseline: UsageBaseline) -> Self {
        Self {
            program,
            reader: (program.definition().output)(),
            record: RunRecord::new(baseline),
            stdout: Lines::new(Self::LONGEST_LINE),
            stderr: Lines::new(Self::LONGEST_STDERR_LINE),
            stderr_tail: Tail::default(),
            usage_file: Lines::new(Self::LONGEST_LINE),
        }
    }

    /// Reads bytes of a stream and appends what they tell to `events`.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], events: &mut Vec<ProgramEvent>) {
        let Self { reader, record, .. } = self;
        match stream {
            Stream::Stdout => self.stdout.push(bytes, |line| reader.line(line, record)),
            Stream::Stderr => {
                self.stderr_tail.push(bytes);
                self.stderr.push(bytes, |line| {
                    reader.stderr_line(&String::from_utf8_lossy(line), record);
                });
            }
            Stream::UsageFile => {
                self.usage_file
                    .push(bytes, |line| reader.usage_line(line, record));
            }
        }
        events.append(&mut record.events);
    }

    /// The process has ended, and its streams with it. Answers with the last
    /// events and what became of the run.
    #[must_use]
    pub fn finish(self, exit: ProgramExit) -> (Vec<ProgramEvent>, Conclusion) {
        let Self {
            program,
            mut reader,
            mut record,
            mut stdout,
            mut stderr,
            stderr_tail,
            mut usage_file,
        } = self;
        usage_file.finish(|line| reader.usage_line(line, &mut record));
        stdout.finish(|line| reader.line(line, &mut record));
        stderr.finish(|line| {
            reader.stderr_line(&String::from_utf8_lossy(line), &mut record);
        });
        let outcome = reader.outcome(exit, &mut record).unwrap_or_else(|| {
            let stderr = stderr_tail.text();
            Outcome::Failed(ending::without_last_event(
                program,
                exit,
                &mut record,
                &stderr,
            ))
        });
        let total = record.usage.tokens;
        let cost = record.usage.cost;
        let conclusion = Conclusion {
            outcome,
            session: record.session.clone(),
            result_text: record.take_result_text(),
            num_turns: record.num_turns,
            baseline: ending::next_baseline(&record),
            total,
            cost,
        };
        (record.events, conclusion)
    }
}

/// Reads the output of one program.
pub(crate) trait ReadOutput: Send {
    /// A line of the standard output.
    fn line(&mut self, line: &[u8], record: &mut RunRecord);

    /// A line of the standard error.
    fn stderr_line(&mut self, _line: &str, _record: &mut RunRecord) {}

    /// A line of the usage file.
    fn usage_line(&mut self, _line: &[u8], _record: &mut RunRecord) {}

    /// What the last event said, now that the program has ended; `None` when it
    /// was not seen.
    fn outcome(&mut self, exit: ProgramExit, record: &mut RunRecord) -> Option<Outcome>;
}

pub(crate) fn claude() -> Box<dyn ReadOutput> {
    Box::<claude::Reader>::default()
}

pub(crate) fn codex() -> Box<dyn ReadOutput> {
    Box::<codex::Reader>::default()
}

pub(crate) fn gemini() -> Box<dyn ReadOutput> {
    Box::<gemini::Reader>::default()
}

pub(crate) fn opencode() -> Box<dyn ReadOutput> {
    Box::<opencode::Reader>::default()
}

pub(crate) fn pi() -> Box<dyn ReadOutput> {
    Box::<pi::Reader>::default()
}

pub(crate) fn cursor() -> Box<dyn ReadOutput> {
    Box::<cursor::Reader>::default()
}

/// An event, or `None` when the line is none.
fn event<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    // Most junk costs nothing this way.
    line.trim_ascii_start()
        .starts_with(b"{")
        .then(|| serde_json::from_slice(line).ok())
        .flatten()
}
