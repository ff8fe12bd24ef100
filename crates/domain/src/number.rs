//! Whole numbers in JSON, which has only one kind of number.

use serde_json::Number;

/// A whole number, which may be written as `2`, `2.0` or `2e0`
/// (docs/access.md#requests); `None` for any other, and for one that an `i64`
/// cannot hold exactly.
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
