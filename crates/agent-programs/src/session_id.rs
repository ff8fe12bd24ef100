//! Ids of sessions, as the programs give them out.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// The id by which a program finds a session again: 1 to 128 ASCII letters,
/// digits, `-` and `_`, of which the first is a letter or a digit.
///
/// An id comes out of a program's output and goes into its next command line.
/// One that began with `-` would be an option there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// The text is no session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 128 letters, digits, `-` and `_`, and begin with a letter or a digit")]
pub struct InvalidSessionId;

impl SessionId {
    const MAX_BYTES: usize = 128;

    /// Reads an id.
    ///
    /// # Errors
    /// When the text is empty, too long, or has another character.
    pub fn parse(text: &str) -> Result<Self, InvalidSessionId> {
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if begins_well && is_plain && text.len() <= Self::MAX_BYTES {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSessionId)
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has the form of a UUID: `8-4-4-4-12` hexadecimal digits.
    #[must_use]
    pub fn is_uuid(&self) -> bool {
        let lengths = self.0.split('-').map(str::len);
        lengths.eq([8, 4, 4, 4, 12])
            && self
                .0
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
