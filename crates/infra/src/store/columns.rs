//! SQL types that each database spells its own way, and the Rust types of columns.

use core::fmt;

use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use diesel::query_builder::QueryId;
use diesel::sql_types::{Binary, SqlOrd, SqlType, Text};
use workforce_domain::id::Id;
use workforce_domain::json_text;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

/// A key: `uuid` on PostgreSQL, hyphenated `TEXT` on SQLite.
#[derive(Clone, Copy, Debug, QueryId, SqlType)]
#[cfg_attr(
    feature = "postgres",
    diesel(postgres_type(oid = 2950, array_oid = 2951))
)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Text")))]
pub struct Key;

/// An instant: `timestamptz` on PostgreSQL, `INTEGER` microseconds since 1970 on SQLite.
#[derive(Clone, Copy, Debug, QueryId, SqlType)]
#[cfg_attr(
    feature = "postgres",
    diesel(postgres_type(oid = 1184, array_oid = 1185))
)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Long")))]
pub struct Instant;

/// A JSON document: `jsonb` on PostgreSQL, `TEXT` on SQLite.
#[derive(Clone, Copy, Debug, QueryId, SqlType)]
#[cfg_attr(
    feature = "postgres",
    diesel(postgres_type(oid = 3802, array_oid = 3807))
)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Text")))]
pub struct Json;

impl SqlOrd for Key {}
impl SqlOrd for Instant {}

/// A column that holds an id of one kind.
#[derive(AsExpression, Clone, Copy, Eq, FromSqlRow, Hash, Ord, PartialEq, PartialOrd)]
#[diesel(sql_type = Key)]
pub struct IdColumn<I: Id>(pub I);

/// A column that holds an instant.
#[derive(AsExpression, Clone, Copy, Debug, Eq, FromSqlRow, Ord, PartialEq, PartialOrd)]
#[diesel(sql_type = Instant)]
pub struct InstantColumn(pub Timestamp);

/// A column that holds any value as a JSON document.
#[derive(AsExpression, Clone, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Json)]
pub struct JsonColumn<T>(pub T);

/// A column that holds a word of a closed vocabulary.
#[derive(AsExpression, Clone, Copy, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct StringEnumColumn<W: StringEnum>(pub W);

/// A column that holds a SHA-256 digest.
#[derive(AsExpression, Clone, Copy, Debug, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Binary)]
pub struct DigestColumn(pub [u8; 32]);

impl<I: Id> fmt::Debug for IdColumn<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", I::KIND, self.0)
    }
}

impl<W: StringEnum> fmt::Debug for StringEnumColumn<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// Shows nothing of the document: adapter configurations may hold credentials.
impl<T> fmt::Debug for JsonColumn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
}

impl<I: Id> From<I> for IdColumn<I> {
    fn from(id: I) -> Self {
        Self(id)
    }
}

impl From<Timestamp> for InstantColumn {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl<T> From<T> for JsonColumn<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<W: StringEnum> From<W> for StringEnumColumn<W> {
    fn from(word: W) -> Self {
        Self(word)
    }
}

impl From<[u8; 32]> for DigestColumn {
    fn from(digest: [u8; 32]) -> Self {
        Self(digest)
    }
}

/// What is wrong with a stored value.
#[derive(Debug, thiserror::Error)]
enum ColumnError {
    #[error("`{0}` is not a word of its vocabulary")]
    UnknownWord(String),
    #[error("a digest has 32 bytes, not {0}")]
    DigestLength(usize),
    #[cfg(feature = "postgres")]
    #[error("the form of a stored document is unknown")]
    DocumentForm,
    #[cfg(feature = "postgres")]
    #[error("the instant is out of range")]
    InstantRange,
}

fn word<W: StringEnum>(text: &str) -> Result<StringEnumColumn<W>, ColumnError> {
    W::parse(text)
        .map(StringEnumColumn)
        .ok_or_else(|| ColumnError::UnknownWord(text.to_owned()))
}

fn digest(bytes: &[u8]) -> Result<DigestColumn, ColumnError> {
    bytes
        .try_into()
        .map(DigestColumn)
        .or(Err(ColumnError::DigestLength(bytes.len())))
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use diesel::deserialize::{self, FromSql};
    use diesel::serialize::{self, IsNull, Output, ToSql};
    use diesel::sql_types::{BigInt, Binary, Text};
    use diesel::sqlite::{Sqlite, SqliteValue};
    use uuid::Uuid;

    use super::*;

    impl<I: Id> FromSql<Key, Sqlite> for IdColumn<I> {
        fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            Ok(Self(Uuid::try_parse(value.read_text())?.into()))
        }
    }

