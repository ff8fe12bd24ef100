//! One short line for each operation: the first sentence of what is said of it.

use serde_json::Value;

use super::walk::{Object, each_operation};

/// Makes the first sentence of each operation its summary, and the rest its description.
pub(super) fn shorten(document: &mut Value) {
    each_operation(document, &mut |_path, _method, operation| {
        shorten_one(operation);
    });
}

/// The first sentence of a text, without its full stop, and the rest.
pub(crate) fn first_sentence(text: &str) -> (String, String) {
    let text = text.replace('\n', " ");
    let (first, rest) = text.split_once(". ").unwrap_or((&text, ""));
    let first = first.trim().trim_end_matches('.');
    (first.to_owned(), rest.to_owned())
}

fn shorten_one(operation: &mut Object) {
    let told = operation.get("summary").and_then(Value::as_str);
    let (summary, rest) = first_sentence(told.unwrap_or_default());
    let description = operation.get("description").and_then(Value::as_str);
    let parts = [rest.trim(), description.unwrap_or_default()];
    let description = parts.into_iter().filter(|part| !part.is_empty());
    let description = description.collect::<Vec<_>>().join("\n\n");
    operation.insert("summary".to_owned(), summary.into());
    operation.insert("description".to_owned(), description.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_sentence_is_the_summary() {
        let mut operation = json!({
            "summary": "Makes a goal.\nIt may have a parent. Not itself.",
            "description": "For the board.",
        });
        shorten_one(operation.as_object_mut().unwrap());
        assert_eq!(
            operation,
            json!({
                "summary": "Makes a goal",
                "description": "It may have a parent. Not itself.\n\nFor the board.",
            })
        );
    }
}
