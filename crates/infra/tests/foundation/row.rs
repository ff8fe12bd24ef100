//! A row as a test writes it, past the store.

use crate::raw::Raw;

/// A value as each database spells it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Null,
    /// The key of a thing: of this company, with this number.
    Key(u8, u8),
    Text(&'static str),
    Number(i64),
    Flag(bool),
    /// Some instant.
    Instant,
    /// A digest whose bytes are all the same.
    Digest(u8),
    /// Bytes, so many.
    Bytes(usize),
    Json(&'static str),
}

use Value::{Bytes, Digest, Flag, Instant, Json, Key, Null, Number, Text};

impl Value {
    fn sql(self, postgres: bool) -> String {
        let bytes = |byte: u8, length: usize| {
            let hex = format!("{byte:02x}").repeat(length);
            if postgres {
                format!("'\\x{hex}'")
            } else {
                format!("x'{hex}'")
            }
        };
        match self {
            Null => "NULL".into(),
            Key(company, thing) => format!("'{}'", key(company, thing)),
            Text(text) | Json(text) => format!("'{text}'"),
            Number(number) => number.to_string(),
            Flag(flag) if postgres => flag.to_string(),
            Flag(flag) => i32::from(flag).to_string(),
            Instant if postgres => "'2026-01-01T00:00:00Z'".into(),
            Instant => "1767225600000000".into(),
            Digest(byte) => bytes(byte, 32),
            Bytes(length) => bytes(0, length),
        }
    }
}

/// The key of a thing.
pub(crate) fn key(company: u8, thing: u8) -> String {
    format!("00000000-0000-7000-8000-0000000000{company:x}{thing:x}")
}

/// A row to insert.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    values: Vec<(&'static str, Value)>,
}

impl Row {
    /// The row with another value in a column.
    #[must_use]
    pub(crate) fn with(mut self, column: &'static str, value: Value) -> Self {
        let place = self.values.iter_mut().find(|(name, _)| *name == column);
        place
            .unwrap_or_else(|| panic!("{} has no {column}", self.table))
            .1 = value;
        self
    }

    /// The statement that inserts it.
    pub(crate) fn sql(&self, postgres: bool) -> String {
        let columns: Vec<_> = self
            .values
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let values: Vec<_> = self
            .values
            .iter()
            .map(|(_, value)| value.sql(postgres))
            .collect();
        format!(
            "INSERT INTO {} ({}) VALUES ({})",
            self.table,
            columns.join(", "),
            values.join(", ")
        )
    }

    pub(crate) fn try_insert(&self, raw: &mut Raw) -> Result<usize, String> {
        let sql = self.sql(raw.is_postgres());
        raw.try_run(&sql)
    }

    #[track_caller]
    pub(crate) fn insert(&self, raw: &mut Raw) {
        self.try_insert(raw)
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
    }
}

impl Row {
    /// A row of `table` with these values.
    pub(crate) fn new(table: &'static str, values: Vec<(&'static str, Value)>) -> Self {
        let values = values
            .into_iter()
            .map(|(name, value)| (column(name), value))
            .collect();
        Self { table, values }
    }
}

/// `type` is a keyword in Rust.
fn column(name: &'static str) -> &'static str {
    if name == "type_" { "type" } else { name }
}
