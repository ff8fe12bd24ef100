//! What the agents of a project are told about it before they work
//! (docs/heartbeats.md#files).

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
/// The entries of a list are told one by one, and those of an object that is no
/// source itself too, each with its key. Anything else is one source.
fn references(references: &Value) -> String {
    let lines: Vec<String> = match references {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(reference_line).collect(),
        Value::Object(object) if named_source(references).is_none() => object
            .iter()
            .map(|(key, value)| one_line(&format!("{key}: {}", source_text(value))))
            .collect(),
        one => vec![reference_line(one)],
    };
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let mut list = String::new();
    for (index, line) in lines.iter().enumerate() {
        let line = format!("- {line}\n");
        // Room is kept for the line that tells what is left out.
        if list.len() + line.len() > MAX_REFERENCES - 64 {
            let left_out = lines.len() - index;
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

/// A further source in one line.
fn reference_line(reference: &Value) -> String {
    one_line(&source_text(reference))
}

/// A further source: a text as it is, of an object its name and its place where
/// it has them, and anything else as JSON.
fn source_text(reference: &Value) -> String {
    match reference {
        Value::String(text) => text.clone(),
        other => named_source(other).unwrap_or_else(|| other.to_string()),
    }
}

/// The name and the place of a source that is an object; `None` where it has
/// neither.
fn named_source(object: &Value) -> Option<String> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| object.get(key)?.as_str());
    let name = text(&["title", "name", "label", "description"]);
    let place = text(&["url", "href", "path", "file"]);
    match (name, place) {
        (Some(name), Some(place)) => Some(format!("{name}: {place}")),
        (only, None) | (None, only) => only.map(str::to_owned),
    }
}

/// A text in one line of at most [`MAX_REFERENCE`] bytes.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
