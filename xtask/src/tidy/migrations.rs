//! Migrations exist once per database.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Violation;
use crate::repository::Repository;

const DIRECTORY: &str = "migrations";
const DATABASES: [&str; 2] = ["sqlite", "postgres"];
const FILES: [&str; 2] = ["up.sql", "down.sql"];

/// Both databases have migrations of the same names, each with its way up and its way down.
pub(super) fn paired(repository: &Repository) -> Result<Vec<Violation>> {
    // Which of the databases has a migration, by the name of its folder.
    let mut migrations: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for path in repository.paths()? {
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        if let [DIRECTORY, database, name] = parts[..]
            && let Some(database) = DATABASES.into_iter().find(|known| *known == database)
            && repository.root().join(&path).is_dir()
        {
            migrations
                .entry(name.to_owned())
                .or_default()
                .push(database);
        }
    }
    let mut violations = Vec::new();
    for (name, present) in &migrations {
        for database in DATABASES {
            let folder = format!("{DIRECTORY}/{database}/{name}");
            if !present.contains(&database) {
                violations.push(Violation::of_path(folder, "only the other database has it"));
                continue;
            }
            for file in FILES {
                if !repository.root().join(&folder).join(file).is_file() {
                    violations.push(Violation::of_path(&folder, format!("lacks {file}")));
                }
            }
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_folders_and_missing_files_are_found() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "sqlite/1_start/up.sql",
            "sqlite/1_start/down.sql",
            "postgres/1_start/up.sql",
            "postgres/1_start/down.sql",
            "sqlite/2_more/up.sql",
            "sqlite/2_more/down.sql",
            "sqlite/3_last/up.sql",
            "sqlite/3_last/down.sql",
            "postgres/3_last/up.sql",
        ] {
            let path = root.path().join(DIRECTORY).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let violations = paired(&Repository::at(root.path())).unwrap();
        let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "migrations/postgres/2_more: only the other database has it",
                "migrations/postgres/3_last: lacks down.sql",
            ]
        );
    }
}
