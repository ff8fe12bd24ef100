//! Money: exact decimal cents.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// How many micro-cents make one cent.
const SCALE: i64 = 1_000_000;

/// An amount of money, exact to a millionth of a cent, never negative where a
/// rule speaks of cost or spend.
///
/// Prints as a decimal number of cents without a decimal point when whole:
/// `300`, `0.3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cents(i64);

/// Why a text is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Not a JSON number.
    #[error("must be a number of cents")]
    NotANumber,
    /// Below zero.
    #[error("must not be negative")]
    Negative,
    /// Finer than a millionth of a cent.
    #[error("must have at most 6 decimals")]
    TooFine,
    /// More than can be counted exactly.
    #[error("is too large")]
    TooLarge,
    /// A budget is counted in whole cents.
    #[error("must be a whole number of cents")]
    NotWhole,
}

impl Cents {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// An amount counted in millionths of a cent.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The amount in millionths of a cent.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The whole cents in it.
    pub const fn whole(self) -> i64 {
        self.0 / SCALE
    }

    /// Whole cents.
    ///
    /// # Errors
    /// [`MoneyError::TooLarge`] beyond about nine million million cents.
    pub const fn from_cents(cents: i64) -> Result<Self, MoneyError> {
        match cents.checked_mul(SCALE) {
            Some(micros) => Ok(Self(micros)),
            None => Err(MoneyError::TooLarge),
        }
    }

    /// The sum, or `None` when it cannot be counted exactly.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(micros) => Some(Self(micros)),
            None => None,
        }
    }

    /// What is left of `self` after `other` is taken away; zero at the least.
    pub const fn saturating_sub(self, other: Self) -> Self {
        let left = self.0.saturating_sub(other.0);
        Self(if left < 0 { 0 } else { left })
    }

    /// Reads the text of a JSON number, without going through a float.
    ///
    /// # Errors
    /// Says why the text is not an amount of at least zero with at most six
    /// decimals.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let number = Decimal::parse(text).ok_or(MoneyError::NotANumber)?;
        let digits = || number.whole.bytes().chain(number.fraction.bytes());
        let Some(first) = digits().position(|digit| digit != b'0') else {
            return Ok(Self::ZERO);
        };
        if number.negative {
            return Err(MoneyError::Negative);
        }
        // The significant digits are what lies between leading and trailing
        // zeros; `place` is the power of ten of a micro-cent at which they end.
        let trailing = digits().rev().take_while(|&digit| digit == b'0').count();
        let count = digits().count() - trailing - first;
        let place =
            i128::from(number.exponent) + 6 + trailing as i128 - number.fraction.len() as i128;
        if place < 0 {
            return Err(MoneyError::TooFine);
        }
        let scale = u32::try_from(place)
            .ok()
            .and_then(|place| 10_i64.checked_pow(place));
        digits()
            .skip(first)
            .take(count)
            .try_fold(0_i64, |value, digit| {
                value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
            })
            .zip(scale)
            .and_then(|(value, scale)| value.checked_mul(scale))
            .map(Self)
            .ok_or(MoneyError::TooLarge)
    }
}

/// The parts of a JSON number.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// The nearest that fits, where it is longer.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Reads the grammar of RFC 8259, section 6.
    fn parse(text: &'a str) -> Option<Self> {
        let (negative, magnitude) = match text.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, text),
        };
        let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (magnitude, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let (sign, exponent) = match exponent {
            Some(exponent) => match exponent.strip_prefix('-') {
                Some(digits) => (-1, digits),
                None => (1, exponent.strip_prefix('+').unwrap_or(exponent)),
            },
            None => (1, "0"),
        };
        let leads_with_zero = whole.len() > 1 && whole.starts_with('0');
        if leads_with_zero
            || !is_digits(whole)
            || !fraction.is_none_or(is_digits)
            || !is_digits(exponent)
        {
            return None;
        }
        Some(Self {
            negative,
            whole,
            fraction: fraction.unwrap_or(""),
            exponent: sign * exponent.parse::<i64>().unwrap_or(i64::MAX),
        })
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let scale = SCALE.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        write!(f, "{}", magnitude / scale)?;
        let fraction = magnitude % scale;
        if fraction != 0 {
            let digits = alloc::format!("{fraction:06}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        Ok(())
    }
}

/// A monthly limit in whole cents; zero means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Budget(i64);

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self(0);

    /// The largest limit, far above any real one, whose micro-cents fit.
    pub const MAX_CENTS: i64 = i64::MAX / SCALE;

    /// A limit of `cents` whole cents; zero for no limit.
    ///
    /// # Errors
    /// When negative or too large.
    pub const fn from_cents(cents: i64) -> Result<Self, MoneyError> {
        if cents < 0 {
            Err(MoneyError::Negative)
        } else if cents > Self::MAX_CENTS {
            Err(MoneyError::TooLarge)
        } else {
            Ok(Self(cents))
        }
    }

    /// Reads the text of a JSON number; `5.0` is five.
    ///
    /// # Errors
    /// When the number is negative, not whole or too large.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let amount = Cents::parse(text).map_err(|error| match error {
            MoneyError::TooFine => MoneyError::NotWhole,
            other => other,
        })?;
        if amount.micros() % SCALE == 0 {
            Self::from_cents(amount.micros() / SCALE)
        } else {
            Err(MoneyError::NotWhole)
        }
    }

    /// The limit in whole cents; zero for no limit.
    pub const fn cents(self) -> i64 {
        self.0
    }

    /// The limit as an amount, or `None` when there is none.
    pub const fn limit(self) -> Option<Cents> {
        if self.0 == 0 {
            None
        } else {
            Some(Cents(self.0 * SCALE))
        }
    }
}

impl FromStr for Cents {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl From<Cents> for String {
    fn from(amount: Cents) -> Self {
        alloc::format!("{amount}")
    }
}

impl Serialize for Cents {
    /// The digits themselves: a float would not tell all amounts apart.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(digits.get()).map_err(D::Error::custom)
    }
}

impl Serialize for Budget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Budget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(digits.get()).map_err(D::Error::custom)
    }
}
