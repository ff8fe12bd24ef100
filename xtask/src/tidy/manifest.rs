//! Reads `Cargo.toml` line by line.
//!
//! What `cargo metadata` reports no longer shows what was inherited from the workspace. The rules
//! need only tables, keys and values as text, so no TOML parser is worth a dependency.

/// `key = value` in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The table as written between the brackets, such as `dev-dependencies`.
    pub(super) table: String,
    /// The key as written, such as `serde` or `serde.workspace`.
    pub(super) key: String,
    /// The value as written, on one line and without its comment.
    pub(super) value: String,
    /// The line of the key, from 1.
    pub(super) line: usize,
}

impl Entry {
    /// The dependency this entry is about, if its table is one of dependencies.
    ///
    /// It is the key itself, the part of it before the dot, or in `[dependencies.serde]` the last
    /// part of the table.
    pub(super) fn dependency(&self) -> Option<&str> {
        let name = self
            .key
            .split_once('.')
            .map_or(self.key.as_str(), |(name, _)| name);
        if is_dependency_table(&self.table) {
            return Some(name);
        }
        let (table, name) = self.table.rsplit_once('.')?;
        is_dependency_table(table).then_some(name)
    }
}

fn is_dependency_table(table: &str) -> bool {
    let last = table.rsplit_once('.').map_or(table, |(_, last)| last);
    matches!(
        last,
        "dependencies" | "dev-dependencies" | "build-dependencies"
    )
}

/// Every entry of a manifest, in order.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut open_brackets = 0;
    for (index, line) in text.lines().enumerate() {
        let (line, depth) = without_comment(line);
        let line = line.trim();
        if open_brackets > 0 {
            if let Some(entry) = entries.last_mut() {
                entry.value.push(' ');
                entry.value.push_str(line);
            }
            open_brackets += depth;
        } else if let Some(name) = line.strip_prefix('[') {
            table = name.trim_matches(['[', ']']).to_owned();
        } else if let Some((key, value)) = line.split_once('=') {
            entries.push(Entry {
                table: table.clone(),
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
                line: index + 1,
            });
            open_brackets = depth;
        }
    }
    entries
}

/// The line without its comment, and how many more brackets it opens than it closes.
fn without_comment(line: &str) -> (&str, i32) {
    let mut quote = None;
    let mut depth = 0;
    for (position, character) in line.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(opened), _) if opened == character => quote = None,
            (Some(_), _) => {}
            (None, '#') => return (&line[..position], depth),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, _) => {}
        }
    }
    (line, depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_table_and_their_whole_value() {
        let text = r#"
[package]
name = "a#b" # a comment with [

[dependencies]
serde.workspace = true
time = { version = "1", features = [
    "std", # why
] }

[target.'cfg(unix)'.dev-dependencies]
nix = "1"

[dependencies.uuid]
version = "1"
"#;
        let found: Vec<_> = entries(text)
            .into_iter()
            .map(|entry| {
                let dependency = entry.dependency().map(str::to_owned);
                (entry.line, entry.key, entry.value, dependency)
            })
            .collect();
        let expected = [
            (3, "name", "\"a#b\"", None),
            (6, "serde.workspace", "true", Some("serde")),
            (
                7,
                "time",
                "{ version = \"1\", features = [ \"std\", ] }",
                Some("time"),
            ),
            (12, "nix", "\"1\"", Some("nix")),
            (15, "version", "\"1\"", Some("uuid")),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(line, key, value, dependency)| {
                (
                    line,
                    key.to_owned(),
                    value.to_owned(),
                    dependency.map(str::to_owned),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }
}
