//! Closed vocabularies: enums whose variants have one stable spelling on the
//! wire, in the store and in the documentation.

use core::fmt;
use core::marker::PhantomData;

/// An enum with one stable snake_case spelling per variant.
pub trait StringEnum: Sized + Copy + 'static {
    /// Every variant, in the order the documentation lists them.
    const ALL: &'static [Self];

    /// The spelling of this variant.
    fn as_str(self) -> &'static str;

    /// The variant with this spelling.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.as_str() == text)
    }
}

/// Reads a word from its spelling and from nothing else.
#[doc(hidden)]
pub struct Spelling<W>(pub PhantomData<W>);

impl<W: StringEnum> serde::de::Visitor<'_> for Spelling<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of ")?;
        for (n, word) in W::ALL.iter().enumerate() {
            let separator = if n == 0 { "" } else { ", " };
            write!(f, "{separator}`{}`", word.as_str())?;
        }
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<W, E> {
        W::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// Declares a closed vocabulary: the enum, its [`StringEnum`] implementation,
/// `Display`, and serde by spelling.
#[macro_export]
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::string_enum::StringEnum::as_str(*self))
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                deserializer.deserialize_str($crate::string_enum::Spelling(::core::marker::PhantomData))
            }
        }

        impl $crate::string_enum::StringEnum for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        $crate::string_enum_schema!($name);

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str($crate::string_enum::StringEnum::as_str(*self))
            }
        }
    };
}

/// The schema of a closed vocabulary, with the feature `openapi` of this crate.
#[cfg(feature = "openapi")]
#[doc(hidden)]
#[macro_export]
macro_rules! string_enum_schema {
    ($name:ident) => {
        impl $crate::openapi::ComposeSchema for $name {
            fn compose(
                _generics: ::std::vec::Vec<$crate::openapi::RefOr<$crate::openapi::Schema>>,
            ) -> $crate::openapi::RefOr<$crate::openapi::Schema> {
                $crate::openapi::string_enum::<Self>()
            }
        }

        impl $crate::openapi::ToSchema for $name {}
    };
}

/// No schema, without the feature `openapi` of this crate.
#[cfg(not(feature = "openapi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! string_enum_schema {
    ($name:ident) => {};
}

/// Words as an error message lists them: `todo, blocked`, or `nothing`.
pub(crate) struct Listed<W: 'static>(pub(crate) &'static [W]);

impl<W: StringEnum> fmt::Display for Listed<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str("nothing");
        };
        f.write_str(first.as_str())?;
        others
            .iter()
            .try_for_each(|word| write!(f, ", {}", word.as_str()))
    }
}
