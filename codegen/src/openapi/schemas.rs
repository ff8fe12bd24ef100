//! Schemas as generators of clients read them best: what may be `null` says so itself, plain values
//! stand where they are used, and names are free of those that a browser has.

use serde_json::{Value, json};

use workforce_domain::openapi::WRAPPERS;

use super::walk::{
    Object, components, each_object, each_operation, needed, reference, schema_named,
};

/// Schemas that are called otherwise here than in the code, since their names mean something else
/// wherever a browser is near.
const RENAMED: &[(&str, &str)] = &[
    ("Comment", "IssueComment"),
    ("Event", "LiveEvent"),
    ("Window", "TimeWindow"),
];

/// Puts all schemas of a document into shape.
pub(super) fn shape(document: &mut Value) {
    rename(document);
    open_free_objects(document);
    each_object(document, &mut reword);
    each_object(document, &mut drop_repetitions);
    inline(document, is_wrapped);
    inline(document, is_plain);
    each_object(document, &mut nullable);
    each_operation(document, &mut |_path, _method, operation| {
        not_null(operation);
    });
}

fn rename(document: &mut Value) {
    let schemas = components(document, "schemas");
    for (old, new) in RENAMED {
        if let Some(schema) = schemas.as_object_mut().and_then(|it| it.remove(*old)) {
            schemas[*new] = schema;
        }
    }
    each_object(document, &mut |object| {
        for (old, new) in RENAMED {
            if object.get("$ref") == reference("schemas", old).get("$ref") {
                object.extend(
                    reference("schemas", new)
                        .as_object()
                        .cloned()
                        .unwrap_or_default(),
                );
            }
        }
    });
}

/// Says to readers of JSON what the code says to its own readers.
fn reword(object: &mut Object) {
    let Some(Value::String(description)) = object.get_mut("description") else {
        return;
    };
    while let Some((before, after)) = description.split_once("(docs/")
        && let Some((_page, after)) = after.split_once(')')
    {
        *description = format!("{}{after}", before.trim_end());
    }
    *description = description.replace("`None`", "`null`");
}

/// What a description says that says no more than the name of its field.
const REPETITIONS: &[&str] = &[
    "Its company.",
    "Its name.",
    "The agent.",
    "The approval.",
    "The company.",
    "The issue.",
    "The project.",
    "The run.",
    "Unique id.",
    "When it last changed.",
    "When it was made.",
    "When.",
];

fn drop_repetitions(object: &mut Object) {
    let properties = object.get_mut("properties").and_then(Value::as_object_mut);
    for (_name, property) in properties.into_iter().flatten() {
        if let Some(property) = property.as_object_mut()
            && let Some(Value::String(description)) = property.get("description")
            && REPETITIONS.contains(&description.as_str())
        {
            property.remove("description");
        }
    }
}

/// An object of which nothing is said takes any field. To generators that has to be said.
fn open_free_objects(document: &mut Value) {
    each_object(document, &mut |object| {
        let is_schema = object.get("type") == Some(&json!("object"));
        if is_schema && !object.contains_key("properties") {
            object.insert("additionalProperties".to_owned(), json!(true));
        }
    });
}

/// Puts values, such as ids and texts, in the place of the references to them: a name of their own
/// says no more than the field they stand in.
fn inline(document: &mut Value, is_inlined: fn(&str, &Value) -> bool) {
    let schemas = components(document, "schemas").clone();
    each_object(document, &mut |object| {
        let Some(name) = object.get("$ref").and_then(schema_named) else {
            return;
        };
        let schema = &schemas[&name];
        if !is_inlined(&name, schema) {
            return;
        }
        let description = described(object.get("description"), schema);
        object.remove("$ref");
        for (key, value) in schema.as_object().into_iter().flatten() {
            object.insert(key.clone(), value.clone());
        }
        if let Some(description) = description {
            object.insert("description".to_owned(), description);
        }
    });
}

/// Whether a schema is that of a value in a wrapper, which only tells how it is read.
fn is_wrapped(name: &str, _schema: &Value) -> bool {
    let kind = name.split_once('_').map(|(kind, _value)| kind);
    kind.is_some_and(|kind| WRAPPERS.contains(&kind))
}

/// Whether a schema is of one text, number or truth value. Those that list their values are not
/// plain: their names become types.
fn is_plain(_name: &str, schema: &Value) -> bool {
    let kind = schema["type"].as_str().unwrap_or_default();
    ["string", "number", "integer", "boolean"].contains(&kind) && schema.get("enum").is_none()
}

