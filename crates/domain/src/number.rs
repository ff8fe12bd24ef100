//! Whole numbers in JSON, which has only one kind of number.

use core::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A whole number, which may be written as `2`, `2.0` or `2e0`; `None` for any other, and for one
/// that an `i64` cannot hold exactly.
pub fn whole(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let number = number.as_f64()?;
    // Whatever does not fit comes back as another number.
    let whole = number as i64;
    let exact = whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS;
    (exact && whole as f64 == number).then_some(whole)
}

/// How many: a whole number of at least zero, which may be spelt `5`, `5.0` or `5e0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Count(
    /// The number.
    pub i64,
);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Count, E> {
                if value < 0 {
                    return Err(E::custom("must not be negative"));
                }
                Ok(Count(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Count, E> {
                i64::try_from(value)
                    .map(Count)
                    .map_err(|_too_large| E::custom("is too large"))
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Count, E> {
                /// Beyond this a float does not tell neighbours apart.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                if value.fract() != 0.0 {
                    return Err(E::custom("must be a whole number"));
                }
                if value < 0.0 {
                    return Err(E::custom("must not be negative"));
                }
                if value > EXACT {
                    return Err(E::custom("is too large"));
                }
                #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                let whole = value as i64;
                Ok(Count(whole))
            }
        }

        deserializer.deserialize_any(CountVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<i64> {
        whole(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_whole_number_has_many_spellings() {
        for (text, value) in [
            ("2", 2),
            ("2.0", 2),
            ("2e0", 2),
            ("-30.0", -30),
            ("-0.0", 0),
            ("9223372036854775807", i64::MAX),
            ("9007199254740992.0", 9_007_199_254_740_992),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for text in ["2.5", "1e300", "-1e300", "18446744073709551615", "9.1e18"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
