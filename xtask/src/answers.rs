//! Compares what the servers of the tests answered with what each route says that it answers, so
//! that no route names a refusal that nobody has seen, or keeps a success that no test asks for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;
use workforce_http::registry::Listed;
use workforce_http::routes;

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
    pub(crate) fn check(&self, databases: &[&str]) -> Result<()> {
        let seen = read(self.0.path())?;
        let routes = routes::all().list();
        let missing = missing(&routes, databases, &seen);
        if missing.is_empty() {
            println!("the tests saw every answer of {} routes", routes.len());
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

/// The answers of these routes that were not seen, each as it would be noted.
fn missing(routes: &[Listed], databases: &[&str], seen: &BTreeSet<String>) -> Vec<String> {
    let mut missing = Vec::new();
    for database in databases {
        for route in routes {
            let asked = format!("{database} {} {}", route.method, route.path);
            let successes = route.succeeds.iter().map(|status| {
                let noted = format!("{asked} {status}");
                (seen.contains(&noted), noted)
            });
            let refusals = route.refuses.iter().map(|code| {
                let ending = format!(" {code}");
                let beginning = format!("{asked} ");
                let was = seen
                    .range(beginning.clone()..)
                    .take_while(|noted| noted.starts_with(&beginning))
                    .any(|noted| noted.ends_with(&ending));
                (was, format!("{asked} {code}"))
            });
            missing.extend(
                successes
                    .chain(refusals)
                    .filter_map(|(was, noted)| (!was).then_some(noted)),
            );
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASES: [&str; 2] = ["sqlite", "postgres"];

    #[test]
    fn what_nobody_saw_is_named() {
        let routes = routes::all().list();
        let route = routes
            .iter()
            .find(|route| route.method == "POST" && route.path == "/api/issues/{issueId}/release")
            .unwrap();
        let routes = [route.clone()];
        let asked = |database: &str| format!("{database} POST /api/issues/{{issueId}}/release");
        let seen = |answer: &str| DATABASES.map(|database| format!("{} {answer}", asked(database)));

        let none = missing(&routes, &DATABASES, &BTreeSet::new());
        let half = missing(&routes, &DATABASES, &BTreeSet::from(seen("200")));
        let all: BTreeSet<String> = [seen("200"), seen("409 not_holder")]
            .into_iter()
            .flatten()
            .collect();

        assert_eq!(none.len(), 4);
        assert_eq!(
            half,
            DATABASES.map(|it| format!("{} not_holder", asked(it)))
        );
        assert!(missing(&routes, &DATABASES, &all).is_empty());
    }
}
