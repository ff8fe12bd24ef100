//! The headers of the answers.

use serde_json::{Value, json};

use super::problems::DEFAULT;
use super::walk::{Object, components, each_answer, each_operation, reference};
use workforce_http::headers::{LAST_EVENT, NEXT_CURSOR, REPLAYED};

const REQUEST_ID: &str = "X-Request-Id";
pub(super) const ETAG: &str = "ETag";
const RETRY_AFTER: &str = "Retry-After";

/// A header that answers have.
struct Header {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Value,
}

const HEADERS: &[Header] = &[
    Header {
        name: REQUEST_ID,
        description: "Names the request in the log: what the caller sent under this name, or a new id.",
        schema: text,
    },
    Header {
        name: NEXT_CURSOR,
        description: "What to send as `cursor` for the next page; missing with the last one.",
        schema: text,
    },
    Header {
        name: "Link",
        description: "The next page as a link with `rel=\"next\"`; missing with the last one.",
        schema: text,
    },
    Header {
        name: ETAG,
        description: "Names this state of what is answered.",
        schema: text,
    },
    Header {
        name: RETRY_AFTER,
        description: "The seconds to wait before asking again.",
        schema: || json!({ "type": "integer", "minimum": 1 }),
    },
    Header {
        name: "WWW-Authenticate",
        description: "How to authenticate: `Bearer`.",
        schema: text,
    },
    Header {
        name: "Upgrade",
        description: "What to upgrade the connection to: `websocket`.",
        schema: text,
    },
    Header {
        name: REPLAYED,
        description: "`true` when this is the answer to an earlier request.",
        schema: || json!({ "type": "string", "const": "true" }),
    },
    Header {
        name: LAST_EVENT,
        description: "Of a list: what to send as `after` next time.",
        schema: || json!({ "type": "integer", "format": "int64" }),
    },
    Header {
        name: "Content-Disposition",
        description: "Whether to show or to save it, and under which name.",
        schema: text,
    },
    Header {
        name: "Content-Range",
        description: "Which bytes these are, and of how many.",
        schema: text,
    },
];

/// The operations whose answer names the state of an agent's configuration, of an
/// approval or of a file.
const TAGGED: &[&str] = &[
    "approveApproval",
    "cancelApproval",
    "createAgent",
    "createApproval",
    "getAgent",
    "getApproval",
    "getAttachmentContent",
    "getCurrentAgent",
    "rejectApproval",
    "requestApprovalRevision",
    "resubmitApproval",
    "rollBackConfig",
    "updateAgent",
];

/// Says which headers each answer of each operation has.
pub(super) fn describe(document: &mut Value) {
    each_operation(document, &mut |_path, method, operation| {
        let operation_id = operation.get("operationId").and_then(Value::as_str);
        let operation_id = operation_id.unwrap_or_default().to_owned();
        let is_list = takes(operation, "cursor");
        each_answer(operation, &mut |status, answer| {
            let is_success = status.starts_with(['2', '3']);
            let is_file = operation_id == "getAttachmentContent" && is_success;
            add(answer, REQUEST_ID, true);
            add(
                answer,
                ETAG,
                is_success && TAGGED.contains(&operation_id.as_str()),
            );
            add(answer, NEXT_CURSOR, is_success && is_list);
            add(answer, "Link", is_success && is_list);
            add(answer, REPLAYED, is_success && method == "post");
            add(
                answer,
                RETRY_AFTER,
                ["429", "503", DEFAULT].contains(&status),
            );
            add(
                answer,
                "WWW-Authenticate",
                ["401", DEFAULT].contains(&status),
            );
            add(answer, "Upgrade", ["101", "426"].contains(&status));
            add(answer, "Content-Disposition", is_file);
            add(answer, "Content-Range", ["206", "416"].contains(&status));
            refer(answer);
        });
    });
    for header in HEADERS {
        components(document, "headers")[header.name] = json!({
            "description": header.description,
            "schema": (header.schema)(),
        });
    }
}

fn text() -> Value {
    json!({ "type": "string" })
}

/// Whether an operation has a parameter of this name.
fn takes(operation: &Object, name: &str) -> bool {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    let mut parameters = parameters.into_iter().flatten();
    parameters.any(|parameter| parameter["name"] == name)
}

fn add(answer: &mut Object, name: &str, has_it: bool) {
    if has_it {
        let headers = answer.entry("headers").or_insert_with(|| json!({}));
        headers[name] = reference("headers", name);
    }
}

/// Puts references in the place of the headers that the routes describe themselves.
fn refer(answer: &mut Object) {
    let headers = answer.get_mut("headers").and_then(Value::as_object_mut);
    for (name, header) in headers.into_iter().flatten() {
        if HEADERS.iter().any(|known| known.name == name) {
            *header = reference("headers", name);
        }
    }
}
