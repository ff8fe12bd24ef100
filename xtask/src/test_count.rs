//! Counts tests while their output passes through.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::AddAssign;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::command::{announce, display};

/// How many tests passed, failed and did not run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestCount {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl AddAssign for TestCount {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for TestCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(
            f,
            "Tests: {} run, {passed} passed, {failed} failed, {skipped} skipped",
            passed + failed
        )
    }
}

impl TestCount {
    /// The count in a closing line of `cargo nextest run` or of a test binary; `None` for any other
    /// line.
    fn from_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let counts = if let Some(summary) = line.trim_start().strip_prefix("Summary [") {
            summary.split_once(" run: ")?.1
        } else {
            // Indented, it is the output of one failed test, which nextest repeats.
            line.strip_prefix("test result: ")?.split_once(". ")?.1
        };
        let mut count = Self::default();
        // A part is `12 passed`; nextest adds `(3 slow)` to some.
        for part in counts.split([',', ';']) {
            let mut words = part.split_whitespace();
            let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
                continue;
            };
            match words.next() {
                Some("passed") => count.passed += number,
                Some("failed" | "timed" | "exec") => count.failed += number,
                Some("skipped" | "ignored") => count.skipped += number,
                _ => {}
            }
        }
        Some(count)
    }
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // An SGR sequence ends with its letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

/// Runs a command that runs tests, and adds what it counted to `total`.
///
/// # Errors
///
/// When it cannot be started or fails.
pub(crate) fn run(mut command: Command, total: &mut TestCount) -> Result<()> {
    announce(&command);
    if io::IsTerminal::is_terminal(&io::stdout()) {
        // Not a terminal for the command, whose output goes through a pipe.
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start `{}`", display(&command)))?;
    let stdout = child
        .stdout
        .take()
        .context("the command has no standard output")?;
    let stderr = child
        .stderr
        .take()
        .context("the command has no standard error")?;
    let errors = thread::spawn(move || pass_through(stderr, io::stderr()));
    *total += pass_through(stdout, io::stdout())?;
    match errors.join() {
        Ok(count) => *total += count?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    let status = child
        .wait()
        .with_context(|| format!("lost `{}`", display(&command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", display(&command));
    }
    Ok(())
}

fn pass_through(from: impl Read, mut to: impl Write) -> Result<TestCount> {
    let mut from = BufReader::new(from);
    let mut total = TestCount::default();
    let mut line = Vec::new();
    while from
        .read_until(b'\n', &mut line)
        .context("failed to read the output of the tests")?
        > 0
    {
        to.write_all(&line)
            .context("failed to pass the output of the tests on")?;
        if let Some(count) = TestCount::from_line(&String::from_utf8_lossy(&line)) {
            total += count;
        }
        line.clear();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(u64, u64, u64)>) {
        let expected = expected.map(|(passed, failed, skipped)| TestCount {
            passed,
            failed,
            skipped,
        });
        assert_eq!(TestCount::from_line(line), expected);
    }

    #[test]
    fn counts_come_from_the_closing_lines_of_both_runners() {
        check(
            "     Summary [   0.612s] 12 tests run: 9 passed (1 slow, 2 leaky), 2 failed, 1 timed out, 3 skipped",
            Some((9, 3, 3)),
        );
        check(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.010s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m \u{1b}[33;1mskipped\u{1b}[0m",
            Some((1, 0, 0)),
        );
        check(
            "test result: FAILED. 5 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.61s",
            Some((5, 1, 2)),
        );
        check("    test result: FAILED. 0 passed; 1 failed", None);
        check("test postgres::works ... ok", None);
    }

    #[test]
    fn output_is_passed_through_byte_for_byte_and_counted() {
        let input = b"one\n\xff\ntest result: ok. 2 passed; 0 failed\nno newline at the end";
        let mut output = Vec::new();

        let count = pass_through(&input[..], &mut output).unwrap();

        assert_eq!(output, input);
        assert_eq!(
            count,
            TestCount {
                passed: 2,
                failed: 0,
                skipped: 0
            }
        );
    }
}
