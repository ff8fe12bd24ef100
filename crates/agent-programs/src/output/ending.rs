//! The end of a run: why it came where the program did not tell, and what the
//! session is counted for from now on.

use super::ProgramExit;
use super::run_record::RunRecord;
use crate::failure::{FailureClass, ProgramFailure};
use crate::failure_text::classify;
use crate::program::AgentProgram;
use crate::text::without_escapes;
use crate::usage::UsageBaseline;

/// Exit codes by which a program says that a signal ended it: 128 and the signal.
const AFTER_SIGNAL: [i32; 5] = [129, 130, 131, 137, 143];

/// Lines at the end of the standard error that may tell why a program ended that
/// had begun its work; earlier ones tell of what it overcame.
const LAST_LINES: usize = 8;

/// Why a run ended whose program did not print its last event.
pub(super) fn without_last_event(
    program: AgentProgram,
    exit: ProgramExit,
    record: &mut RunRecord,
    stderr: &str,
) -> ProgramFailure {
    if let Some(trouble) = record.trouble.take() {
        return trouble;
    }
    let was_stopped = match exit.code {
        Some(code) => AFTER_SIGNAL.contains(&code),
        None => true,
    };
    let had_begun = record.session.is_some();
    let failed_by_itself = exit.code.is_some_and(|code| code != 0);
    if !was_stopped && (failed_by_itself || !had_begun) {
        let stderr = without_escapes(stderr);
        let mut lines: Vec<_> = stderr.lines().map(str::trim).collect();
        lines.retain(|line| !line.is_empty());
        if had_begun {
            lines.drain(..lines.len().saturating_sub(LAST_LINES));
        }
        if let Some((class, line)) = classified(&lines) {
            return failure(class, line);
        }
        let known = program.definition().exit_codes;
        let class = known.iter().find(|(code, _)| Some(*code) == exit.code);
        if let Some(&(_, class)) = class {
            let line = telling(&lines).unwrap_or("the program printed no reason");
            return failure(class, line);
        }
        if !had_begun && let Some(line) = telling(&lines) {
            return failure(FailureClass::Other, line);
        }
    }
    ProgramFailure::new(FailureClass::Interrupted, &interruption(exit))
}

/// The last line that tells what kind of failure it was.
fn classified<'a>(lines: &[&'a str]) -> Option<(FailureClass, &'a str)> {
    let mut lines = lines.iter().rev();
    lines.find_map(|line| Some((classify(line)?, *line)))
}

/// The line that most likely says what is wrong: the first that speaks of an
/// error, for a trace may follow it, or else the last.
fn telling<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let speaks_of_error = |line: &&&str| line.contains("rror:") || line.contains("EACCES");
    lines.iter().find(speaks_of_error).or(lines.last()).copied()
}

fn failure(class: FailureClass, line: &str) -> ProgramFailure {
    let text = line.strip_prefix("Error:").unwrap_or(line);
    ProgramFailure::new(class, text)
}

fn interruption(exit: ProgramExit) -> String {
    match (exit.signal, exit.code) {
        (Some(signal), _) => format!("ended by signal {signal} before its last event"),
        (None, Some(code)) => format!("ended with code {code} before its last event"),
        (None, None) => "ended before its last event".to_owned(),
    }
}

/// What the session is counted for after the run: the program's own sums where
/// it has them, and otherwise what was counted.
pub(super) fn next_baseline(record: &RunRecord) -> UsageBaseline {
    let RunRecord {
        before,
        session_sums,
        usage,
        ..
    } = record;
    let tokens = before
        .tokens
        .map(|before| before.saturating_add(usage.tokens.unwrap_or_default()));
    let cost = before
        .cost
        .map(|before| before.saturating_add(usage.cost.unwrap_or_default()));
    UsageBaseline {
        tokens: session_sums.tokens.or(tokens),
        cost: session_sums.cost.or(cost),
    }
}
