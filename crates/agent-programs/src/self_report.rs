use serde::{Deserialize, Serialize};

use crate::failure::{FailureClass, ProgramFailure};
use crate::output::{Conclusion, Outcome, ProgramExit};

/// What a program that was made for workforce says of itself, in lines of JSON on its
/// standard error. What it prints to its standard output is for people alone: there
/// somebody else may have written it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfReport {
    /// It waits for somebody else. From now on silence is no sign of a fault.
    Waiting,
    /// What became of the run.
    Ended(Box<Conclusion>),
}

/// Reads what a program says of itself, in chunks that may be cut anywhere.
#[derive(Debug, Default)]
pub struct SelfReportReader {
    line: Vec<u8>,
    conclusion: Option<Conclusion>,
}

impl SelfReportReader {
    /// Longer than any report; what comes beyond it is dropped.
    const LONGEST_LINE: usize = 1 << 20;

    /// Reads bytes of the standard error. Returns whether the program waits, and
    /// appends to `other` what is no report.
    pub fn push(&mut self, bytes: &[u8], other: &mut Vec<u8>) -> bool {
        let mut waits = false;
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let room = Self::LONGEST_LINE - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                waits |= self.end_line(other);
            }
        }
        waits
    }

    /// The process has ended. What it did not say itself, its exit says.
    #[must_use]
    pub fn finish(self, exit: ProgramExit) -> Conclusion {
        self.conclusion.unwrap_or_else(|| {
            let how = match exit {
                ProgramExit {
                    signal: Some(signal),
                    ..
                } => format!("signal {signal} ended the program"),
                ProgramExit {
                    code: Some(code), ..
                } => format!("the program ended with code {code} and did not say why"),
                ProgramExit {
                    code: None,
                    signal: None,
                } => "the program ended and did not say why".to_owned(),
            };
            let failure = ProgramFailure::told(FailureClass::Interrupted, &how, None);
            Conclusion::of(Outcome::Failed(failure), None)
        })
    }

    fn end_line(&mut self, other: &mut Vec<u8>) -> bool {
        let line = std::mem::take(&mut self.line);
        match serde_json::from_slice(&line) {
            Ok(SelfReport::Waiting) => true,
            Ok(SelfReport::Ended(conclusion)) => {
                self.conclusion = Some(*conclusion);
                false
            }
            Err(_) => {
                other.extend_from_slice(&line);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: ProgramExit = ProgramExit {
        code: Some(0),
        signal: None,
    };

    fn line(report: &SelfReport) -> Vec<u8> {
        [&serde_json::to_vec(report).unwrap()[..], b"\n"].concat()
    }

    #[test]
    fn reports_are_read_however_they_are_cut() {
        let conclusion = Conclusion::of(Outcome::Succeeded, Some("a\nb".into()));
        let ended = SelfReport::Ended(Box::new(conclusion.clone()));
        let text = [
            &line(&SelfReport::Waiting)[..],
            b"thread main panicked\n",
            &line(&ended),
        ]
        .concat();
        for len in [1, 7, text.len()] {
            let (mut reader, mut other) = (SelfReportReader::default(), Vec::new());
            let waits: Vec<bool> = text
                .chunks(len)
                .map(|chunk| reader.push(chunk, &mut other))
                .collect();
            assert_eq!(waits.iter().filter(|&&waits| waits).count(), 1);
            assert_eq!(other, b"thread main panicked\n");
            assert_eq!(reader.finish(DONE), conclusion);
        }
    }

    #[test]
    fn a_program_that_says_nothing_has_failed() {
        let reader = SelfReportReader::default();
        let killed = ProgramExit {
            code: None,
            signal: Some(9),
        };
        for (exit, expected) in [
            (DONE, "the program ended with code 0 and did not say why"),
            (killed, "signal 9 ended the program"),
        ] {
            let conclusion = SelfReportReader::default().finish(exit);
            let Outcome::Failed(failure) = conclusion.outcome else {
                panic!("a success");
            };
            assert_eq!(failure.message, expected);
        }
        assert_ne!(reader.finish(DONE).outcome, Outcome::Succeeded);
    }
}
