//! Statements as text, prepared once per connection, with values of the types that the tables have.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{
    Array, BigInt, Binary, Bool, Integer, Nullable, SmallInt, SqlType, Text, Untyped,
};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

/// A key: `uuid` on PostgreSQL, hyphenated `TEXT` on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 2950, array_oid = 2951),
    sqlite_type(name = "Text")
)]
struct KeyType;

/// An instant: `timestamptz` on PostgreSQL, microseconds since 1970 on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 1184, array_oid = 1185),
    sqlite_type(name = "Long")
)]
struct InstantType;

/// A document: `jsonb` on PostgreSQL, `TEXT` on SQLite.
#[derive(Debug, Clone, Copy, QueryId, SqlType)]
#[diesel(
    postgres_type(oid = 3802, array_oid = 3807),
    sqlite_type(name = "Text")
)]
struct DocumentType;

/// The value of one `?`.
#[derive(Debug, Clone)]
pub(crate) enum Value<'v> {
    Key(Key),
    MaybeKey(Option<Key>),
    /// What a key is one of: the operator stands for the `?` too.
    Keys(Keys),
    Text(&'v str),
    Document(Document<'v>),
    Instant(Instant),
    MaybeInstant(Option<Instant>),
    BigInt(i64),
    Integer(i32),
    SmallInt(i16),
    Bool(bool),
    Bytes(&'v [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, diesel::expression::AsExpression)]
#[diesel(sql_type = KeyType)]
pub(crate) struct Key(pub(crate) Uuid);

/// Several keys: an array on PostgreSQL, a value each on SQLite. As the server does, the last one
/// is repeated until their number is a power of two.
#[derive(Debug, Clone)]
pub(crate) struct Keys(Vec<Key>);

impl FromIterator<Key> for Keys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let mut keys: Vec<Key> = keys.into_iter().collect();
        if let Some(last) = keys.last().copied() {
            keys.resize(keys.len().next_power_of_two(), last);
        }
        Self(keys)
    }
}

impl Keys {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn only(&self) -> Option<&Key> {
        match self.0.as_slice() {
            [key] => Some(key),
            _ => None,
        }
    }
}

/// How a database is asked whether a key is one of several.
trait Choice: diesel::backend::Backend + Sized {
    fn push<'b>(keys: &'b Keys, out: &mut AstPass<'_, 'b, Self>) -> QueryResult<()>;
}

impl Choice for Sqlite {
    fn push<'b>(keys: &'b Keys, out: &mut AstPass<'_, 'b, Self>) -> QueryResult<()> {
        for (before, key) in keys.0.iter().enumerate() {
            out.push_sql(if before == 0 { "IN (" } else { ", " });
            out.push_bind_param::<KeyType, _>(key)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

impl Choice for Pg {
    fn push<'b>(keys: &'b Keys, out: &mut AstPass<'_, 'b, Self>) -> QueryResult<()> {
        out.push_sql("= ANY(");
        out.push_bind_param::<Array<KeyType>, _>(&keys.0)?;
        out.push_sql(")");
        Ok(())
    }
}

/// Microseconds since 1970.
#[derive(Debug, Clone, Copy, diesel::expression::AsExpression)]
#[diesel(sql_type = InstantType)]
pub(crate) struct Instant(pub(crate) i64);

/// A JSON text.
#[derive(Debug, Clone, Copy, diesel::expression::AsExpression)]
#[diesel(sql_type = DocumentType)]
pub(crate) struct Document<'v>(pub(crate) &'v str);

impl Key {
    /// The key as a database wrote it: 16 bytes, or text.
    pub(crate) fn written(bytes: &[u8]) -> Result<Self> {
        let uuid = Uuid::from_slice(bytes).or_else(|_| Uuid::try_parse_ascii(bytes));
        Ok(Self(uuid.context("a key is none")?))
    }
}

impl ToSql<KeyType, Sqlite> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.hyphenated().to_string());
        Ok(IsNull::No)
    }
}

impl ToSql<KeyType, Pg> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<InstantType, Sqlite> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0);
        Ok(IsNull::No)
    }
}

