//! What proves something is made where it is proven.

use std::path::Path;

use anyhow::Result;

use super::Violation;
use crate::repository::Repository;

/// A name that makes a proof, and where it may stand.
struct Reserved {
    name: &'static str,
    places: &'static [&'static str],
    reason: &'static str,
}

const QUERIES: &str = "crates/infra/src/store/queries";
const DOMAIN: &str = "crates/domain";
const TESTS_OF_THE_STORE: &str = "crates/infra/tests";
/// A mock stands in for a store, and nobody shares its records.
const EXAMPLES_IN_MOCKS: &str = "crates/domain/examples";

const RESERVED: &[Reserved] = &[
    Reserved {
        name: "::assume_locked",
        places: &[QUERIES, TESTS_OF_THE_STORE, EXAMPLES_IN_MOCKS],
        reason: "only a query that locks a record, or what follows from it, knows that it is locked",
    },
    Reserved {
        name: "Lifecycle::restore",
        places: &[QUERIES, DOMAIN],
        reason: "a state is reached by the steps of its lifecycle",
    },
    Reserved {
        name: "Progress::restore",
        places: &[QUERIES, DOMAIN],
        reason: "a state is reached by the steps of its lifecycle",
    },
    Reserved {
        name: "ApprovalState::restore",
        places: &[QUERIES, DOMAIN],
        reason: "a state is reached by the steps of its lifecycle",
    },
    Reserved {
        name: "Assignment::stored",
        places: &[QUERIES, TESTS_OF_THE_STORE],
        reason: "a new assignment is made to an employed agent that is held",
    },
    Reserved {
        name: "Scope::SYSTEM",
        places: &[
            "crates/app/src/attachments/sweep.rs",
            "crates/domain/src/actor.rs",
            "crates/engine/src",
            "crates/http/src/metrics/work.rs",
            "crates/http/src/routes/health.rs",
            "crates/server/src",
            "crates/simulation/src",
            "crates/testkit/src",
        ],
        reason: "a caller's reach comes from its credential",
    },
];

/// No crate makes a proof of [`RESERVED`] elsewhere than where it is proven. Tests may reach every
/// company.
pub(super) fn made_in_place(repository: &Repository) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for path in repository.files(&["rs"])? {
        if !path.starts_with("crates") {
            continue;
        }
        for (index, line) in repository.read(&path)?.lines().enumerate() {
            for reserved in RESERVED.iter().filter(|it| line.contains(it.name)) {
                if !line.trim_start().starts_with("//") && !is_allowed(&path, reserved) {
                    let Reserved { name, reason, .. } = reserved;
                    let message = format!("`{name}`: {reason}");
                    violations.push(Violation::at_line(&path, index + 1, message));
                }
            }
        }
    }
    Ok(violations)
}

fn is_allowed(path: &Path, reserved: &Reserved) -> bool {
    let of_tests = reserved.name == "Scope::SYSTEM" && path.iter().any(|part| part == "tests");
    of_tests || reserved.places.iter().any(|place| path.starts_with(place))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn violations(file: &str, line: &str) -> usize {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, line).unwrap();
        made_in_place(&Repository::at(root.path())).unwrap().len()
    }

    #[test]
    fn proofs_made_elsewhere_are_found() {
        for (line, file) in [
            (
                "let held = Locked::assume_locked(issue);",
                "crates/app/src/issues/a.rs",
            ),
            ("found.map(Locked::assume_locked)", "crates/engine/src/a.rs"),
            (
                "let agent = Shared::assume_locked(agent);",
                "crates/app/src/a.rs",
            ),
            (
                "WakeableAgent::assume_locked(company, agent)",
                "crates/app/src/a.rs",
            ),
            (
                "Assignment::stored(Assignee::Agent(id))",
                "crates/app/src/a.rs",
            ),
            (
                "Locked::<Issue>::assume_locked(issue)",
                "crates/app/src/a.rs",
            ),
            ("AgentLifecycle::restore(record)", "crates/app/src/a.rs"),
            (
                "CompanyLifecycle::restore(record)",
                "crates/engine/src/a.rs",
            ),
            ("reads.find(Scope::SYSTEM, id)", "crates/app/src/a.rs"),
            ("InstanceScope::SYSTEM.enter(id)", "crates/http/src/a.rs"),
        ] {
            assert_eq!(violations(file, line), 1, "{line}");
            assert_eq!(violations(file, &format!("    /// {line}")), 0, "{line}");
        }
    }

    #[test]
    fn proofs_made_in_place_are_fine() {
        let query = "crates/infra/src/store/queries/a.rs";
        assert_eq!(violations(query, "found.map(Locked::assume_locked)"), 0);
        let engine = "crates/engine/src/a.rs";
        assert_eq!(violations(engine, "InstanceScope::SYSTEM"), 0);
        let test = "crates/app/tests/a.rs";
        assert_eq!(violations(test, "Scope::SYSTEM"), 0);
        assert_eq!(violations(test, "Locked::assume_locked(issue)"), 1);
    }
}
