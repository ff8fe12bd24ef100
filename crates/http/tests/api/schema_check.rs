//! Compares values with schemas, strictly: a field that the schema does not name is a fault as well.

use serde_json::Value;

/// What is wrong with a value, each fault with its place.
pub(crate) fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let check = Check { document };
    check.value(schema, value, "", &mut found);
    found
}

struct Check<'a> {
    document: &'a Value,
}

impl<'a> Check<'a> {
    fn value(&self, schema: &'a Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let mut parts = Vec::new();
        self.flatten(schema, &mut parts);
        if value.is_object() {
            self.object(&parts, value, place, found);
        }
        for part in parts {
            for choice in ["oneOf", "anyOf"] {
                if let Some(items) = part[choice].as_array() {
                    self.choice(items, value, place, found);
                }
            }
            if !has_type(&part["type"], value) {
                found.push(format!("{place}: {value} is not {}", part["type"]));
            }
            if let Some(words) = part["enum"]
                .as_array()
                .filter(|words| !words.contains(value))
            {
                found.push(format!("{place}: {value} is none of {words:?}"));
            }
            if part.get("const").is_some_and(|only| only != value) {
                found.push(format!("{place}: {value} is not {}", part["const"]));
            }
            if let Some(text) = value
                .as_str()
                .filter(|text| !has_format(&part["format"], text))
            {
                found.push(format!("{place}: {text:?} is no {}", part["format"]));
            }
            if let (Some(items), Some(schema)) = (value.as_array(), part.get("items")) {
                for (number, item) in items.iter().enumerate() {
                    self.value(schema, item, &format!("{place}/{number}"), found);
                }
            }
        }
    }

    /// The fields of an object, by all the schemas that it must be of.
    fn object(&self, parts: &[&'a Value], value: &Value, place: &str, found: &mut Vec<String>) {
        let is_choice = |part: &&Value| part.get("oneOf").or(part.get("anyOf")).is_some();
        for part in parts {
            for name in part["required"].as_array().into_iter().flatten() {
                if value.get(name.as_str().unwrap_or_default()).is_none() {
                    found.push(format!("{place}: {name} is missing"));
                }
            }
        }
        for (name, field) in value.as_object().into_iter().flatten() {
            let place = format!("{place}/{name}");
            let mut schemas = parts.iter().filter_map(|part| part["properties"].get(name));
            if let Some(schema) = schemas.next() {
                self.value(schema, field, &place, found);
            } else if !parts.iter().any(is_open) && !parts.iter().any(is_choice) {
                found.push(format!("{place} is not described"));
            }
        }
    }

    /// One of several schemas; where none is right, the faults of the nearest.
    fn choice(&self, items: &'a [Value], value: &Value, place: &str, found: &mut Vec<String>) {
        let tried = items.iter().map(|item| {
            let mut faults = Vec::new();
            self.value(item, value, place, &mut faults);
            faults
        });
        found.extend(tried.min_by_key(Vec::len).unwrap_or_default());
    }

    /// A schema with those that it refers to and is put together from.
    fn flatten(&self, schema: &'a Value, parts: &mut Vec<&'a Value>) {
        parts.push(schema);
        if let Some(target) = schema["$ref"].as_str() {
            let target = self.document.pointer(target.trim_start_matches('#'));
            self.flatten(
                target.unwrap_or_else(|| panic!("{schema} leads nowhere")),
                parts,
            );
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.flatten(part, parts);
        }
    }
}

/// Whether a schema takes any field, or anything.
fn is_open(schema: &&Value) -> bool {
    let says_nothing = ["type", "$ref", "allOf", "anyOf", "oneOf", "properties"]
        .iter()
        .all(|key| schema.get(key).is_none());
    schema["additionalProperties"] == true || says_nothing
}

fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        name => panic!("{name} is no type"),
    };
    match types {
        Value::Null => true,
        Value::Array(types) => types.iter().any(is),
        one => is(one),
    }
}

fn has_format(format: &Value, text: &str) -> bool {
    match format.as_str() {
        Some("uuid") => text.len() == 36 && text.matches('-').count() == 4,
        Some("date-time") => text.contains('T') && text.ends_with('Z'),
        Some("date") => text.len() == 10,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_added_or_of_another_type_is_a_fault() {
        let document = json!({ "schemas": { "Id": { "type": "string", "format": "uuid" } } });
        let schema = json!({
            "type": "object",
            "required": ["id", "at"],
            "properties": {
                "id": { "$ref": "#/schemas/Id" },
                "at": { "type": ["string", "null"] },
                "n": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            },
        });
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let count = |value| faults(&document, &schema, &value).len();
        assert_eq!(count(json!({ "id": id, "at": null, "n": 1 })), 0);
        assert_eq!(count(json!({ "id": "x", "at": null })), 1);
        assert_eq!(count(json!({ "id": id })), 1);
        assert_eq!(count(json!({ "id": id, "at": "", "n": "1" })), 1);
        assert_eq!(count(json!({ "id": id, "at": "", "more": 1 })), 1);
    }
}
