//! Rules on files as text.

use anyhow::Result;

use super::Violation;
use crate::repository::Repository;

/// Lines that a Rust file may have.
const MAX_LINES: usize = 400;

/// What must not stand in finished code. Split, or this file would break its own rule.
const UNFINISHED: [(&str, &str); 4] = [
    (
        concat!("#[", "ignore"),
        "a test that does not run proves nothing",
    ),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("dbg", "!("), "log it or remove it"),
];

/// Names that tell nothing of the content.
const EMPTY_NAMES: [&str; 5] = ["common", "helper", "helpers", "util", "utils"];

/// Text files that people write.
const TEXT: [&str; 13] = [
    "css", "html", "js", "json", "md", "rs", "service", "sh", "sql", "svg", "toml", "yaml", "yml",
];

/// No Rust file is longer than [`MAX_LINES`].
pub(super) fn short(repository: &Repository) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for path in repository.files(&["rs"])? {
        let lines = repository.read(&path)?.lines().count();
        if lines > MAX_LINES {
            let message = format!("{lines} lines; split it, {MAX_LINES} is the limit");
            violations.push(Violation::of_path(path, message));
        }
    }
    Ok(violations)
}

/// No Rust file holds code of [`UNFINISHED`].
pub(super) fn finished(repository: &Repository) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for path in repository.files(&["rs"])? {
        for (index, line) in repository.read(&path)?.lines().enumerate() {
            let code = line.trim_start();
            for (pattern, reason) in UNFINISHED {
                if code.contains(pattern) && !code.starts_with("//") {
                    let message = format!("`{pattern}`: {reason}");
                    violations.push(Violation::at_line(&path, index + 1, message));
                }
            }
        }
    }
    Ok(violations)
}

/// No line of a text file ends in blanks.
pub(super) fn no_trailing_whitespace(repository: &Repository) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for path in repository.files(&TEXT)? {
        for (index, line) in repository.read(&path)?.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                violations.push(Violation::at_line(&path, index + 1, "ends in blanks"));
            }
        }
    }
    Ok(violations)
}

/// No file and no folder has one of [`EMPTY_NAMES`].
pub(super) fn named(repository: &Repository) -> Result<Vec<Violation>> {
    let violations = repository.paths()?.into_iter().filter_map(|path| {
        let name = path.file_stem()?.to_str()?;
        EMPTY_NAMES.contains(&name).then(|| {
            let message = format!("`{name}` does not say what is in it");
            Violation::of_path(&path, message)
        })
    });
    Ok(violations.collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Rule;
    use super::*;

    #[track_caller]
    fn check(rule: Rule, file: &str, content: &str, expected: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        let violations = rule(&Repository::at(root.path())).unwrap();
        let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn long_files_are_found() {
        let content = "//\n".repeat(MAX_LINES + 1);
        let expected = "src/a.rs: 401 lines; split it, 400 is the limit";
        check(short, "src/a.rs", &content, &[expected]);
        check(short, "src/a.rs", &content[3..], &[]);
        let expected = "a/tests/a.rs: 401 lines; split it, 400 is the limit";
        check(short, "a/tests/a.rs", &content, &[expected]);
        check(short, "target/a.rs", &content, &[]);
    }

    #[test]
    fn unfinished_code_is_found_except_in_comments() {
        for (pattern, reason) in UNFINISHED {
            let expected = format!("a.rs:2: `{pattern}`: {reason}");
            check(finished, "a.rs", &format!("\n  {pattern})]"), &[&expected]);
            check(finished, "a.rs", &format!("  /// {pattern})]"), &[]);
        }
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_found() {
        check(
            no_trailing_whitespace,
            "a.md",
            "one\ntwo \n",
            &["a.md:2: ends in blanks"],
        );
        check(
            no_trailing_whitespace,
            "a.sql",
            "one\r\n",
            &["a.sql:1: ends in blanks"],
        );
        check(no_trailing_whitespace, "a.png", "one \n", &[]);
    }

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
        check(
            named,
            "src/utils.rs",
            "",
            &["src/utils.rs: `utils` does not say what is in it"],
        );
        check(
            named,
            "tests/common/a.rs",
            "",
            &["tests/common: `common` does not say what is in it"],
        );
        check(named, "src/commons.rs", "", &[]);
    }
}
