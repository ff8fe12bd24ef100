//! Parts of answers that no answer consists of alone, such as who made a record: their fields stand
//! in each schema that has them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::walk::{Object, components, each_object, schema_of};

/// Writes the parts into the schemas that consist of them, and drops them. What is answered by
/// itself as well stays a reference.
pub(super) fn merge(document: &mut Value) {
    let mut whole = BTreeSet::new();
    each_object(document, &mut |object| {
        for (_name, value) in object.iter().filter(|(name, _)| *name != "allOf") {
            let several = value.as_array().into_iter().flatten();
            whole.extend(several.chain([value]).filter_map(schema_of));
        }
    });
    let schemas = components(document, "schemas").clone();
    each_object(document, &mut |object| merge_one(object, &schemas, &whole));
    if let Some(schemas) = components(document, "schemas").as_object_mut() {
        schemas.retain(|name, _schema| whole.contains(name));
    }
}

fn merge_one(object: &mut Object, schemas: &Value, whole: &BTreeSet<String>) {
    let Some(Value::Array(items)) = object.remove("allOf") else {
        return;
    };
    let mut merged = Vec::new();
    let mut own = json!({ "type": "object", "properties": {}, "required": [] });
    let mut left = items;
    while let Some(item) = left.pop() {
        match schema_of(&item) {
            Some(name) if whole.contains(&name) => {
                merged.push(json!({ "$ref": item["$ref"] }));
            }
            Some(name) => match &schemas[&name]["allOf"] {
                Value::Array(items) => left.extend(items.iter().cloned()),
                _ => left.push(schemas[&name].clone()),
            },
            None => add(&mut own, &item),
        }
    }
    if own["required"] == json!([])
        && let Some(own) = own.as_object_mut()
    {
        own.remove("required");
    }
    if merged.is_empty() {
        object.extend(own.as_object().cloned().unwrap_or_default());
    } else {
        merged.push(own);
        object.insert("allOf".to_owned(), merged.into());
    }
}

/// Adds the fields of one object to those of another.
fn add(to: &mut Value, from: &Value) {
    let fields = from["properties"].as_object().cloned();
    if let Some(properties) = to["properties"].as_object_mut() {
        properties.extend(fields.unwrap_or_default());
    }
    let names = from["required"].as_array().cloned();
    if let Some(required) = to["required"].as_array_mut() {
        required.extend(names.unwrap_or_default());
        required.sort_by_key(ToString::to_string);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_answered_alone_is_merged() {
        let field = |name: &str| {
            json!({ "type": "object", "properties": { name: { "type": "string" } },
                    "required": [name] })
        };
        let to = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        let mut document = json!({
            "paths": { "/": { "a": to("Issue"), "b": to("Detail") } },
            "components": { "schemas": {
                "Author": field("author"),
                "Record": { "allOf": [to("Author"), field("title")] },
                "Issue": { "description": "An issue.", "allOf": [to("Record"), field("lease")] },
                "Detail": { "allOf": [to("Issue"), field("goal")] },
            } },
        });
        merge(&mut document);
        let text = || json!({ "type": "string" });
        assert_eq!(
            document["components"]["schemas"],
            json!({
                "Issue": {
                    "description": "An issue.",
                    "type": "object",
                    "properties": { "author": text(), "lease": text(), "title": text() },
                    "required": ["author", "lease", "title"],
                },
                "Detail": { "allOf": [to("Issue"), field("goal")] },
            })
        );
    }
}
