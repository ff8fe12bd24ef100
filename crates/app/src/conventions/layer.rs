//! What the agents of a project are told about it before they work (contract
//! section 10.3, "project layer").

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;
use workforce_domain::conventions::{CompactOrigin, Conventions};

use super::is_stale;
use crate::compaction::{self, squeeze};

/// The layer is at most so many bytes.
pub const MAX_LAYER: usize = 24 * 1024;
/// The backstory takes at most so many of them, so that the rules are told.
const MAX_BACKSTORY: usize = 8 * 1024;
/// And the list of further sources at most so many.
const MAX_REFERENCES: usize = 2 * 1024;
/// One further source is cut to so many bytes.
const MAX_REFERENCE: usize = 300;

/// The layer of a project's conventions, in Markdown; `None` when there is
/// nothing to tell. A generated short form of conventions that changed since
/// is made anew, so that nobody works by old rules. What is cut is marked.
pub fn project_layer(conventions: &Conventions) -> Option<String> {
    let rules = rules(conventions);
    let mut layer = String::new();
    if !conventions.backstory.trim().is_empty() && !tells_backstory(conventions, &rules) {
        let _ = write!(layer, "# Project context\n\n");
        push_cut(&mut layer, conventions.backstory.trim(), MAX_BACKSTORY);
        layer.push_str("\n\n");
    }
    let references = references(&conventions.extra_references);
    if !rules.trim().is_empty() {
        layer.push_str("# Project conventions\n\n");
        let room = MAX_LAYER.saturating_sub(layer.len() + references.len() + 2);
        push_cut(&mut layer, rules.trim(), room);
        layer.push_str("\n\n");
    }
    layer.push_str(&references);
    layer.truncate(layer.trim_end().len());
    if layer.is_empty() {
        return None;
    }
    layer.push('\n');
    Some(layer)
}

/// The rules: the short form, where there is one.
fn rules(conventions: &Conventions) -> Cow<'_, str> {
    match &conventions.compact {
        Some(compact) => match compact.origin {
            CompactOrigin::Manual if compact.text.trim().is_empty() => {
                conventions.conventions_md.as_str().into()
            }
            CompactOrigin::Generated { max_chars } if is_stale(conventions) => {
                let limit = usize::try_from(max_chars).unwrap_or(compaction::DEFAULT_LIMIT);
                let (story, rules) = (&conventions.backstory, &conventions.conventions_md);
                compaction::compact(story, rules, limit).into()
            }
            CompactOrigin::Manual | CompactOrigin::Generated { .. } => compact.text.as_str().into(),
        },
        None => conventions.conventions_md.as_str().into(),
    }
}

/// Whether the rules tell the backstory themselves: a generated short form
/// begins with the start of it.
fn tells_backstory(conventions: &Conventions, rules: &str) -> bool {
    let is_generated = conventions
        .compact
        .as_ref()
        .is_some_and(|compact| matches!(compact.origin, CompactOrigin::Generated { .. }));
    is_generated && !rules.is_empty() || rules.contains(&squeeze(&conventions.backstory))
}

/// The further sources as a list, with a heading; empty when there are none.
fn references(references: &[Value]) -> String {
    let mut list = String::new();
    for (index, reference) in references.iter().enumerate() {
        let line = format!("- {}\n", reference_line(reference));
        // Room is kept for the line that tells what is left out.
        if list.len() + line.len() > MAX_REFERENCES - 64 {
            let left_out = references.len() - index;
            let _ = writeln!(list, "- [cut: {left_out} more]");
            break;
        }
        list.push_str(&line);
    }
    if list.is_empty() {
        return list;
    }
    format!("# References\n\n{list}")
}

/// A further source in one line: a text as it is, of an object its name and
/// its place where it has them, and anything else as JSON.
fn reference_line(reference: &Value) -> String {
    let text = |object: &Value, keys: &[&str]| {
        keys.iter()
            .find_map(|key| object.get(key)?.as_str())
            .map(str::to_owned)
    };
    let line = match reference {
        Value::String(text) => text.clone(),
        object @ Value::Object(_) => {
            let name = text(object, &["title", "name", "label", "description"]);
            let place = text(object, &["url", "href", "path", "file"]);
            match (name, place) {
                (Some(name), Some(place)) => format!("{name}: {place}"),
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => object.to_string(),
            }
        }
        other => other.to_string(),
    };
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(MAX_REFERENCE);
    if end < line.len() {
        format!("{}…", &line[..end])
    } else {
        line
    }
}

/// Adds a text of at most `room` bytes; what is cut off is marked.
fn push_cut(target: &mut String, text: &str, room: usize) {
    if text.len() <= room {
        target.push_str(text);
        return;
    }
    let mark = format!("\n\n[cut: {} bytes in all]", text.len());
    let end = text.floor_char_boundary(room.saturating_sub(mark.len()));
    target.push_str(text[..end].trim_end());
    target.push_str(&mark);
}
