//! The OpenAPI 3.1 document, made from the registered routes.

mod details;
mod files;
mod headers;
mod inline;
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

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContactBuilder, InfoBuilder, LicenseBuilder, OpenApiBuilder, PathsBuilder, RefOr,
    Required, Server,
};
use workforce_domain::string_enum::StringEnum;

use crate::idempotency::{IDEMPOTENCY_KEY, REPLAYED};
use crate::refusals;
use crate::registry::{Access, Endpoint, Endpoints};
use crate::routes;

pub use print::printed;
use walk::each_operation;

const BEARER: &str = "bearer";

/// The OpenAPI document of every route there is.
pub fn document() -> Value {
    let endpoints = routes::all();
    let mut paths = PathsBuilder::new().build();
    for endpoint in endpoints.endpoints() {
        let item = PathItem::new(endpoint.method.clone(), described(endpoint));
        paths
            .paths
            .entry(endpoint.path.clone())
            .and_modify(|present| present.merge_operations(item.clone()))
            .or_insert(item);
    }
    let described = OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("workforce")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Manages AI agents as employees of companies. Every refusal is a problem \
                     document of RFC 9457.",
                ))
                .contact(Some(
                    ContactBuilder::new()
                        .name(Some("The operator of this installation"))
                        .build(),
                ))
                .license(Some(
                    LicenseBuilder::new()
                        .name("Apache-2.0")
                        .identifier(Some("Apache-2.0"))
                        .build(),
                ))
                .build(),
        )
        // The installation that the document comes from.
        .servers(Some([Server::new("/")]))
        .security(Some([
            SecurityRequirement::new(BEARER, Vec::<String>::new()),
            SecurityRequirement::default(),
        ]))
        .paths(paths)
        .components(Some(components(&endpoints)))
        .build();
    // What is made of names, numbers and texts alone cannot fail to be written.
    let mut document = serde_json::to_value(described).unwrap_or_default();
    finish(&mut document, &endpoints);
    document
}

/// Turns what the routes say of themselves into a document that generators of clients like.
fn finish(document: &mut Value, endpoints: &Endpoints) {
    let codes: HashMap<_, _> = endpoints
        .endpoints()
        .iter()
        .map(|endpoint| {
            (
                endpoint.operation.operation_id.clone(),
                refusals::codes(endpoint),
            )
        })
        .collect();
    problems::describe(document);
    each_operation(document, &mut |_path, _method, operation| {
        let id = operation.get("operationId").and_then(Value::as_str);
        let codes = codes.get(&id.map(str::to_owned)).cloned();
        problems::answer(operation, codes.unwrap_or_default());
    });
    files::describe(document);
    schemas::shape(document);
    required::require(document);
    tags::describe(document);
    summaries::shorten(document);
    headers::describe(document);
    sharing::share_parameters(document);
    sharing::share_answers(document);
}

fn components(endpoints: &Endpoints) -> Components {
    let mut components = Components::new();
    components
        .schemas
        .extend(inline::fields(endpoints.schemas()));
    components.add_security_scheme(
        BEARER,
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some(
                    "An agent's key (`wfk_...`), the token of a run (`wfr_...`) or of the board \
                     (`wfb_...`). A local installation takes a request without any for the board's.",
                ))
                .build(),
        ),
    );
    components
}

/// An operation with what every operation of its kind has.
fn described(endpoint: &Endpoint) -> Operation {
    let mut operation = endpoint.operation.clone();
    path_parameters::add(&mut operation, &endpoint.path);
    let rule = format!("Who may call: {}", endpoint.access.meaning());
    operation.description = Some(match operation.description.filter(|it| !it.is_empty()) {
        Some(description) => format!("{description}\n\n{rule}"),
        None => rule,
    });
    let mut extensions = Extensions::default();
    extensions.insert("x-access".to_owned(), Value::from(endpoint.access.as_str()));
    operation
        .extensions
        .get_or_insert_default()
        .merge(extensions);
    if endpoint.access == Access::Public {
        operation.security = Some(Vec::new());
    } else {
        header(
            &mut operation,
            "X-Service-Run-Id",
            "The run on whose behalf an agent asks with its key.",
            36,
        );
    }
    if endpoint.method == HttpMethod::Post {
        header(
            &mut operation,
            IDEMPOTENCY_KEY,
            "A repetition of the request under the same key within 24 hours gets the first answer.",
            200,
        );
        mark_repeatable(&mut operation);
    }
    not_null(&mut operation);
    operation
}

/// A body that may be left out may still not be `null`.
fn not_null(operation: &mut Operation) {
    let Some(RefOr::T(body)) = &mut operation.request_body else {
        return;
    };
    for content in body.content.values_mut() {
        let RefOr::T(content) = content else { continue };
        if let Some(RefOr::T(Schema::OneOf(choice))) = &mut content.schema {
            choice.items.retain(|item| !is_null(item));
            if choice.items.len() == 1 {
                content.schema = choice.items.pop();
            }
        }
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object))
        if object.schema_type == SchemaType::Type(Type::Null))
}

fn header(operation: &mut Operation, name: &str, description: &str, max: usize) {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(max))
        .build();
    let parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build();
    operation
        .parameters
        .get_or_insert_default()
        .push(RefOr::T(parameter));
}

fn mark_repeatable(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            let header = HeaderBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(Type::String).build()))
                .description(Some(
                    "`true` when this is the answer to an earlier request.",
                ))
                .build();
            response.headers.insert(REPLAYED.to_owned(), header.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_schemas_have_one_name() {
        let endpoints = routes::all();
        let mut seen: HashMap<String, Value> = HashMap::new();
        for (name, schema) in endpoints.schemas() {
            let schema = serde_json::to_value(schema).unwrap();
            let other = seen.entry(name).or_insert_with(|| schema.clone());
            assert_eq!(*other, schema, "two schemas have one name");
        }
    }
}
