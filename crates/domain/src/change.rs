//! What a PATCH says about one field.

/// One field of a partial update: left alone, emptied, or replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field was absent: keep what is stored.
    #[default]
    Keep,
    /// The field was `null`: empty it.
    Clear,
    /// The field had a value.
    Set(T),
}

impl<T> Change<T> {
    /// True when the field is left alone.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The value the field has after this change of `current`.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The change with its value, if any, turned into another.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Clear => Change::Clear,
            Self::Set(value) => Change::Set(convert(value)),
        }
    }

    /// The value to set, when there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Change<T> {
    /// `null` clears, a value sets; an absent field needs `#[serde(default)]`.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::<T>::deserialize(deserializer)? {
            Some(value) => Self::Set(value),
            None => Self::Clear,
        })
    }
}

/// One field of a partial update that cannot be emptied: left alone, or replaced. Absent needs
/// `#[serde(default)]`; `null` is refused as the value it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace<T> {
    /// The field was absent: keep what is stored.
    #[default]
    Keep,
    /// The field had a value.
    Set(T),
}

impl<T> Replace<T> {
    /// The value the field has after this change of `current`.
    pub fn apply(self, current: T) -> T {
        match self {
            Self::Keep => current,
            Self::Set(value) => value,
        }
    }

    /// True when the field is left alone.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The value to set, when there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep => None,
        }
    }

    /// The same with its value borrowed.
    pub const fn as_ref(&self) -> Replace<&T> {
        match self {
            Self::Keep => Replace::Keep,
            Self::Set(value) => Replace::Set(value),
        }
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Replace<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::Set)
    }
}
