//! What generators of clients need of the document. `cargo xtask clients` asks them themselves.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::described::{self, DOCUMENT};

/// What a browser has under these names is hidden from code that imports a type of the same name.
const OF_BROWSERS: &[&str] = &[
    "Account",
    "Animation",
    "Attr",
    "Blob",
    "Body",
    "Cache",
    "Client",
    "Comment",
    "Credential",
    "Document",
    "Element",
    "Error",
    "Event",
    "File",
    "FormData",
    "Headers",
    "History",
    "Image",
    "Lock",
    "Location",
    "MediaType",
    "Navigator",
    "Node",
    "Notification",
    "Object",
    "Option",
    "Performance",
    "Permissions",
    "Plugin",
    "Range",
    "Report",
    "Request",
    "Response",
    "Screen",
    "Selection",
    "Storage",
    "Text",
    "Touch",
    "URL",
    "Window",
    "Worker",
];

/// Calls `see` with every object in a document.
fn walk(value: &Value, see: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            see(object);
            object.values().for_each(|value| walk(value, see));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, see)),
        _ => {}
    }
}

/// Calls `see` with the place and the value of every schema of a field.
fn each_property(see: &mut impl FnMut(&str, &Value)) {
    walk(&DOCUMENT, &mut |object| {
        let properties = object.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            see(name, property);
        }
    });
}

/// Every operation, with its name for people.
fn operations() -> impl Iterator<Item = (String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let mut referred = BTreeSet::new();
    walk(&DOCUMENT, &mut |object| {
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(
                DOCUMENT.pointer(pointer).is_some(),
                "{target} leads nowhere"
            );
            referred.insert(target.to_owned());
        }
    });
    for kind in ["headers", "parameters", "responses", "schemas"] {
        for name in DOCUMENT["components"][kind].as_object().unwrap().keys() {
            let target = format!("#/components/{kind}/{name}");
            assert!(referred.contains(&target), "nothing refers to {target}");
        }
    }
}

#[test]
fn no_schema_is_called_like_something_of_a_browser() {
    let schemas = DOCUMENT["components"]["schemas"].as_object().unwrap();
    let shadows: Vec<_> = OF_BROWSERS
        .iter()
        .filter(|name| schemas.contains_key(**name))
        .collect();
    assert!(shadows.is_empty(), "{shadows:?}");
}

#[test]
fn what_may_be_null_says_so_itself() {
    let null = json!({ "type": "null" });
    each_property(&mut |name, property| {
        let choices = property["oneOf"].as_array();
        let is_choice_of_null = choices.is_some_and(|choices| choices.contains(&null));
        assert!(!is_choice_of_null, "{name}: {property}");
        let choices = property["anyOf"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| choice.get("$ref").is_some()) {
            // The description is that of the field.
            assert!(choice.get("description").is_none(), "{name}: {property}");
        }
    });
}

#[test]
fn a_free_object_takes_any_field() {
    walk(&DOCUMENT, &mut |object| {
        let is_object = object.get("type") == Some(&json!("object"));
        let is_free = object.get("additionalProperties") == Some(&json!(true));
        assert!(
            !is_object || is_free || object.contains_key("properties"),
            "{object:?}"
        );
    });
}

#[test]
fn an_answer_has_every_field_that_may_be_null() {
    let problem = &DOCUMENT["components"]["schemas"]["Problem"];
    assert!(
        !problem["required"]
            .as_array()
            .unwrap()
            .contains(&json!("retryable"))
    );
    let agent = &DOCUMENT["components"]["schemas"]["Agent"];
    let (fields, required) = (&agent["properties"], &agent["required"]);
    assert!(fields.as_object().unwrap().len() > 15);
    assert_eq!(
        fields.as_object().unwrap().len(),
        required.as_array().unwrap().len()
    );
}

#[test]
fn a_summary_is_one_short_line() {
    for (name, operation) in operations() {
        let summary = operation["summary"].as_str().unwrap();
        let is_line = (1..=80).contains(&summary.chars().count())
            && !summary.contains(['\n', '.'])
            && operation["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
        assert!(is_line, "{name}: {summary:?}");
    }
}

#[test]
fn every_operation_belongs_to_one_resource() {
    let tags = DOCUMENT["tags"].as_array().unwrap();
    let known: BTreeSet<_> = tags
        .iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect();
    let mut used = BTreeSet::new();
    for (name, operation) in operations() {
        let tags = operation["tags"].as_array().unwrap();
        assert_eq!(tags.len(), 1, "{name}");
        used.insert(tags[0].as_str().unwrap());
    }
    assert_eq!(used, known);
}

#[test]
fn a_problem_is_told_by_its_code() {
    let schemas = DOCUMENT["components"]["schemas"].as_object().unwrap();
    let mut codes = BTreeSet::new();
    for (name, schema) in schemas.iter().filter(|(name, _)| name.ends_with("Problem")) {
        if name != "Problem" {
            let own = &schema["allOf"][1];
            let code = own["properties"]["code"]["const"].as_str().unwrap();
            assert!(codes.insert(code), "{name}");
            assert!(
                own["required"].as_array().unwrap().contains(&json!("code")),
                "{name}"
            );
        }
    }
    assert!(codes.len() > 50);
    let conflict = &schemas["CheckoutConflictProblem"]["allOf"][1]["properties"]["details"];
    assert_eq!(conflict["properties"]["issueId"]["format"], "uuid");
}

#[test]
fn answers_tell_their_headers() {
    let has = described::has_header;
    for (name, operation) in operations() {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let mut parameters = parameters.map(described::resolved);
        let is_list = parameters.any(|parameter| parameter["name"] == "cursor");
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let answer = described::resolved(answer);
            assert!(has(answer, "X-Request-Id"), "{name} {status}");
            let is_page = is_list && status == "200";
            assert_eq!(has(answer, "X-Next-Cursor"), is_page, "{name} {status}");
            assert_eq!(has(answer, "Link"), is_page, "{name} {status}");
            let must_wait = ["429", "503", "default"].contains(&status.as_str());
            assert_eq!(has(answer, "Retry-After"), must_wait, "{name} {status}");
            assert_eq!(
                has(answer, "WWW-Authenticate"),
                ["401", "default"].contains(&status.as_str()),
                "{name} {status}"
            );
        }
    }
}

/// A type that only says how a value is read must not hide what the value is.
#[test]
fn a_part_of_a_body_is_described() {
    let schemas = &DOCUMENT["components"]["schemas"];
    for (body, part, of) in [
        ("CreateProject", "workspace", "CreateWorkspace"),
        ("CreateAgentBody", "permissions", "GrantedBody"),
    ] {
        let field = schemas[body]["properties"][part].to_string();
        let expected = format!("#/components/schemas/{of}\"");
        assert!(field.contains(&expected), "{body} {field}");
    }
}
