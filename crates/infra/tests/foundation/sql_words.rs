//! The words of closed vocabularies in SQL are the domain's.
//!
//! Statements take them from the enums of the domain, in one file; migrations, which keep what was
//! once true, spell them, and each spelling is compared with the vocabulary of its column.

mod literal;
mod statement;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use self::literal::literals;
use self::statement::{Compared, words};
use self::vocabulary::VOCABULARIES;

/// Where statements are.
const STORE: &str = "crates/infra/src/store";
/// The one file of the store that writes words into statements.
const PREDICATES: &str = "crates/infra/src/store/queries/predicates.rs";
/// Quotes the terms that PostgreSQL looks for, in a text that is bound.
const TERMS: &str = "crates/infra/src/store/queries/text_index.rs";
const MIGRATIONS: &str = "migrations";

/// Spell words, so that they do not depend on the code that they watch.
const INVARIANTS: &str = "crates/infra/src/store/invariants";

/// What was a word once: table, column and word.
const RETIRED: [(&str, &str, &str); 1] = [("wakes", "status", "skipped")];

/// What the databases' own functions for times take.
const FORMATS: [&str; 3] = ["UTC", "YYYYMM", "unixepoch"];

/// A rule on the file at a path from the root of the repository, with its content.
type Rule = fn(&Path, &str) -> Vec<String>;

/// No statement of the store quotes a word, and only [`PREDICATES`] quotes what it is given: what
/// stands there is an enum's, which the compiler knows.
fn from_the_domain(path: &Path, code: &str) -> Vec<String> {
    let mut violations = Vec::new();
    for literal in literals(code) {
        for (line, quoted) in literal.quoted() {
            if FORMATS.contains(&quoted) {
                continue;
            }
            let message = if is_word(quoted) && path.starts_with(INVARIANTS) {
                if VOCABULARIES.iter().any(|it| (it.knows)(quoted)) {
                    continue;
                }
                format!("`'{quoted}'` is no word of the domain")
            } else if is_word(quoted) {
                format!("`'{quoted}'` is typed by hand; render the word of the domain")
            } else if quoted.starts_with('{') && !may_quote(path) {
                format!("`'{quoted}'` is quoted here; only {PREDICATES} renders words")
            } else {
                continue;
            };
            violations.push(format!("{}:{line}: {message}", path.display()));
        }
    }
    violations
}

/// What migrations compare a column with, or put into it, is a word of the column's vocabulary.
fn known_to_the_domain(path: &Path, sql: &str) -> Vec<String> {
    let mut violations = Vec::new();
    for Compared { line, word, column } in words(sql) {
        if !is_word(&word) {
            continue;
        }
        let message = match column {
            None => format!("`'{word}'` is compared with no column"),
            Some((table, column)) if RETIRED.contains(&(&*table, &*column, &*word)) => continue,
            Some((table, column)) => {
                let vocabulary = VOCABULARIES
                    .iter()
                    .find(|known| known.table == table && known.column == column);
                match vocabulary {
                    None => format!("`'{word}'`: {table}.{column} has no vocabulary of the domain"),
                    Some(vocabulary) if (vocabulary.knows)(&word) => continue,
                    Some(_) => format!("`'{word}'` is no word of {table}.{column}"),
                }
            }
        };
        violations.push(format!("{}:{line}: {message}", path.display()));
    }
    violations
}

/// True of the files that may quote what they are given.
fn may_quote(path: &Path) -> bool {
    [PREDICATES, TERMS]
        .iter()
        .any(|file| path == Path::new(file))
}

/// True of what could be the spelling of an enum's variant, which no single letter is.
fn is_word(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// Asks a rule of every file beneath `folder` whose name ends so.
#[track_caller]
fn assert_holds(rule: Rule, folder: &str, extension: &str) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    let mut violations = Vec::new();
    for entry in WalkDir::new(root.join(folder)).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|it| it == extension) {
            let content = fs::read_to_string(&path).unwrap();
            violations.extend(rule(path.strip_prefix(&root).unwrap(), &content));
            count += 1;
        }
    }
    assert_ne!(count, 0, "{folder} holds nothing");
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn statements_take_their_words_from_the_domain() {
    assert_holds(from_the_domain, STORE, "rs");
}

#[test]
fn the_domain_knows_the_words_of_migrations() {
    assert_holds(known_to_the_domain, MIGRATIONS, "sql");
}

#[track_caller]
fn check(rule: Rule, file: &str, content: &str, expected: &[&str]) {
    assert_eq!(rule(Path::new(file), content), expected);
}

#[test]
fn a_word_that_is_typed_into_a_statement_is_found() {
    let file = "crates/infra/src/store/queries/wakes.rs";
    let content = "// 'pending'\nfn a<'a>() {\n    sql_query(\n        \"SELECT 1 \\\n         \
                   WHERE w.status IN ('pendng', 'x y') AND c = '?'\",\n    );\n}\n";
    check(
        from_the_domain,
        file,
        content,
        &[
            "crates/infra/src/store/queries/wakes.rs:5: `'pendng'` is typed by hand; render \
           the word of the domain",
        ],
    );
    let raw = "const A: &str = r#\"w.status = 'pending'\"#; const B: char = 'b';";
    check(
        from_the_domain,
        file,
        raw,
        &[
            "crates/infra/src/store/queries/wakes.rs:1: `'pending'` is typed by hand; render \
           the word of the domain",
        ],
    );
}

#[test]
fn words_are_rendered_in_one_file_only() {
    let content = "format!(\"w.status = '{word}'\")";
    check(from_the_domain, PREDICATES, content, &[]);
    check(
        from_the_domain,
        "crates/infra/src/store/queries/wakes.rs",
        content,
        &[
            "crates/infra/src/store/queries/wakes.rs:1: `'{word}'` is quoted here; only \
           crates/infra/src/store/queries/predicates.rs renders words",
        ],
    );
}

#[test]
fn a_word_that_the_domain_does_not_know_is_found_in_a_migration() {
    let file = "migrations/sqlite/1/up.sql";
    let content = "\
-- 'nothing' is said here
CREATE TABLE wakes (
    status TEXT NOT NULL DEFAULT 'pendng' CHECK (status IN ('pending', 'waiting')),
    colour TEXT NOT NULL CHECK (colour = 'red')
);
CREATE INDEX i ON heartbeat_runs (id) WHERE status = 'runing' AND kind <> 'execution';
UPDATE issues SET status = 'finished' WHERE status = 'done' AND hidden_at = 'x-y';
ALTER TABLE approvals ADD COLUMN attention TEXT NOT NULL DEFAULT '[]';
DELETE FROM wakes WHERE lower(status) = 'pending';
CREATE TRIGGER t AFTER DELETE ON goals BEGIN
    UPDATE wakes SET status = 'ended' WHERE id = OLD.id;
END;
";
    check(
        known_to_the_domain,
        file,
        content,
        &[
            "migrations/sqlite/1/up.sql:3: `'pendng'` is no word of wakes.status",
            "migrations/sqlite/1/up.sql:3: `'waiting'` is no word of wakes.status",
            "migrations/sqlite/1/up.sql:4: `'red'`: wakes.colour has no vocabulary of the \
             domain",
            "migrations/sqlite/1/up.sql:6: `'runing'` is no word of heartbeat_runs.status",
            "migrations/sqlite/1/up.sql:7: `'finished'` is no word of issues.status",
            "migrations/sqlite/1/up.sql:9: `'pending'` is compared with no column",
            "migrations/sqlite/1/up.sql:11: `'ended'` is no word of wakes.status",
        ],
    );
}
