//! Ways through a document.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// Where components stand in a document, as references begin.
pub(super) const COMPONENTS: &str = "#/components/";

const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Calls `change` with every object in a value, those within before those around them.
pub(super) fn each_object(value: &mut Value, change: &mut dyn FnMut(&mut Object)) {
    match value {
        Value::Object(object) => {
            for value in object.values_mut() {
                each_object(value, change);
            }
            change(object);
        }
        Value::Array(items) => {
            for item in items {
                each_object(item, change);
            }
        }
        _ => {}
    }
}

/// Calls `change` with every operation of a document, with its path and method.
pub(super) fn each_operation(
    document: &mut Value,
    change: &mut dyn FnMut(&str, &str, &mut Object),
) {
    let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) else {
        return;
    };
    for (path, item) in paths {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method).and_then(Value::as_object_mut) {
                change(path, method, operation);
            }
        }
    }
}

/// Calls `change` with every answer of an operation that stands there itself, with its status.
pub(super) fn each_answer(operation: &mut Object, change: &mut dyn FnMut(&str, &mut Object)) {
    let answers = operation
        .get_mut("responses")
        .and_then(Value::as_object_mut);
    for (status, answer) in answers.into_iter().flatten() {
        if let Some(answer) = answer.as_object_mut() {
            change(status, answer);
        }
    }
}

/// The components of one kind, such as `schemas`; made when there are none.
pub(super) fn components<'a>(document: &'a mut Value, kind: &str) -> &'a mut Value {
    &mut document["components"][kind]
}

/// The names of the components of one kind that a value refers to itself.
pub(super) fn references(value: &Value, kind: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(value, &format!("{COMPONENTS}{kind}/"), &mut found);
    found
}

fn collect(value: &Value, beginning: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value.as_str() {
                    Some(target) if key == "$ref" => {
                        found.extend(target.strip_prefix(beginning).map(str::to_owned));
                    }
                    _ => collect(value, beginning, found),
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect(item, beginning, found)),
        _ => {}
    }
}

/// The names of the schemas that these values need, those within others included.
pub(super) fn needed<'a>(
    schemas: &Value,
    from: impl IntoIterator<Item = &'a Value>,
) -> BTreeSet<String> {
    let mut left: Vec<String> = from
        .into_iter()
        .flat_map(|value| references(value, "schemas"))
        .collect();
    let mut needed = BTreeSet::new();
    while let Some(name) = left.pop() {
        if let Some(schema) = schemas.get(&name)
            && needed.insert(name)
        {
            left.extend(references(schema, "schemas"));
        }
    }
    needed
}

/// The name of the schema that a value refers to.
pub(super) fn schema_of(value: &Value) -> Option<String> {
    value.get("$ref").and_then(schema_named)
}

/// The name of the schema that a reference leads to.
pub(super) fn schema_named(reference: &Value) -> Option<String> {
    let name = reference
        .as_str()?
        .strip_prefix(COMPONENTS)?
        .strip_prefix("schemas/")?;
    Some(name.to_owned())
}

/// A reference to a component.
pub(super) fn reference(kind: &str, name: &str) -> Value {
    serde_json::json!({ "$ref": format!("{COMPONENTS}{kind}/{name}") })
}
