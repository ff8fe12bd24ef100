//! The OpenAPI 3.1 document: what the routes say of themselves, in the shape that generators of
//! clients like.

mod details;
mod examples;
mod files;
mod headers;
mod parts;
mod path_parameters;
mod print;
mod problems;
mod required;
mod schemas;
mod sharing;
mod summaries;
mod tags;
mod walk;

use std::collections::HashMap;

use serde_json::{Value, json};
use workforce_app::Code;
use workforce_domain::string_enum::StringEnum;
use workforce_http::headers::{IDEMPOTENCY_KEY, RUN_ID};
use workforce_http::registry::{Access, Listed};
use workforce_http::routes;

pub(crate) use print::printed;
pub(crate) use summaries::first_sentence;
use walk::each_operation;

const BEARER: &str = "bearer";

/// The OpenAPI document of every route there is.
pub(crate) fn document() -> Value {
    let endpoints = routes::all();
    let routes = endpoints.list();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "workforce",
            "version": env!("CARGO_PKG_VERSION"),
            "description": about(),
            "contact": { "name": "The operator of this installation" },
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        // The installation that the document comes from.
        "servers": [{ "url": "/" }],
        "security": [{ BEARER: [] }, {}],
        "paths": {},
        "components": {
            "schemas": {},
            "securitySchemes": { BEARER: {
                "type": "http",
                "scheme": "bearer",
                "description": "An agent's key (`wfk_...`), the token of a run (`wfr_...`) or of \
                                the board (`wfb_...`). A local installation takes a request \
                                without any for the board's.",
            } },
        },
    });
    for route in &routes {
        document["paths"][&route.path][route.method.to_lowercase()] = operation(route);
    }
    for (name, schema) in endpoints.schemas() {
        document["components"]["schemas"][name] = written(&schema);
    }
    finish(&mut document, &routes);
    document
}

/// What the interface is for, and what holds for all of it.
fn about() -> String {
    let rules = Access::ALL
        .iter()
        .map(|rule| format!("\n- `{rule}`: {}", rule.meaning()));
    let rules: String = rules.collect();
    format!(
        "Manages AI agents as employees of companies. Every refusal is a problem document of RFC \
         9457. What a request says that nobody reads is named in the header \
         `X-Workforce-Warning`.\n\nThe rule of an operation (`x-access`) says who may call it:{rules}"
    )
}

/// What is made of names, numbers and texts alone, as JSON.
fn written(value: &impl serde::Serialize) -> Value {
    // It cannot fail to be written.
    serde_json::to_value(value).unwrap_or_default()
}

/// Turns what the routes say of themselves into a document that generators of clients like.
fn finish(document: &mut Value, routes: &[Listed]) {
    let codes: HashMap<(&str, &str), &[Code]> = routes
        .iter()
        .map(|route| ((&*route.path, &*route.method), &*route.codes))
        .collect();
    files::describe(document);
    schemas::shape(document);
    parts::merge(document);
    examples::describe(document);
    problems::describe(document);
    each_operation(document, &mut |path, method, operation| {
        let method = method.to_uppercase();
        let codes = codes.get(&(path, &*method));
        problems::answer(operation, codes.copied().unwrap_or_default());
    });
    required::require(document);
    required::drop_bounds(document);
    tags::describe(document);
    summaries::shorten(document);
    headers::describe(document);
    sharing::share_parameters(document);
    sharing::share_answers(document);
    sharing::lift_parameters(document);
    schemas::drop_unused(document);
}

/// An operation with what every operation of its kind has.
fn operation(route: &Listed) -> Value {
    let mut operation = written(&route.operation);
    let mut parameters = path_parameters::all(&route.path, &mut operation);
    operation["x-access"] = json!(route.access.as_str());
    let more = operation["description"].as_str().unwrap_or_default();
    let told = format!("{more}\n\nRule `{}`.", route.access);
    operation["description"] = json!(told.trim_start());
    if route.access == Access::Public {
        operation["security"] = json!([]);
    } else {
        let told = "The run on whose behalf an agent asks with its key.";
        parameters.push(header(RUN_ID, told, 36));
    }
    if route.method == "POST" && route.access != Access::Public {
        let told = "A repetition of the request under the same key within 24 hours gets the first \
                    answer.";
        parameters.push(header(IDEMPOTENCY_KEY, told, 200));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}

fn header(name: &str, description: &str, max: usize) -> Value {
    json!({
        "name": name,
        "in": "header",
        "required": false,
        "description": description,
        "schema": { "type": "string", "minLength": 1, "maxLength": max },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_schemas_have_one_name() {
        let mut seen: HashMap<String, Value> = HashMap::new();
        for (name, schema) in routes::all().schemas() {
            let schema = written(&schema);
            let other = seen.entry(name).or_insert_with(|| schema.clone());
            assert_eq!(*other, schema, "two schemas have one name");
        }
    }
}
