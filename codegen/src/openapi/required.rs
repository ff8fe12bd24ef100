//! Which fields an answer always has.
//!
//! A field that may be `null` is there all the same, so that it is required. One that is left out of
//! some answers stands in the code with `skip_serializing_if` and is described as never `null`
//! (`#[schema(nullable = false)]`, or a type of its own). The tests of the whole interface compare
//! every answer with this.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::walk::{Object, components, each_object, each_operation, needed};

/// Says of every field of the answers that is always there that it is.
pub(super) fn require(document: &mut Value) {
    let mut answers = Vec::new();
    each_operation(document, &mut |_path, _method, operation| {
        answers.extend(operation.get("responses").cloned());
    });
    let answered = needed(&document["components"]["schemas"], &answers);
    let schemas = components(document, "schemas").as_object_mut();
    for (name, schema) in schemas.into_iter().flatten() {
        if answered.contains(name) {
            each_object(schema, &mut require_nullable);
        }
    }
}

/// Takes the bounds of texts out of what is answered only: they bind whoever sends.
pub(super) fn drop_bounds(document: &mut Value) {
    let mut sent = Vec::new();
    each_operation(document, &mut |_path, _method, operation| {
        sent.extend(operation.get("requestBody").cloned());
    });
    let sent = needed(&document["components"]["schemas"], &sent);
    let schemas = components(document, "schemas").as_object_mut();
    for (_name, schema) in schemas
        .into_iter()
        .flatten()
        .filter(|(name, _)| !sent.contains(*name))
    {
        each_object(schema, &mut |object| {
            for bound in ["minLength", "maxLength", "pattern"] {
                if object.get(bound).is_some_and(|it| !it.is_object()) {
                    object.remove(bound);
                }
            }
        });
    }
}

fn require_nullable(schema: &mut Object) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let told = schema.get("required").and_then(Value::as_array);
    let mut required: BTreeSet<String> = told
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    required.extend(
        properties
            .iter()
            .filter(|(_name, property)| may_be_null(property))
            .map(|(name, _property)| name.clone()),
    );
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
}

/// Whether a field may be `null`; one of which no type is told may be anything.
fn may_be_null(property: &Value) -> bool {
    let is_null = |schema: &Value| schema["type"] == "null";
    let types = property["type"].as_array();
    let choices = property["anyOf"].as_array();
    let is_anything = ["type", "anyOf", "oneOf", "allOf", "$ref", "const", "enum"]
        .iter()
        .all(|key| property.get(key).is_none());
    is_anything
        || types.is_some_and(|types| types.contains(&json!("null")))
        || choices.is_some_and(|choices| choices.iter().any(is_null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_null_is_there_and_what_may_not_keeps_its_word() {
        let mut schema = json!({
            "required": ["id"],
            "properties": {
                "id": { "type": "string" },
                "title": { "type": ["string", "null"] },
                "run": { "anyOf": [{ "$ref": "#/components/schemas/Run" }, { "type": "null" }] },
                "extra": { "description": "Anything." },
                "note": { "type": "string" },
            },
        });
        each_object(&mut schema, &mut require_nullable);
        assert_eq!(schema["required"], json!(["extra", "id", "run", "title"]));
    }
}