/// PostgreSQL counts from the year 2000.
const POSTGRES_EPOCH: i64 = 946_684_800_000_000;

impl ToSql<InstantType, Pg> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&(self.0 - POSTGRES_EPOCH).to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<DocumentType, Sqlite> for Document<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0);
        Ok(IsNull::No)
    }
}

/// The one form of `jsonb` on the wire.
const JSONB_VERSION: u8 = 1;

impl ToSql<DocumentType, Pg> for Document<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&[JSONB_VERSION])?;
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

/// A statement with a `?` for each of `values`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<'v> {
    pub(super) sql: &'v str,
    values: &'v [Value<'v>],
    locks: bool,
}

impl<'v> Statement<'v> {
    pub(crate) fn new(sql: &'v str, values: &'v [Value<'v>]) -> Self {
        Self {
            sql,
            values,
            locks: false,
        }
    }

    /// A query that locks its rows where the database has locks on rows.
    pub(crate) fn locking(sql: &'v str, values: &'v [Value<'v>]) -> Self {
        Self {
            locks: true,
            ..Self::new(sql, values)
        }
    }
}

/// Not known by its type, so prepared statements are found by their text.
impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

macro_rules! walk {
    ($database:ty, $lock:literal) => {
        impl QueryFragment<$database> for Statement<'_> {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, $database>) -> QueryResult<()> {
                let mut values = self.values.iter();
                for (index, text) in self.sql.split('?').enumerate() {
                    if index > 0 {
                        let Some(value) = values.next() else {
                            let message = format!("too few values for `{}`", self.sql);
                            return Err(diesel::result::Error::QueryBuilderError(message.into()));
                        };
                        match value {
                            Value::Key(it) => out.push_bind_param::<KeyType, _>(it),
                            Value::MaybeKey(it) => out.push_bind_param::<Nullable<KeyType>, _>(it),
                            Value::Keys(it) => match it.only() {
                                Some(key) => {
                                    out.push_sql("= ");
                                    out.push_bind_param::<KeyType, _>(key)
                                }
                                None => <$database as Choice>::push(it, &mut out),
                            },
                            Value::Text(it) => out.push_bind_param::<Text, _>(*it),
                            Value::Document(it) => out.push_bind_param::<DocumentType, _>(it),
                            Value::Instant(it) => out.push_bind_param::<InstantType, _>(it),
                            Value::MaybeInstant(it) => {
                                out.push_bind_param::<Nullable<InstantType>, _>(it)
                            }
                            Value::BigInt(it) => out.push_bind_param::<BigInt, _>(it),
                            Value::Integer(it) => out.push_bind_param::<Integer, _>(it),
                            Value::SmallInt(it) => out.push_bind_param::<SmallInt, _>(it),
                            Value::Bool(it) => out.push_bind_param::<Bool, _>(it),
                            Value::Bytes(it) => out.push_bind_param::<Binary, _>(*it),
                        }?;
                    }
                    out.push_sql(text);
                }
                if self.locks {
                    out.push_sql($lock);
                }
                Ok(())
            }
        }
    };
}

walk!(Sqlite, "");
walk!(Pg, " FOR NO KEY UPDATE");

impl<C> RunQueryDsl<C> for Statement<'_> {}

/// A [`Statement`] that answers one value of one type.
macro_rules! answering {
    ($name:ident, $sql_type:ty) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name<'v>(pub(super) Statement<'v>);

        impl QueryId for $name<'_> {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl Query for $name<'_> {
            type SqlType = $sql_type;
        }

        impl<DB: diesel::backend::Backend> QueryFragment<DB> for $name<'_>
        where
            for<'v> Statement<'v>: QueryFragment<DB>,
        {
            fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                self.0.walk_ast(out)
            }
        }

        impl<C> RunQueryDsl<C> for $name<'_> {}
    };
}

answering!(AnsweringNumber, BigInt);
answering!(AnsweringBytes, Binary);
answering!(AnsweringRows, Untyped);