/// What is said of a value where it is used. The type of a number tells its unit, which is added.
fn described(at_use: Option<&Value>, schema: &Value) -> Option<Value> {
    let of_type = schema.get("description");
    match (at_use, of_type) {
        (Some(at_use), Some(of_type)) if schema["type"] != "string" => {
            let both = [at_use, of_type].map(|it| it.as_str().unwrap_or_default());
            Some(Value::from(both.join(" ")))
        }
        (at_use, of_type) => at_use.or(of_type).cloned(),
    }
}

/// Spells a choice between something and `null` as generators know it: as one more type of a plain
/// value, or as `anyOf` beside the description, which belongs to the field.
fn nullable(object: &mut Object) {
    let Some(items) = object.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let nothing = json!({ "type": "null" });
    let [inner] = items
        .iter()
        .filter(|item| **item != nothing)
        .collect::<Vec<_>>()[..]
    else {
        return;
    };
    if items.len() != 2 {
        return;
    }
    let Some(mut inner) = inner.as_object().cloned() else {
        return;
    };
    object.remove("oneOf");
    if let Some(description) = inner.remove("description") {
        object.insert("description".to_owned(), description);
    }
    match inner.get("type").cloned() {
        Some(Value::String(kind)) if !inner.contains_key("properties") => {
            inner.insert("type".to_owned(), json!([kind, "null"]));
            if let Some(words) = inner.get_mut("enum").and_then(Value::as_array_mut) {
                words.push(Value::Null);
            }
            object.extend(inner);
        }
        _ => {
            object.insert("anyOf".to_owned(), json!([inner, nothing]));
        }
    }
}

/// A parameter or a body may be left out, but is never `null`.
fn not_null(operation: &mut Object) {
    let content = operation
        .get_mut("requestBody")
        .and_then(|body| body["content"].as_object_mut());
    for (_media_type, body) in content.into_iter().flatten() {
        let choice = body["schema"]["anyOf"].as_array().cloned();
        if let Some([one, _nothing]) = choice.as_deref() {
            body["schema"] = one.clone();
        }
    }
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if parameter["required"] == false
            && let Some(parameter) = parameter.as_object_mut()
        {
            parameter.remove("required");
        }
        let kind = parameter.pointer_mut("/schema/type");
        if let Some(kind) = kind
            && let Some([one, nothing]) = kind.as_array().map(Vec::as_slice)
            && nothing == "null"
        {
            *kind = one.clone();
        }
    }
}

/// Takes out the schemas that nothing refers to any more.
pub(super) fn drop_unused(document: &mut Value) {
    let components = &document["components"];
    let from = [
        &document["paths"],
        &components["parameters"],
        &components["responses"],
    ];
    let used = needed(&components["schemas"], from);
    if let Some(schemas) = super::walk::components(document, "schemas").as_object_mut() {
        schemas.retain(|name, _schema| used.contains(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(field: &Value) -> Value {
        let mut document = json!({
            "paths": { "/": field },
            "components": { "schemas": {
                "Id": { "type": "string", "format": "uuid" },
                "Amount": { "type": "number", "description": "Cents." },
                "Status": { "type": "string", "enum": ["open"] },
            } },
        });
        shape(&mut document);
        document["paths"]["/"].take()
    }

    fn to(name: &str) -> String {
        format!("#/components/schemas/{name}")
    }

    #[test]
    fn a_plain_value_that_may_be_null_has_two_types() {
        let id = json!({ "$ref": to("Id"), "description": "The run." });
        assert_eq!(
            shaped(&json!({ "oneOf": [id, { "type": "null" }] })),
            json!({ "type": ["string", "null"], "format": "uuid", "description": "The run." })
        );
    }

    #[test]
    fn what_has_a_name_keeps_it_beside_null() {
        let status = json!({ "$ref": to("Status"), "description": "Where it stands." });
        assert_eq!(
            shaped(&json!({ "oneOf": [{ "type": "null" }, status] })),
            json!({
                "anyOf": [{ "$ref": to("Status") }, { "type": "null" }],
                "description": "Where it stands.",
            })
        );
    }

    #[test]
    fn a_choice_between_two_things_stays() {
        let choice = json!({ "oneOf": [{ "$ref": to("Status") }, { "$ref": to("JsonObject") }] });
        assert_eq!(shaped(&choice), choice);
    }

    #[test]
    fn the_unit_of_a_number_goes_with_it() {
        let spent = json!({ "$ref": to("Amount"), "description": "What it spent." });
        assert_eq!(
            shaped(&spent),
            json!({ "type": "number", "description": "What it spent. Cents." })
        );
    }

    #[test]
    fn a_free_object_says_that_it_is_free() {
        assert_eq!(
            shaped(&json!({ "type": "object" })),
            json!({ "type": "object", "additionalProperties": true })
        );
    }
}
