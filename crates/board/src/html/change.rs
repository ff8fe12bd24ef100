//! What changed of something: the field, what it was, and what it is, in words.

use std::collections::HashMap;

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Cents;
use workforce_domain::string_enum::StringEnum as _;

use super::action::in_words;
use super::money::Dollars;
use super::status::word;

/// So many characters of a text.
const LONGEST: usize = 80;

/// Fields that say nothing beside the others.
const BESIDE: [&str; 5] = [
    "workflowEpoch",
    "requestDepth",
    "decidedBy",
    "urlKey",
    // That a worktree was made is told by itself.
    "executionWorkspaceId",
];

/// Fields whose names are not their words.
const WORDS: [(&str, &str); 12] = [
    ("budgetMonthlyCents", "limit of a month"),
    ("budgetTotalCents", "limit in all"),
    ("budgetBasis", "what counts as spent"),
    ("reportsTo", "manager"),
    ("conventionsMd", "rules"),
    ("compactContext", "short form"),
    ("adapterType", "program"),
    ("adapterConfig", "how it is run"),
    ("runtimeConfig", "its heartbeats"),
    ("requireBoardApprovalForNewAgents", "approval of new agents"),
    ("attachmentMaxBytes", "largest attachment"),
    ("cwd", "folder"),
];

/// A field that changed.
pub(crate) struct Changed {
    pub(crate) field: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The names of what fields refer to, by id.
pub(crate) type Names = HashMap<String, String>;

/// What the details of an activity say that changed.
pub(crate) fn changes(details: &Document, names: &Names) -> Vec<Changed> {
    let Some(Value::Object(changes)) = details.get("changes") else {
        return Vec::new();
    };
    let told = changes.iter().filter(|(field, _)| is_told(field));
    told.filter_map(|(field, change)| {
        Some(Changed {
            from: value(field, change.get("from")?, names),
            to: value(field, change.get("to")?, names),
            field: name(field),
        })
    })
    .collect()
}

/// Instants follow from the other fields.
fn is_told(field: &str) -> bool {
    !field.ends_with("At") && !BESIDE.contains(&field)
}

/// The name of a field: `projectId` is `project`.
fn name(field: &str) -> String {
    if let Some((_, words)) = WORDS.iter().find(|(its, _)| *its == field) {
        return (*words).to_owned();
    }
    let ends = ["AgentId", "UserId", "Ids", "Id", "Cents"];
    let stem = ends.iter().find_map(|end| field.strip_suffix(end));
    let mut words = String::new();
    for letter in stem.unwrap_or(field).chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

fn value(field: &str, value: &Value, names: &Names) -> String {
    match value {
        Value::Null if field.ends_with("AgentId") || field.ends_with("UserId") => {
            "nobody".to_owned()
        }
        Value::Null => "nothing".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) if field.ends_with("Cents") => {
            match Cents::parse(&number.to_string()) {
                Ok(Cents::ZERO) => "no limit".to_owned(),
                Ok(amount) => Dollars(amount).to_string(),
                Err(_) => number.to_string(),
            }
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => self::text(field, text, names),
        Value::Array(all) if all.is_empty() => "nothing".to_owned(),
        Value::Array(all) => {
            let each = all.iter().map(|one| self::value(field, one, names));
            short(&each.collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) if object.contains_key("sha256") => "a long text".to_owned(),
        Value::Object(object) if object.is_empty() => "nothing".to_owned(),
        Value::Object(_) => "something else".to_owned(),
    }
}

/// A text: the name of what it refers to, a word for a code, or itself.
fn text(field: &str, text: &str, names: &Names) -> String {
    if let Some(name) = names.get(text) {
        return short(name);
    }
    let is_code = matches!(
        field,
        "status" | "priority" | "level" | "governance" | "pauseReason" | "adapterType"
    );
    if is_code {
        let status = IssueStatus::parse(text).map(|status| word(status).to_lowercase());
        return status.unwrap_or_else(|| in_words(text));
    }
    if field.ends_with("Id") || field.ends_with("Ids") {
        return "one that is gone".to_owned();
    }
    short(text)
}

/// The beginning of a text, in one line.
pub(crate) fn short(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return "nothing".to_owned();
    }
    if let Some((end, _)) = words.char_indices().nth(LONGEST) {
        words.truncate(end);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_told_in_words() {
        let names = Names::from([("id-of-ada".to_owned(), "Ada".to_owned())]);
        let details: Document = serde_json::from_value(json!({ "changes": {
            "assigneeAgentId": { "from": null, "to": "id-of-ada" },
            "budgetMonthlyCents": { "from": 0, "to": 9050 },
            "completedAt": { "from": null, "to": "2026-11-01T00:00:00Z" },
            "description": { "from": { "sha256": "0", "bytes": 9999 }, "to": "  a\nb " },
            "reviewRequired": { "from": false, "to": true },
            "status": { "from": "todo", "to": "in_progress" },
        }}))
        .unwrap();
        let told: Vec<String> = changes(&details, &names)
            .into_iter()
            .map(|it| format!("{} {} {}", it.field, it.from, it.to))
            .collect();
        assert_eq!(
            told,
            [
                "assignee nobody Ada",
                "limit of a month no limit $90.50",
                "description a long text a b",
                "review required no yes",
                "status to do in progress",
            ]
        );
        assert_eq!(short(&"x".repeat(200)).chars().count(), LONGEST + 1);
    }
}
