//! Holds values against the schemas of a description: the part of JSON Schema that the
//! descriptions use.

use serde_json::{Map, Value};

/// What is wrong with `value`, each with where it is. Nothing if it fits.
///
/// A property that the schema does not name does not fit. `null_where_absent` lets a property
/// that need not be there be null.
pub(crate) fn faults(schema: &Value, value: &Value, null_where_absent: bool) -> Vec<String> {
    let mut checking = Checking {
        null_where_absent,
        faults: Vec::new(),
    };
    checking.check(schema, value, "");
    checking.faults
}

/// A value of a query or a path as the schema wants it: a number, a truth or a text.
pub(crate) fn parameter_faults(schema: &Value, text: &str) -> Vec<String> {
    let of_type = |name: &str| schema.get("type").and_then(Value::as_str) == Some(name);
    let value = if of_type("integer") {
        text.parse::<u64>().map_or(Value::Null, Value::from)
    } else if of_type("boolean") {
        text.parse::<bool>().map_or(Value::Null, Value::from)
    } else {
        Value::from(text)
    };
    faults(schema, &value, false)
}

struct Checking {
    null_where_absent: bool,
    faults: Vec<String>,
}

impl Checking {
    fn check(&mut self, schema: &Value, value: &Value, place: &str) {
        let is_nullable = schema.get("nullable") == Some(&Value::Bool(true));
        if value.is_null() && is_nullable {
            return;
        }
        if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(it)) {
            let choices = choices.as_array().map_or(&[] as &[Value], Vec::as_slice);
            let fits = |choice: &Value| faults(choice, value, self.null_where_absent).is_empty();
            if !choices.iter().any(fits) {
                self.fault(place, "fits none of the choices");
            }
            return;
        }
        if let Some(Value::Array(words)) = schema.get("enum")
            && !words.contains(value)
        {
            self.fault(place, &format!("is {value}, which is none of {words:?}"));
        }
        if let (Some(most), Some(number)) = (
            schema.get("maximum").and_then(Value::as_f64),
            value.as_f64(),
        ) && number > most
        {
            self.fault(place, &format!("is more than {most}"));
        }
        match (schema.get("type").and_then(Value::as_str), value) {
            (Some("object") | None, Value::Object(fields)) => {
                self.check_object(schema, fields, place);
            }
            (Some("array"), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = schema.get("items") {
                        self.check(schema, item, &format!("{place}/{index}"));
                    }
                }
            }
            (Some("string"), Value::String(_))
            | (Some("boolean"), Value::Bool(_))
            | (Some("number"), Value::Number(_))
            | (None, _) => {}
            (Some("integer"), Value::Number(number)) if number.is_u64() || number.is_i64() => {}
            (Some(wanted), _) => self.fault(place, &format!("is {value} and no {wanted}")),
        }
    }

    fn check_object(&mut self, schema: &Value, fields: &Map<String, Value>, place: &str) {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return;
        };
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for name in &required {
            if !fields.contains_key(*name) {
                self.fault(place, &format!("has no `{name}`"));
            }
        }
        for (name, value) in fields {
            let place = format!("{place}/{name}");
            let may_be_null = self.null_where_absent && !required.contains(&name.as_str());
            match properties.get(name) {
                Some(_) if may_be_null && value.is_null() => {}
                Some(schema) => self.check(schema, value, &place),
                None => self.fault(&place, "is not described"),
            }
        }
    }

    fn fault(&mut self, place: &str, text: &str) {
        let place = if place.is_empty() { "it" } else { place };
        self.faults.push(format!("{place} {text}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, value: &Value, expected: &[&str]) {
        assert_eq!(faults(schema, value, false), expected);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": ["a", "b"]},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "gone": {"type": "string", "nullable": true},
            },
            "required": ["name"],
        });
        check(&schema, &json!({"name": "a", "gone": null}), &[]);
        check(&schema, &json!({"sizes": [1]}), &["it has no `name`"]);
        let odd = json!({"name": "a", "sizes": [1, "2"], "more": 1});
        let expected = ["/more is not described", "/sizes/1 is \"2\" and no integer"];
        check(&schema, &odd, &expected);
        let null = json!({"name": "b", "sizes": null});
        check(&schema, &null, &["/sizes is null and no array"]);
        assert!(faults(&schema, &null, true).is_empty());
        assert_eq!(faults(&schema, &json!({"name": "c"}), true).len(), 1);
    }

    #[test]
    fn parameters_are_read_as_what_they_are_to_be() {
        let number = json!({"type": "integer", "maximum": 100});
        assert!(parameter_faults(&number, "100").is_empty());
        assert!(!parameter_faults(&number, "101").is_empty());
        assert!(!parameter_faults(&number, "many").is_empty());
        let either = json!({"oneOf": [{"type": "integer"}, {"type": "string"}]});
        assert!(parameter_faults(&either, "group/name").is_empty());
    }
}
