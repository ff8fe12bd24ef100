//! What changed between two submissions.

use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use workforce_domain::Document;
use workforce_domain::money::Cents;

use super::approval::words;
use super::money::Dollars;
use super::output::Output;

/// Texts with more lines are shown whole, one beside the other.
const MOST_LINES: usize = 2000;
/// Lines that are the same are shown so many before and after a change.
const AROUND: usize = 3;
/// A comparison takes no longer; it is less exact then.
const PATIENCE: Duration = Duration::from_millis(100);
/// The longest text that is shown of a part, in bytes.
const LONGEST: usize = 12 * 1024;

/// A part of what was submitted that is not as it was.
pub(crate) struct Changed {
    pub(crate) name: String,
    pub(crate) how: How,
}

/// How a part changed.
pub(crate) enum How {
    /// By these lines.
    Lines(Vec<Row>),
    /// Too much to be compared.
    Both(Output, Output),
}

/// A line of a comparison.
pub(crate) struct Row {
    /// `add`, `rem`, `hunk`, or nothing for one that is the same.
    pub(crate) class: &'static str,
    pub(crate) text: Output,
}

/// The parts by which two submissions differ.
pub(crate) fn between(before: &Document, after: &Document) -> Vec<Changed> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let names = after.keys().chain(gone);
    let changed = names.filter(|name| before.get(*name) != after.get(*name));
    let changed = changed.map(|name| {
        let value = |document: &Document| document.get(name).map(|it| text(name, it));
        let text = |document| value(document).unwrap_or_default();
        Changed {
            name: words(name.trim_end_matches("Cents")),
            how: compare(&text(before), &text(after)),
        }
    });
    changed.collect()
}

fn text(name: &str, value: &Value) -> String {
    if name.ends_with("Cents")
        && let Some(amount) = value.as_i64().and_then(|it| Cents::from_cents(it).ok())
    {
        return Dollars(amount).to_string();
    }
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn compare(before: &str, after: &str) -> How {
    let lines = |text: &str| text.lines().count();
    if lines(before).max(lines(after)) > MOST_LINES || before.len().max(after.len()) > LONGEST * 16
    {
        return How::Both(
            Output::cut(before, LONGEST).0,
            Output::cut(after, LONGEST).0,
        );
    }
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let (mut rows, mut room) = (Vec::new(), LONGEST);
    for (place, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if place > 0 {
            rows.push(Row {
                class: "hunk",
                text: Output::new("…"),
            });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let class = match change.tag() {
                ChangeTag::Equal => "",
                ChangeTag::Insert => "add",
                ChangeTag::Delete => "rem",
            };
            let (text, _) = Output::cut(change.value().trim_end_matches('\n'), room);
            room = room.saturating_sub(change.value().len() + 1);
            rows.push(Row { class, text });
            if room == 0 {
                let text = Output::new("… and more, which is not shown");
                rows.push(Row {
                    class: "hunk",
                    text,
                });
                return How::Lines(rows);
            }
        }
    }
    How::Lines(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> Document {
        match value {
            Value::Object(fields) => fields.into_iter().collect(),
            _ => Document::new(),
        }
    }

    fn told(before: Value, after: Value) -> String {
        let changed = between(&document(before), &document(after));
        let parts = changed.iter().map(|part| match &part.how {
            How::Both(..) => format!("{}: both", part.name),
            How::Lines(rows) => {
                let rows = rows.iter().map(|row| format!("{} {}", row.class, row.text));
                format!("{}: {}", part.name, rows.collect::<Vec<_>>().join("|"))
            }
        });
        parts.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_lines_that_changed_are_told() {
        let before = json!({ "plan": "one\ntwo\n", "same": 1, "amountCents": 5, "old": true });
        let after = json!({ "plan": "one\n<b>\n", "same": 1, "amountCents": 7, "new": [1] });
        let told = told(before, after);
        for shown in [
            "plan:  one|rem two|add &lt;b&gt;",
            "amount: rem $0.05|add $0.07",
            "new: add [|add   1|add ]",
            "old: rem true",
        ] {
            assert!(told.contains(shown), "{shown}: {told}");
        }
        assert!(!told.contains("same"), "{told}");
    }

    #[test]
    fn what_is_huge_is_shown_whole() {
        let (before, after) = ("a\n".repeat(3000), "b\n".repeat(3000));
        assert_eq!(
            told(json!({ "x": before }), json!({ "x": after })),
            "x: both"
        );
        let (before, after) = ("ab".repeat(40_000), "ba".repeat(40_000));
        let told = told(json!({ "x": before }), json!({ "x": after }));
        assert!(told.len() < 3 * LONGEST, "{}", told.len());
    }
}
