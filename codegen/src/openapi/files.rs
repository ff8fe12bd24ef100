//! What is no JSON: files, which are bytes, sent in a form or received, and streams, which are text.

use serde_json::{Value, json};

use super::walk::{each_answer, each_object, each_operation};

const BYTES: &str = "application/octet-stream";
const ANY: &str = "*/*";

/// What is read line by line, and what each type says of its lines.
const STREAMS: [(&str, &str); 2] = [
    (
        "text/event-stream",
        "Server-sent events. The `data` of each is a JSON text.",
    ),
    ("application/x-ndjson", "Each line is a JSON text."),
];

/// Describes the contents of files as bytes, and streams as the text that they are: of one that is
/// read line by line no schema tells. An answer with a file has whatever type its content is of, and
/// generators ask for one that they know beside it.
pub(super) fn describe(document: &mut Value) {
    each_operation(document, &mut |_path, _method, operation| {
        each_answer(operation, &mut |_status, answer| {
            let content = answer.get_mut("content").and_then(Value::as_object_mut);
            if let Some(content) = content
                && content.contains_key(ANY)
            {
                let schema = json!({ "type": "string", "format": "binary" });
                for kind in [BYTES, ANY] {
                    content.insert(kind.to_owned(), json!({ "schema": schema }));
                }
            }
            for (kind, told) in STREAMS {
                if let Some(stream) = answer.get_mut("content").and_then(|it| it.get_mut(kind)) {
                    stream["schema"] = json!({ "type": "string", "description": told });
                }
            }
        });
    });
    // Some generators go by the one, some by the other.
    each_object(document, &mut |object| {
        if object.get("format") == Some(&json!("binary")) {
            object.insert("contentMediaType".to_owned(), json!(BYTES));
        }
    });
}
