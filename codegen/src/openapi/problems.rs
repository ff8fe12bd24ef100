//! Problem answers: a schema for each code, so that a client that has looked at `code` knows what
//! `details` holds, and an answer for each set of codes that a route has under one status.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::PartialSchema;
use workforce_app::Code;
use workforce_domain::string_enum::StringEnum;

use super::details::{self, FAULT, details};
use super::walk::{Object, components, reference};
use workforce_http::problem::{self, ProblemBody};

/// The schema of what all problems have.
const PROBLEM: &str = "Problem";

/// Under this the answers stand that any operation may give.
pub(super) const DEFAULT: &str = "default";

/// The codes of the answers under [`DEFAULT`].
const ANYWHERE: &[Code] = &[
    Code::CredentialMissing,
    Code::CredentialInvalid,
    Code::AgentInactive,
    Code::RunMismatch,
    Code::OriginForbidden,
    Code::BodyTooLarge,
    Code::RateLimited,
    Code::Internal,
    Code::Contended,
    Code::StoreUnavailable,
    Code::StorageFull,
    Code::OutcomeUnknown,
];

/// Adds the schemas of all problems.
pub(super) fn describe(document: &mut Value) {
    let schemas = components(document, "schemas");
    schemas[PROBLEM] = shared();
    schemas[FAULT] = details::fault();
    schemas["Code"] = words(Code::ALL);
    for &code in Code::ALL {
        schemas[schema_name(code)] = of_code(code);
    }
}

/// Adds the problem answers of an operation that refuses with these codes.
pub(super) fn answer(operation: &mut Object, codes: &[Code]) {
    let mut by_status: BTreeMap<String, Vec<Code>> = BTreeMap::new();
    for &code in codes {
        let status = problem::entry(code).status.as_str().to_owned();
        by_status.entry(status).or_default().push(code);
    }
    by_status.retain(|_status, codes| !codes.iter().all(|code| ANYWHERE.contains(code)));
    by_status.insert(DEFAULT.to_owned(), ANYWHERE.to_vec());
    let answers = operation.entry("responses").or_insert_with(|| json!({}));
    for (status, codes) in by_status {
        let schemas = codes
            .iter()
            .map(|code| reference("schemas", &schema_name(*code)));
        let schema = match &schemas.collect::<Vec<_>>()[..] {
            [one] => one.clone(),
            several => json!({ "oneOf": several }),
        };
        let named: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
        answers[status] = json!({
            "description": named.join(", "),
            "content": { "application/problem+json": { "schema": schema } },
        });
    }
}

/// The codes of a problem answer.
pub(super) fn codes_of(answer: &Value) -> Vec<Code> {
    let description = answer["description"].as_str().unwrap_or_default();
    let is_problem = answer["content"].get("application/problem+json").is_some();
    let named = description.split(", ").filter(|_code| is_problem);
    named
        .filter_map(|code| Code::parse(code.trim_matches('`')))
        .collect()
}

/// A code as a part of a name: `not_found` is `NotFound`.
pub(super) fn pascal(code: Code) -> String {
    let parts = code.as_str().split('_').map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_uppercase() + rest
    });
    parts.collect()
}

fn schema_name(code: Code) -> String {
    pascal(code) + PROBLEM
}

/// What every problem has. `code` and `details` stand in the schema of each code.
fn shared() -> Value {
    let mut schema = serde_json::to_value(ProblemBody::schema()).unwrap_or_default();
    for own in ["code", "details"] {
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.remove(own);
        }
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != own);
        }
    }
    schema
}

fn of_code(code: Code) -> Value {
    let mut own = json!({
        "required": ["code"],
        "properties": { "code": { "const": code.as_str() } },
    });
    if let Some(details) = details(code) {
        own["properties"]["details"] = details.schema;
        if details.always {
            own["required"] = json!(["code", "details"]);
        }
    }
    json!({
        "description": problem::entry(code).advice,
        "allOf": [reference("schemas", PROBLEM), own],
    })
}

fn words<E: StringEnum>(all: &[E]) -> Value {
    let words: Vec<_> = all.iter().map(|word| word.as_str()).collect();
    json!({ "type": "string", "enum": words })
}
