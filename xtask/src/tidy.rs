//! `cargo xtask tidy`: the rules of this repository that no lint knows.
//!
//! Each rule is a function from the repository to its violations, and each is also a test of this
//! package.

mod imports;
mod manifest;
mod manifests;
mod migrations;
mod proofs;
mod references;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::repository::Repository;

/// A place where a rule does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Violation {
    path: PathBuf,
    /// From 1; `None` when the whole file is meant.
    line: Option<usize>,
    message: String,
}

impl Violation {
    fn of_path(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            line: None,
            message: message.into(),
        }
    }

    fn at_line(path: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::of_path(path, message)
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

type Rule = fn(&Repository) -> Result<Vec<Violation>>;

/// Every rule, with what it demands.
const RULES: &[(&str, Rule)] = &[
    (
        "crates depend only on what the architecture allows them",
        imports::allowed,
    ),
    (
        "members take dependencies and lints from the workspace",
        manifests::inherit,
    ),
    ("every workspace dependency is used", manifests::used),
    (
        "both databases have the same migrations, each up and down",
        migrations::paired,
    ),
    ("source files are short", sources::short),
    (
        "no code is left unfinished and no test is left out",
        sources::finished,
    ),
    ("no line ends in blanks", sources::no_trailing_whitespace),
    (
        "files and folders are named after what they hold",
        sources::named,
    ),
    (
        "references to pages lead somewhere",
        references::lead_somewhere,
    ),
    (
        "proofs are made where they are proven",
        proofs::made_in_place,
    ),
];

/// Prints every violation of every rule, and fails when there is one.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let mut count = 0;
    for (demand, rule) in RULES {
        let violations = rule(repository)?;
        println!(
            "{} {demand}",
            if violations.is_empty() {
                "ok  "
            } else {
                "FAIL"
            }
        );
        for violation in &violations {
            println!("     {violation}");
        }
        count += violations.len();
    }
    if count > 0 {
        bail!("{count} violations of the rules of this repository");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test per rule, so that a report names the broken one.
    macro_rules! rules_hold {
        ($($name:ident: $rule:path,)*) => {
            $(
                #[test]
                fn $name() {
                    let violations = $rule(&Repository::own()).unwrap();
                    let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
                    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
                }
            )*

            #[test]
            fn every_rule_has_its_test() {
                let tested: &[&str] = &[$(stringify!($name)),*];
                assert_eq!(tested.len(), RULES.len());
            }
        };
    }

    rules_hold! {
        crates_depend_only_on_what_is_allowed: imports::allowed,
        members_inherit_from_the_workspace: manifests::inherit,
        workspace_dependencies_are_used: manifests::used,
        migrations_are_paired: migrations::paired,
        source_files_are_short: sources::short,
        code_is_finished: sources::finished,
        no_line_ends_in_blanks: sources::no_trailing_whitespace,
        files_are_named_after_what_they_hold: sources::named,
        references_to_pages_lead_somewhere: references::lead_somewhere,
        proofs_are_made_where_they_are_proven: proofs::made_in_place,
    }
}