    impl<I: Id> ToSql<Key, Sqlite> for IdColumn<I> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            let uuid: Uuid = self.0.into();
            out.set_value(uuid.hyphenated().to_string());
            Ok(IsNull::No)
        }
    }

    impl FromSql<Instant, Sqlite> for InstantColumn {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            <i64 as FromSql<BigInt, Sqlite>>::from_sql(value)
                .map(|micros| Self(Timestamp::from_micros(micros)))
        }
    }

    impl ToSql<Instant, Sqlite> for InstantColumn {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.micros());
            Ok(IsNull::No)
        }
    }

    impl<T: serde::de::DeserializeOwned> FromSql<Json, Sqlite> for JsonColumn<T> {
        fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            Ok(Self(json_text::read_stored(value.read_text())?))
        }
    }

    impl<T: serde::Serialize> ToSql<Json, Sqlite> for JsonColumn<T> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(serde_json::to_string(&self.0)?);
            Ok(IsNull::No)
        }
    }

    impl<W: StringEnum> FromSql<Text, Sqlite> for StringEnumColumn<W> {
        fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            Ok(word(value.read_text())?)
        }
    }

    impl<W: StringEnum> ToSql<Text, Sqlite> for StringEnumColumn<W> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.as_str());
            Ok(IsNull::No)
        }
    }

    impl FromSql<Binary, Sqlite> for DigestColumn {
        fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            Ok(digest(value.read_blob())?)
        }
    }

    impl ToSql<Binary, Sqlite> for DigestColumn {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.as_slice());
            Ok(IsNull::No)
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::io::Write;

    use diesel::deserialize::{self, FromSql};
    use diesel::pg::data_types::PgTimestamp;
    use diesel::pg::{Pg, PgValue};
    use diesel::serialize::{self, IsNull, Output, ToSql};
    use diesel::sql_types::{Binary, Text, Timestamptz};
    use uuid::Uuid;

    use super::*;

    /// 2000-01-01, where PostgreSQL counts from, in microseconds since 1970.
    const EPOCH: i64 = 946_684_800_000_000;
    /// The earliest instant that the database has, 4714 BC, counted from there.
    const EARLIEST: i64 = -211_813_488_000_000_000;
    /// How the binary form of `jsonb` begins.
    const JSONB_VERSION: u8 = 1;

    impl<I: Id> FromSql<Key, Pg> for IdColumn<I> {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            Ok(Self(Uuid::from_slice(value.as_bytes())?.into()))
        }
    }

    impl<I: Id> ToSql<Key, Pg> for IdColumn<I> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let uuid: Uuid = self.0.into();
            out.write_all(uuid.as_bytes())?;
            Ok(IsNull::No)
        }
    }

    impl FromSql<Instant, Pg> for InstantColumn {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            let PgTimestamp(micros) = FromSql::<Timestamptz, Pg>::from_sql(value)?;
            let micros = micros.checked_add(EPOCH).ok_or(ColumnError::InstantRange)?;
            Ok(Self(Timestamp::from_micros(micros)))
        }
    }

    impl ToSql<Instant, Pg> for InstantColumn {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let micros = self
                .0
                .micros()
                .saturating_sub(EPOCH)
                // Only a place in a list can be earlier, and nothing is there.
                .max(EARLIEST);
            ToSql::<Timestamptz, Pg>::to_sql(&PgTimestamp(micros), &mut out.reborrow())
        }
    }

    impl<T: serde::de::DeserializeOwned> FromSql<Json, Pg> for JsonColumn<T> {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            match value.as_bytes().split_first() {
                Some((&JSONB_VERSION, text)) => {
                    Ok(Self(json_text::read_stored(str::from_utf8(text)?)?))
                }
                _ => Err(ColumnError::DocumentForm.into()),
            }
        }
    }

    impl<T: serde::Serialize> ToSql<Json, Pg> for JsonColumn<T> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            out.write_all(&[JSONB_VERSION])?;
            out.write_all(&serde_json::to_vec(&self.0)?)?;
            Ok(IsNull::No)
        }
    }

    impl<W: StringEnum> FromSql<Text, Pg> for StringEnumColumn<W> {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            Ok(word(core::str::from_utf8(value.as_bytes())?)?)
        }
    }

    impl<W: StringEnum> ToSql<Text, Pg> for StringEnumColumn<W> {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            out.write_all(self.0.as_str().as_bytes())?;
            Ok(IsNull::No)
        }
    }

    impl FromSql<Binary, Pg> for DigestColumn {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            Ok(digest(value.as_bytes())?)
        }
    }

    impl ToSql<Binary, Pg> for DigestColumn {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            out.write_all(&self.0)?;
            Ok(IsNull::No)
        }
    }
}
