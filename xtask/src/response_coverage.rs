//! Compares what the servers of the tests answered with what each route says that it answers, so
//! that no route names a refusal that nobody has seen, or keeps a success that no test asks for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::packages;
use crate::repository::Repository;

/// Tells the tests where to note the answers.
const FOLDER: &str = "WORKFORCE_TEST_ANSWERS";

/// The folder of the notes.
pub(crate) struct Answers(TempDir);

impl Answers {
    /// A folder without any.
    pub(crate) fn none_yet() -> Result<Self> {
        let folder = tempfile::tempdir().context("failed to make a folder for the answers")?;
        Ok(Self(folder))
    }

    /// Lets a run of the tests note the answers here.
    pub(crate) fn noted_by(&self, tests: &mut Command) {
        tests.env(FOLDER, self.0.path());
    }

    /// Fails, and names them, when there are answers that the tests have not seen on one of the
    /// databases.
    pub(crate) fn check(&self, repository: &Repository, databases: &[&str]) -> Result<()> {
        let seen = read(self.0.path())?;
        let promised = packages::answers(repository)?;
        let missing = missing(&promised, databases, &seen)?;
        if missing.is_empty() {
            println!("the tests saw all {} answers", promised.lines().count());
            return Ok(());
        }
        bail!(
            "no test of the whole interface has seen these answers:\n{}",
            missing.join("\n")
        );
    }
}

fn read(folder: &Path) -> Result<BTreeSet<String>> {
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let notes = fs::read_to_string(entry?.path())?;
        seen.extend(notes.lines().map(|line| line.trim_end().to_owned()));
    }
    Ok(seen)
}

/// Those of the promised answers that were not seen, each with its database. A promise is a line:
/// method, path, and the status of a success or the code of a refusal.
fn missing(promised: &str, databases: &[&str], seen: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    for database in databases {
        for promise in promised.lines() {
            let (route, answer) = promise
                .rsplit_once(' ')
                .with_context(|| format!("`{promise}` is no answer of a route"))?;
            let beginning = format!("{database} {route} ");
            // What was seen has the status of a refusal before its code.
            let ending = format!(" {answer}");
            let was_seen = seen
                .range(beginning.clone()..)
                .take_while(|noted| noted.starts_with(&beginning))
                .any(|noted| noted.ends_with(&ending));
            if !was_seen {
                missing.push(format!("{database} {promise}"));
            }
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASES: [&str; 2] = ["sqlite", "postgres"];

    #[test]
    fn what_nobody_saw_is_named() {
        let promised = "POST /api/issues/{issueId}/release 200\n\
                        POST /api/issues/{issueId}/release not_holder\n";
        let asked = |database: &str| format!("{database} POST /api/issues/{{issueId}}/release");
        let seen = |answer: &str| DATABASES.map(|database| format!("{} {answer}", asked(database)));
        let missing = |seen: &BTreeSet<String>| missing(promised, &DATABASES, seen).unwrap();

        let none = missing(&BTreeSet::new());
        let half = missing(&BTreeSet::from(seen("200")));
        let all: BTreeSet<String> = [seen("200"), seen("409 not_holder")]
            .into_iter()
            .flatten()
            .collect();

        assert_eq!(none.len(), 4);
        assert_eq!(
            half,
            DATABASES.map(|it| format!("{} not_holder", asked(it)))
        );
        assert!(missing(&all).is_empty());
    }
}
