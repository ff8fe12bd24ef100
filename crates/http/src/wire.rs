//! Values that JSON spells in more ways than one, or more exactly than a float
//! can (docs/access.md#requests).

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use workforce_app::Code;
use workforce_domain::attachment::AttachmentLimit;
use workforce_domain::money::{Budget, Cents};

use crate::problem::Problem;

/// How many: a whole number of at least zero, which may be spelt `5`, `5.0` or
/// `5e0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Count(pub(crate) i64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Count, E> {
                if value < 0 {
                    return Err(E::custom("must not be negative"));
                }
                Ok(Count(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Count, E> {
                i64::try_from(value)
                    .map(Count)
                    .map_err(|_too_large| E::custom("is too large"))
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Count, E> {
                /// Beyond this a float does not tell neighbours apart.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                if value.fract() != 0.0 {
                    return Err(E::custom("must be a whole number"));
                }
                if value < 0.0 {
                    return Err(E::custom("must not be negative"));
                }
                if value > EXACT {
                    return Err(E::custom("is too large"));
                }
                #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                let whole = value as i64;
                Ok(Count(whole))
            }
        }

        deserializer.deserialize_any(CountVisitor)
    }
}

impl PartialSchema for Count {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(format))
            .minimum(Some(0_i64))
            .into()
    }
}

impl ToSchema for Count {}

/// A limit in bytes, a whole number spelt as a [`Count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) AttachmentLimit);

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.bytes())
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Count(bytes) = Count::deserialize(deserializer)?;
        let max = AttachmentLimit::MAX.bytes();
        AttachmentLimit::new(bytes)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format_args!("must be between 1 and {max}")))
    }
}

impl PartialSchema for Size {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(1_i64))
            .maximum(Some(AttachmentLimit::MAX.bytes()))
            .into()
    }
}

impl ToSchema for Size {}

/// An amount of money in cents with up to six decimals, read from and written
/// to the digits themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount(pub(crate) Cents);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Box::<RawValue>::deserialize(deserializer)?;
        Cents::parse_json(digits.get())
            .map(Self)
            .map_err(D::Error::custom)
    }
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .minimum(Some(0.0))
            .description(Some("Cents, exact to a millionth."))
            .into()
    }
}

impl ToSchema for Amount {}

/// A monthly limit in whole cents; zero for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Budget);

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.cents())
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Box::<RawValue>::deserialize(deserializer)?;
        Budget::parse_json(digits.get())
            .map(Self)
            .map_err(D::Error::custom)
    }
}

impl PartialSchema for Limit {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(0_i64))
            .maximum(Some(Budget::MAX_CENTS))
            .description(Some(
                "Count cents per calendar month in UTC; 0 for no limit.",
            ))
            .into()
    }
}

impl ToSchema for Limit {}

/// What only an object is read as; a derived reader takes the values of an array
/// for the fields in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// Whether a field is there at all, whatever it holds: for fields that nobody
/// may set. Needs `#[serde(default)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldPresence(pub(crate) bool);

impl FieldPresence {
    /// Refuses a body that has the field.
    ///
    /// # Errors
    /// `field_not_writable`
    pub(crate) fn refuse(self, field: &str) -> Result<(), Problem> {
        if self.0 {
            let message = "cannot be set";
            return Err(Problem::at(
                Code::FieldNotWritable,
                &format!("/{field}"),
                message,
            ));
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for FieldPresence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_anything| Self(true))
    }
}

/// A field that may be left out but not be `null`. Needs `#[serde(default)]`.
///
/// # Errors
/// When the value is not a `T`.
pub(crate) fn non_null<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::parse;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Body {
        tokens: Option<Count>,
        cost: Amount,
        budget: Limit,
        status: FieldPresence,
        #[serde(deserialize_with = "non_null")]
        flag: Option<bool>,
    }

    fn read(text: &str) -> Result<Body, String> {
        parse(text.as_bytes()).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn whole_numbers_may_be_spelt_as_floats() {
        for (text, value) in [("5", 5), ("5.0", 5), ("5e2", 500), ("-0.0", 0)] {
            let body = read(&format!(r#"{{"tokens": {text}}}"#)).unwrap();
            assert_eq!(body.tokens, Some(Count(value)), "{text}");
        }
        for text in [
            "5.5",
            "1e300",
            "\"5\"",
            "18446744073709551615",
            "-1",
            "-1.0",
        ] {
            assert!(
                read(&format!(r#"{{"tokens": {text}}}"#))
                    .unwrap_err()
                    .contains("/tokens")
            );
        }
    }

    #[test]
    fn money_is_exact_both_ways() {
        for text in ["0.3", "0.000001", "9007199254739.000001", "300", "0.1"] {
            let body = read(&format!(r#"{{"cost": {text}}}"#)).unwrap();
            assert_eq!(serde_json::to_string(&body.cost).unwrap(), text);
        }
        for text in ["-1", "0.0000001", "\"3\"", "true"] {
            assert!(
                read(&format!(r#"{{"cost": {text}}}"#))
                    .unwrap_err()
                    .contains("/cost"),
                "{text}"
            );
        }
    }

    #[test]
    fn budgets_are_whole_cents() {
        assert_eq!(read(r#"{"budget": 5.0}"#).unwrap().budget.0.cents(), 5);
        assert!(read(r#"{"budget": 5.5}"#).unwrap_err().contains("/budget"));
        assert!(read(r#"{"budget": -1}"#).unwrap_err().contains("/budget"));
    }

    #[test]
    fn presence_and_null_are_told_apart() {
        assert!(!read("{}").unwrap().status.0);
        assert!(read(r#"{"status": null}"#).unwrap().status.0);
        assert!(read(r#"{"status": {"a": [1]}}"#).unwrap().status.0);
        assert_eq!(read(r#"{"flag": true}"#).unwrap().flag, Some(true));
        assert!(read(r#"{"flag": null}"#).unwrap_err().contains("/flag"));
    }
}
