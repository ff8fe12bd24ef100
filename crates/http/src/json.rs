//! Writes answers as JSON.
//!
//! `serde_json` looks for what must be escaped byte by byte, in names of fields as well, which is
//! the greatest part of writing a list. Here up to sixteen bytes are looked at together, and a text
//! without such a byte is copied as it is. Whatever is neither that nor structure is left to
//! `serde_json`, and the result is the same.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result, Value};

/// By this name of a struct `serde_json` knows a text that is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// Writes `value` at the end of `out`.
///
/// # Errors
/// When a value says that it cannot be written, or a key of a map is not a text.
pub(crate) fn write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<()> {
    value.serialize(Writer(out))
}

/// Writes one value.
struct Writer<'a>(&'a mut Vec<u8>);

/// Writes what stands between brackets, one after the other.
struct Items<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    end: &'static str,
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn is_plain(text: &[u8]) -> bool {
    in_chunks::<16>(text)
        .or_else(|| in_chunks::<8>(text))
        .or_else(|| in_chunks::<4>(text))
        .unwrap_or_else(|| !text.iter().copied().any(is_escaped))
}

/// Whether a text that is long enough for a chunk is plain. The last chunk may overlap the one
/// before it, so that no byte is looked at alone.
fn in_chunks<const N: usize>(text: &[u8]) -> Option<bool> {
    let is_any_escaped = |chunk: &[u8; N]| {
        chunk
            .iter()
            .fold(false, |any, &byte| any | is_escaped(byte))
    };
    let last = text.last_chunk()?;
    let (chunks, _rest) = text.as_chunks();
    Some(!chunks.iter().any(is_any_escaped) && !is_any_escaped(last))
}

impl<'a> Writer<'a> {
    fn text(self, text: &str) -> Result<()> {
        if !is_plain(text.as_bytes()) {
            return serde_json::to_writer(self.0, text);
        }
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
        Ok(())
    }

    fn plain(self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(self.0, value)
    }

    fn items(self, begin: &str, end: &'static str) -> Items<'a> {
        self.0.extend_from_slice(begin.as_bytes());
        Items {
            out: self.0,
            is_first: true,
            end,
        }
    }

    /// Begins a variant that has something within it.
    fn variant(self, name: &str, begin: &str, end: &'static str) -> Result<Items<'a>> {
        self.0.push(b'{');
        Writer(&mut *self.0).text(name)?;
        self.0.push(b':');
        Ok(self.items(begin, end))
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty),+) => {$(
        fn $method(self, value: $type) -> Result<()> {
            self.plain(&value)
        }
    )+};
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    plain!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char
    );

    fn serialize_str(self, text: &str) -> Result<()> {
        self.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        self.plain(&bytes)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let items = self.variant(variant, "", "}")?;
        value.serialize(Writer(&mut *items.out))?;
        items.end();
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>> {
        self.variant(variant, "[", "]}")
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("{", "}"))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Items<'a>> {
        Ok(match name {
            RAW => self.items("", ""),
            _ => self.items("{", "}"),
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>> {
        self.variant(variant, "{", "}}")
    }
}

impl Items<'_> {
    fn comma(&mut self) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.comma();
        write(self.out, value)
    }

    fn key(&mut self, key: &(impl Serialize + ?Sized)) -> Result<()> {
        self.comma();
        let begin = self.out.len();
        write(self.out, key)?;
        match self.out.get(begin) {
            Some(b'"') => {}
            // As `serde_json` does, for numbers and the two truths.
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.out.insert(begin, b'"');
                self.out.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        self.out.push(b':');
        Ok(())
    }

    fn field(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        if name != RAW {
            self.key(name)?;
            return write(self.out, value);
        }
        if let Value::String(json) = serde_json::to_value(value)? {
            self.out.extend_from_slice(json.as_bytes());
        }
        Ok(())
    }

    fn end(self) {
        self.out.extend_from_slice(self.end.as_bytes());
    }
}

macro_rules! items {
    ($($trait:ident $method:ident),+) => {$(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<()> {
                self.end();
                Ok(())
            }
        }
    )+};
}

items!(
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
);

macro_rules! fields {
    ($($trait:ident),+) => {$(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.field(name, value)
            }

            fn end(self) -> Result<()> {
                self.end();
                Ok(())
            }
        }
    )+};
}

fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        write(self.out, value)
    }

    fn end(self) -> Result<()> {
        self.end();
        Ok(())
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
