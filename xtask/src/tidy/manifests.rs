//! What the workspace table lists, and what members take from it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;

use super::Violation;
use super::manifest::{Entry, entries};
use crate::repository::Repository;

const ROOT: &str = "Cargo.toml";

/// The manifests below the root, with their entries.
fn members(repository: &Repository) -> Result<Vec<(PathBuf, Vec<Entry>)>> {
    let is_member = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name == ROOT) && path.as_os_str() != ROOT
    };
    repository
        .files(&["toml"])?
        .into_iter()
        .filter(is_member)
        .map(|path| {
            let entries = entries(&repository.read(&path)?);
            Ok((path, entries))
        })
        .collect()
}

/// Every member takes its dependencies and its lints from the workspace.
pub(super) fn inherit(repository: &Repository) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for (path, entries) in members(repository)? {
        if !entries.iter().any(opts_into_lints) {
            violations.push(Violation::of_path(
                &path,
                "lacks `workspace = true` under `[lints]`",
            ));
        }
        for entry in &entries {
            if let Some(name) = entry.dependency()
                && !comes_from_workspace(entry)
            {
                let message = format!("{name} must come from the workspace: `workspace = true`");
                violations.push(Violation::at_line(&path, entry.line, message));
            }
        }
    }
    Ok(violations)
}

fn opts_into_lints(entry: &Entry) -> bool {
    entry.table == "lints" && entry.key == "workspace" && entry.value == "true"
}

fn comes_from_workspace(entry: &Entry) -> bool {
    let inline = entry.value.trim_start_matches('{').trim_end_matches('}');
    (entry.key.ends_with(".workspace") && entry.value == "true")
        || inline
            .split(',')
            .any(|part| part.trim() == "workspace = true")
}

/// Every dependency in the workspace table is used by a member.
pub(super) fn used(repository: &Repository) -> Result<Vec<Violation>> {
    let members = members(repository)?;
    let used: BTreeSet<&str> = members
        .iter()
        .flat_map(|(_, entries)| entries)
        .filter_map(Entry::dependency)
        .collect();
    let root = entries(&repository.read(ROOT)?);
    Ok(root
        .iter()
        .filter(|entry| entry.table == "workspace.dependencies" && !used.contains(&*entry.key))
        .map(|entry| Violation::at_line(ROOT, entry.line, format!("no member uses {}", entry.key)))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository(member: &str) -> (tempfile::TempDir, Repository) {
        let root = tempfile::tempdir().unwrap();
        let workspace = "[workspace.dependencies]\nserde = \"1\"\ntime = { version = \"1\" }\n";
        fs::write(root.path().join(ROOT), workspace).unwrap();
        fs::create_dir(root.path().join("member")).unwrap();
        fs::write(root.path().join("member/Cargo.toml"), member).unwrap();
        let repository = Repository::at(root.path());
        (root, repository)
    }

    fn lines(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_member_that_inherits_everything_is_clean() {
        let (_root, repository) = repository(
            "[lints]\nworkspace = true\n[dependencies]\nserde.workspace = true\n\
             [dev-dependencies]\ntime = { workspace = true, features = [\"std\"] }\n",
        );
        assert_eq!(lines(&inherit(&repository).unwrap()), [""; 0]);
        assert_eq!(lines(&used(&repository).unwrap()), [""; 0]);
    }

    #[test]
    fn own_versions_missing_lints_and_unused_dependencies_are_found() {
        let (_root, repository) =
            repository("[dependencies]\nserde = \"1\"\n[dependencies.uuid]\nversion = \"1\"\n");
        assert_eq!(
            lines(&inherit(&repository).unwrap()),
            [
                "member/Cargo.toml: lacks `workspace = true` under `[lints]`",
                "member/Cargo.toml:2: serde must come from the workspace: `workspace = true`",
                "member/Cargo.toml:4: uuid must come from the workspace: `workspace = true`",
            ]
        );
        assert_eq!(
            lines(&used(&repository).unwrap()),
            ["Cargo.toml:3: no member uses time"]
        );
    }
}
