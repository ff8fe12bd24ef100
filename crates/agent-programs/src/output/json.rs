//! Fields that are read from whatever stands there.
//!
//! A program may change the type of a field that nobody needs, and must not make
//! a whole line unreadable by it: a value of another type is no value. Values are
//! skipped without recursion, so neither depth nor size of the rest matters.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::usage::MicroCents;

/// A text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Option<String>);

/// A count from zero. A figure below it, with a fraction, or so large that no
/// program can have counted it, is none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

/// A number of seconds since 1970.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnixSeconds(pub(crate) Option<i64>);

/// True or false.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) Option<bool>);

/// An amount of dollars.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dollars(pub(crate) Option<MicroCents>);

/// An object with fields that are known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

/// An object whose keys are names.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Named<T>(pub(crate) Option<BTreeMap<String, T>>);

/// A list.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

/// The amount of dollars that a value of any type tells.
pub(crate) fn amount(value: &serde_json::Value) -> Option<MicroCents> {
    Dollars::deserialize(value).ok()?.0
}

/// A million million tokens: nothing has used as many.
const LARGEST_COUNT: u64 = 1_000_000_000_000;

/// What a value of one JSON type becomes; any other type becomes the default.
trait Reading: Default {
    fn text(_text: &str) -> Self {
        Self::default()
    }
    fn flag(_flag: bool) -> Self {
        Self::default()
    }
    fn whole(_number: u64) -> Self {
        Self::default()
    }
    fn fraction(_number: f64) -> Self {
        Self::default()
    }
    fn map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        skip_map(map)
    }
    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        skip_list(list)
    }
}

fn skip_map<'de, T: Default, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(T::default())
}

fn skip_list<'de, T: Default, A: SeqAccess<'de>>(mut list: A) -> Result<T, A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(T::default())
}

impl Reading for Text {
    fn text(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }
}

impl Reading for Count {
    fn whole(number: u64) -> Self {
        Self((number <= LARGEST_COUNT).then_some(number))
    }
}

impl Reading for UnixSeconds {
    fn whole(number: u64) -> Self {
        Self(i64::try_from(number).ok())
    }
}

impl Reading for Flag {
    fn flag(flag: bool) -> Self {
        Self(Some(flag))
    }
}

impl Reading for Dollars {
    fn whole(number: u64) -> Self {
        Self(MicroCents::from_dollars(&number.to_string()))
    }

    /// The shortest decimal text of a float is the one that programs print, for
    /// they hold a float themselves. It is exact, whatever the float's own value.
    fn fraction(number: f64) -> Self {
        Self(MicroCents::from_dollars(&number.to_string()))
    }
}

impl<T: DeserializeOwned> Reading for Object<T>
where
    Self: Default,
{
    fn map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|object| Self(Some(object)))
    }
}

impl<T: DeserializeOwned> Reading for Named<T>
where
    Self: Default,
{
    fn map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(|names| Self(Some(names)))
    }
}

impl<T: DeserializeOwned> Reading for List<T>
where
    Self: Default,
{
    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Self)
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Reading> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::whole(number))
    }

    fn visit_i64<E>(self, _number: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::fraction(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
}

macro_rules! read_from_any_type {
    ($($type:ty),+) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Reader(PhantomData))
            }
        }
    )+};
}

read_from_any_type!(Text, Count, UnixSeconds, Flag, Dollars);

macro_rules! read_parts_from_any_type {
    ($($type:ident),+) => {$(
        impl<'de, T: DeserializeOwned> Deserialize<'de> for $type<T>
        where
            Self: Default,
        {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Reader(PhantomData))
            }
        }
    )+};
}

read_parts_from_any_type!(Object, Named, List);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read<T: DeserializeOwned>(json: &str) -> T {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_count_is_a_believable_whole_number() {
        assert_eq!(read::<Count>("65").0, Some(65));
        for odd in [
            "-1",
            "1.5",
            "1e300",
            "18446744073709551616",
            "1000000000001",
            "\"65\"",
            "null",
            "true",
            "[1,[2]]",
            "{\"a\":{\"b\":1}}",
        ] {
            assert_eq!(read::<Count>(odd).0, None, "{odd}");
        }
    }

    #[test]
    fn dollars_are_exact_to_the_micro_cent() {
        for (dollars, expected) in [
            ("0", Some(0)),
            ("1", Some(100_000_000)),
            ("0.0068775", Some(687_750)),
            ("0.0009000000000000001", Some(90_000)),
            ("0.020632499999999998", Some(2_063_250)),
            ("0.0044399999999999995", Some(444_000)),
            ("1.5e-05", Some(1_500)),
            ("0.000000005", Some(1)),
            ("0.0000000049", Some(0)),
            ("999999.99999999", Some(99_999_999_999_999)),
            ("1000000.01", None),
            ("-0.5", None),
            ("1e300", None),
            ("\"1\"", None),
        ] {
            assert_eq!(
                read::<Dollars>(dollars).0,
                expected.map(MicroCents),
                "{dollars}"
            );
        }
    }

    #[test]
    fn parts_of_another_type_are_no_parts() {
        assert_eq!(read::<Object<BTreeMap<String, Count>>>("[{}]").0, None);
        assert_eq!(read::<Named<Count>>("\"none\"").0, None);
        assert_eq!(read::<List<Count>>("{\"a\":[1]}").0, Vec::new());
        assert_eq!(read::<List<Count>>("[1,null,{}]").0.len(), 3);
    }
}
