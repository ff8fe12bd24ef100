//! Regular expressions of a script.

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A regular expression that is looked for anywhere in a text.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// # Panics
    ///
    /// When `expression` is no regular expression: who writes a script in code wants to know it
    /// there.
    #[track_caller]
    pub(crate) fn new(expression: &str) -> Self {
        match Regex::new(expression) {
            Ok(regex) => Self(regex),
            Err(error) => panic!("`{expression}` is no regular expression: {error}"),
        }
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Whether `pattern` allows `text`; none allows every text.
pub(crate) fn allows(pattern: Option<&Pattern>, text: &str) -> bool {
    pattern.is_none_or(|it| it.is_in(text))
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expression = String::deserialize(deserializer)?;
        Regex::new(&expression).map(Self).map_err(D::Error::custom)
    }
}
