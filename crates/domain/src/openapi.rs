//! The schemas of values, with the feature `openapi`: what OpenAPI says of an id, a text or an
//! amount stands here and in the macros that declare them, and nowhere else.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;
#[doc(hidden)]
pub use utoipa::__dev::ComposeSchema;
#[doc(hidden)]
pub use utoipa::ToSchema;
use utoipa::openapi::Ref;
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat,
    SchemaType, Type,
};
#[doc(hidden)]
pub use utoipa::openapi::{RefOr, Schema};

use crate::Document;
use crate::attachment::AttachmentLimit;
use crate::board::BoardMember;
use crate::change::{Change, Replace};
use crate::instructions::BundlePath;
use crate::issue::{IssueRef, LineNumber};
use crate::money::{Budget, Cents};
use crate::number::Count;
use crate::object::ObjectOnly;
use crate::project::TargetDate;
use crate::secret::{ExternalRef, SecretValue};
use crate::session::TaskKey;
use crate::string_enum::StringEnum;
use crate::time::{Day, Timestamp};

/// Gives types a schema under a name, by default their own.
macro_rules! schema {
    ($($type:ty as $name:literal = $schema:expr;)+) => {$(
        impl $crate::openapi::ComposeSchema for $type {
            fn compose(
                _generics: alloc::vec::Vec<$crate::openapi::RefOr<$crate::openapi::Schema>>,
            ) -> $crate::openapi::RefOr<$crate::openapi::Schema> {
                $schema
            }
        }

        impl utoipa::ToSchema for $type {
            fn name() -> alloc::borrow::Cow<'static, str> {
                alloc::borrow::Cow::Borrowed($name)
            }
        }
    )+};
}
pub(crate) use schema;

schema! {
    Timestamp as "Timestamp" = formatted(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    Day as "Day" = formatted(SchemaFormat::KnownFormat(KnownFormat::Date));
    TargetDate as "TargetDate" = AnyOfBuilder::new()
        .item(formatted(SchemaFormat::KnownFormat(KnownFormat::Date)))
        .item(formatted(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .into();
    Document as "JsonObject" = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .into();
    IssueRef as "IssueRef" = text().into();
    BoardMember as "BoardMember" = text().into();
    BundlePath as "BundlePath" = text().into();
    TaskKey as "TaskKey" = text().into();
    SecretValue as "SecretValue" = bounded(SecretValue::MAX).into();
    ExternalRef as "ExternalRef" = bounded(ExternalRef::MAX).into();
    Cents as "Cents" = ObjectBuilder::new()
        .schema_type(Type::Number)
        .minimum(Some(0.0))
        .description(Some("Cents, exact to a millionth."))
        .into();
    Budget as "Budget" = whole(0, Budget::MAX_CENTS)
        .description(Some("Whole cents for each calendar month in UTC; 0 for no limit."))
        .into();
    Count as "Count" = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(0_i64))
        .into();
    LineNumber as "LineNumber" = whole(1, LineNumber::MAX).into();
    AttachmentLimit as "AttachmentLimit" = whole(1, AttachmentLimit::MAX.bytes()).into();
}

/// An id.
pub(crate) fn id() -> RefOr<Schema> {
    formatted(SchemaFormat::Custom("uuid".into()))
}

/// One of the spellings of a closed vocabulary.
pub fn string_enum<E: StringEnum>() -> RefOr<Schema> {
    let spellings = E::ALL.iter().map(|value| Value::from(value.as_str()));
    text().enum_values(Some(spellings)).into()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn bounded(max: usize) -> ObjectBuilder {
    text().min_length(Some(1)).max_length(Some(max))
}

fn formatted(format: SchemaFormat) -> RefOr<Schema> {
    text().format(Some(format)).into()
}

fn whole(min: i64, max: i64) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(min))
        .maximum(Some(max))
}

/// The schemas of texts, by the rule that admits them.
pub(crate) mod texts {
    use super::{RefOr, Schema, bounded, text};

    /// White space around it does not count, so the schema cannot say more.
    pub(crate) fn line(max: usize) -> RefOr<Schema> {
        bounded(max).pattern(Some(r"\S")).into()
    }

    pub(crate) use self::{line as place, line as file_name, line as media_type, line as body};

    /// Bounded by its bytes; a schema counts characters, so that this is the outer bound.
    pub(crate) fn prose(max: usize) -> RefOr<Schema> {
        text().max_length(Some(max)).into()
    }

    pub(crate) fn slug(max: usize) -> RefOr<Schema> {
        text()
            .max_length(Some(max))
            .pattern(Some("^[a-z][a-z0-9_-]*$"))
            .into()
    }

    pub(crate) fn repository_prefix(max: usize) -> RefOr<Schema> {
        text()
            .max_length(Some(max))
            .pattern(Some(
                r"^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._~+-]+)*$",
            ))
            .into()
    }

    pub(crate) fn file_path(max: usize) -> RefOr<Schema> {
        bounded(max).into()
    }

    pub(crate) fn commit_hash(_max: usize) -> RefOr<Schema> {
        text()
            .pattern(Some("^([0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$"))
            .into()
    }

    pub(crate) fn color(_max: usize) -> RefOr<Schema> {
        text().pattern(Some("^#[0-9A-Fa-f]{6}$")).into()
    }
}

/// Gives a type around a value a schema and the beginning of its name.
macro_rules! wrapper {
    ($($type:ident = $schema:expr;)+) => {
        /// What the names of the schemas of values in a wrapper begin with. A wrapper only tells
        /// how a field is read: its schema is written into the field, and is none of the document's.
        pub const WRAPPERS: &[&str] = &[$(stringify!($type)),+];

        $(
            impl<T: ToSchema> ComposeSchema for $type<T> {
                fn compose(_generics: Vec<RefOr<Schema>>) -> RefOr<Schema> {
                    $schema
                }
            }

            impl<T: ToSchema> ToSchema for $type<T> {
                fn name() -> Cow<'static, str> {
                    Cow::Borrowed(stringify!($type))
                }

                fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                    add::<T>(schemas);
                }
            }
        )+
    };
}

wrapper! {
    Change = OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(SchemaType::new(Type::Null)))
        .item(referred::<T>())
        .into();
    ObjectOnly = referred::<T>();
    Replace = referred::<T>();
}

/// The schema of a value within another: by its name where it has one of its own.
fn referred<T: ToSchema>() -> RefOr<Schema> {
    let schema = T::schema();
    if is_named(&schema) {
        Ref::from_schema_name(T::name()).into()
    } else {
        schema
    }
}

fn add<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    let schema = T::schema();
    if is_named(&schema) {
        schemas.push((T::name().into_owned(), schema));
    }
    T::schemas(schemas);
}

fn is_named(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::T(Schema::Object(object)) => {
            object.enum_values.is_some() || object.schema_type == SchemaType::Type(Type::Object)
        }
        RefOr::T(Schema::AllOf(_) | Schema::OneOf(_) | Schema::AnyOf(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use utoipa::PartialSchema;

    use crate::issue::Priority;
    use crate::text::Title;

    #[test]
    fn a_vocabulary_lists_its_words() {
        assert_eq!(
            serde_json::to_value(Priority::schema()).unwrap(),
            json!({ "type": "string", "enum": ["critical", "high", "medium", "low"] })
        );
    }

    #[test]
    fn a_text_tells_its_bounds() {
        assert_eq!(
            serde_json::to_value(Title::schema()).unwrap(),
            json!({ "type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\S" })
        );
    }
}
