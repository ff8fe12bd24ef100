//! Counts the tests that were left out for want of a PostgreSQL server or of another program, so
//! that a run that passed without them does not look like one that passed with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::process::Command;

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use workforce_skipped_tests::LEFT_OUT_VARIABLE;

/// Where the tests note themselves.
pub(crate) struct LeftOut(TempDir);

impl LeftOut {
    /// A place without any.
    pub(crate) fn none_yet() -> Result<Self> {
        let folder = tempfile::tempdir().context("failed to make a folder for what is left out")?;
        Ok(Self(folder))
    }

    /// Lets a run of the tests note here what it leaves out.
    pub(crate) fn noted_by(&self, tests: &mut Command) {
        tests.env(LEFT_OUT_VARIABLE, self.0.path().join("tests"));
    }

    /// What to say at the end of the run; `None` when nothing was left out.
    pub(crate) fn warning(&self) -> Result<Option<String>> {
        match fs::read_to_string(self.0.path().join("tests")) {
            Ok(noted) => Ok(warning_of(&noted)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("failed to read which tests were left out"),
        }
    }
}

fn warning_of(noted: &str) -> Option<String> {
    let mut tests_by_reason: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in noted.lines() {
        let (reason, test) = line
            .split_once('\t')
            .unwrap_or(("no reason was given", line));
        tests_by_reason.entry(reason).or_default().insert(test);
    }
    let told = tests_by_reason.iter().map(|(reason, tests)| {
        let count = tests.len();
        format!("!! NOT TESTED: {count} tests were LEFT OUT, {reason}")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_with_how_many_tests_it_left_out_for_each_reason() {
        let noted = "no server\tpostgres::a\nno agent\tagents::a\nno server\tpostgres::b\n\
                     no server\tpostgres::a\n";
        let told = warning_of(noted).unwrap();
        let lines: Vec<&str> = told.lines().collect();
        let expected = [
            "!! NOT TESTED: 1 tests were LEFT OUT, no agent",
            "!! NOT TESTED: 2 tests were LEFT OUT, no server",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_run_that_left_nothing_out_says_nothing() {
        let left_out = LeftOut::none_yet().unwrap();
        assert_eq!(left_out.warning().unwrap(), None);
    }

    #[test]
    fn what_the_tests_note_is_what_is_told() {
        let left_out = LeftOut::none_yet().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "the program under test is no agent"
        )]
        let mut tests = Command::new("sh");
        tests.args([
            "-c",
            "printf 'no server\\tpostgres::a\\n' >> \"$WORKFORCE_TEST_LEFT_OUT\"",
        ]);
        left_out.noted_by(&mut tests);
        assert!(tests.status().unwrap().success());
        let told = left_out.warning().unwrap().unwrap();
        assert!(told.contains("1 tests"), "{told}");
    }
}
