//! The OpenAPI 3.1 document, made from the registered routes.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathsBuilder,
    Ref, RefOr, Required, Response, ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};
use workforce_app::Code;
use workforce_domain::string_enum::StringEnum;

use crate::idempotency::{IDEMPOTENCY_KEY, REPLAYED};
use crate::problem::{self, ProblemBody};
use crate::refusals;
use crate::registry::{Access, Endpoint, Endpoints};
use crate::routes;

mod inline;
mod path_parameters;

const BEARER: &str = "bearer";

/// The OpenAPI document of every route there is.
pub fn document() -> OpenApi {
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
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("workforce")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Manages AI agents as employees of companies. Every refusal is a problem \
                     document of RFC 9457.",
                ))
                .license(Some(LicenseBuilder::new().name("Apache-2.0").build()))
                .build(),
        )
        .paths(paths)
        .components(Some(components(&endpoints)))
        .build()
}

fn components(endpoints: &Endpoints) -> Components {
    let mut components = Components::new();
    let mut schemas = endpoints.schemas();
    ProblemBody::schemas(&mut schemas);
    components.schemas.extend(inline::fields(schemas));
    components
        .schemas
        .insert(ProblemBody::name().into_owned(), ProblemBody::schema());
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
        operation.security = Some(vec![
            SecurityRequirement::new(BEARER, Vec::<String>::new()),
            SecurityRequirement::default(),
        ]);
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
    let mut by_status: BTreeMap<String, Vec<Code>> = BTreeMap::new();
    for code in refusals::codes(endpoint) {
        let status = problem::entry(code).status.as_str().to_owned();
        by_status.entry(status).or_default().push(code);
    }
    for (status, codes) in by_status {
        let problem = RefOr::T(problem_response(&codes));
        operation.responses.responses.insert(status, problem);
    }
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

/// A problem answer, which lists the codes that come with its status.
fn problem_response(codes: &[Code]) -> Response {
    let codes: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let schema = Ref::from_schema_name(ProblemBody::name());
    ResponseBuilder::new()
        .description(codes.join(", "))
        .content(
            "application/problem+json",
            ContentBuilder::new().schema(Some(schema)).build(),
        )
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::routes;

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
