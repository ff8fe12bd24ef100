//! Schemas of what is no value of the domain.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// One event of a stream: what stands in its lines, of which there may be others.
pub(crate) enum ServerSentEvent {}

impl PartialSchema for ServerSentEvent {
    fn schema() -> RefOr<Schema> {
        let line = || ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("One event of the stream, by the names of its lines."))
            .property("id", line())
            .property("event", line())
            .property("data", line().description(Some("A JSON text.")))
            .property("retry", ObjectBuilder::new())
            .into()
    }
}

impl ToSchema for ServerSentEvent {}
