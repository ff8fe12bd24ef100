use std::fmt;

use sha2::{Digest, Sha256};
use ureq::http::HeaderValue;
use zeroize::Zeroizing;

/// What stands in a text where a token stood.
const SCRUBBED: &str = "***";

/// A credential of a forge. It is wiped when it is dropped, and nothing shows it.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Reads a token; blanks and line ends around it are dropped. `None` if nothing is left, or
    /// if it has characters that no header may carry, or that texts write in another way.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"'\\".contains(&byte);
        let fits = !text.is_empty() && text.bytes().all(fits);
        fits.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// The value of a header, with what goes before the token.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let text = Zeroizing::new(format!("{before}{}", *self.0));
        let mut value = HeaderValue::from_str(&text).ok()?;
        // What logs requests shows no such value.
        value.set_sensitive(true);
        Some(value)
    }

    /// The token itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without this token.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(self.0.as_str(), SCRUBBED)
    }

    /// Tells tokens apart without keeping them.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

/// Shows nothing of it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_a_header_may_carry() {
        for good in ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", " glpat-x\n"] {
            assert!(Token::parse(good).is_some(), "{good:?}");
        }
        for bad in [
            "",
            " \n",
            "two words",
            "line\r\nX-Other: 1",
            "schlüssel",
            "a\"b",
        ] {
            assert!(Token::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn nothing_shows_it() {
        let token = Token::parse("geheim-7").unwrap();
        assert_eq!(format!("{token:?}"), "Token(***)");
        assert_eq!(
            format!("{:?}", token.header("Bearer ").unwrap()),
            "Sensitive"
        );
        assert_eq!(token.scrub("a geheim-7 b"), "a *** b");
    }
}
