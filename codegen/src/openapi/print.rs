//! How a document is written into a file: whatever is short on one line, and a list of words too, so
//! that a change of a field shows as one line, and the file stays readable.

use std::fmt::Write as _;

use serde_json::Value;

/// What fits into so many columns stands on one line.
const WIDTH: usize = 400;

/// The order of the parts of a document; all else is in the order of its names.
const PARTS: [&str; 7] = [
    "openapi",
    "info",
    "servers",
    "security",
    "tags",
    "paths",
    "components",
];

/// The text of a document, as a file.
pub(crate) fn printed(document: &Value) -> String {
    let mut text = String::new();
    write(&mut text, document, 0, 0);
    text.push('\n');
    text
}

/// Writes a value at a depth, `before` columns from there.
fn write(text: &mut String, value: &Value, depth: usize, before: usize) {
    let line = on_one_line(value);
    // The document itself and what it is made of are never short.
    let is_short = depth > 0 && depth + before + line.chars().count() < WIDTH;
    match value {
        Value::Object(object) if !is_short && !object.is_empty() => {
            let mut entries: Vec<_> = object.iter().collect();
            if depth == 0 {
                entries.sort_by_key(|(name, _)| PARTS.iter().position(|part| part == name));
            }
            let lines = entries.into_iter().map(|(name, value)| {
                let name = format!("{}:", Value::from(name.as_str()));
                (name, value)
            });
            block(text, "{", lines, "}", depth);
        }
        Value::Array(items) if !is_short && items.iter().any(|it| !it.is_string()) => {
            block(
                text,
                "[",
                items.iter().map(|item| (String::new(), item)),
                "]",
                depth,
            );
        }
        _ => text.push_str(&line),
    }
}

fn block<'a>(
    text: &mut String,
    open: &str,
    lines: impl Iterator<Item = (String, &'a Value)>,
    close: &str,
    depth: usize,
) {
    text.push_str(open);
    for (number, (name, value)) in lines.enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let indent = depth + 1;
        // Writing into a text cannot fail.
        let _ = write!(text, "{comma}\n{:indent$}{name}", "");
        write(text, value, indent, name.len());
    }
    let _ = write!(text, "\n{:depth$}{close}", "");
}

fn on_one_line(value: &Value) -> String {
    let parts = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(object) => {
            let fields = object.iter().map(|(name, value)| {
                format!("{}:{}", Value::from(name.as_str()), on_one_line(value))
            });
            format!("{{{}}}", parts(fields.collect()))
        }
        Value::Array(items) => format!("[{}]", parts(items.iter().map(on_one_line).collect())),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_things_stand_on_one_line_and_the_parts_in_their_order() {
        let long = "x".repeat(WIDTH);
        let document = json!({
            "components": { "schemas": { "Id": { "type": "string" } } },
            "paths": { "/": { "a": [1, 2], "b": long } },
            "openapi": "3.1.0",
        });
        let text = printed(&document);
        let expected = format!(
            "{{\n \"openapi\":\"3.1.0\",\n \"paths\":{{\n  \"/\":{{\n   \"a\":[1,2],\n   \
             \"b\":\"{long}\"\n  }}\n }},\n \"components\":\
             {{\"schemas\":{{\"Id\":{{\"type\":\"string\"}}}}}}\n}}\n"
        );
        assert_eq!(text, expected);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read, document);
    }
}
