//! Closed vocabularies: enums whose variants have one stable spelling on the
//! wire, in the store and in the documentation.

/// An enum with one stable snake_case spelling per variant.
pub trait Word: Sized + Copy + 'static {
    /// Every variant, in the order the documentation lists them.
    const ALL: &'static [Self];

    /// The spelling of this variant.
    fn as_str(self) -> &'static str;

    /// The variant with this spelling.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.as_str() == text)
    }
}

/// Declares a closed vocabulary: the enum, its [`Word`] implementation,
/// `Display`, and serde by spelling.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            ::serde::Serialize, ::serde::Deserialize,
        )]
        $vis enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)+
        }

        impl $crate::word::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str($crate::word::Word::as_str(*self))
            }
        }
    };
}

/// Words as an error message lists them: `todo, blocked`, or `nothing`.
pub(crate) struct Listed<W: 'static>(pub(crate) &'static [W]);

impl<W: Word> core::fmt::Display for Listed<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str("nothing");
        };
        f.write_str(first.as_str())?;
        others
            .iter()
            .try_for_each(|word| write!(f, ", {}", word.as_str()))
    }
}
