//! Tokens and money, as the programs count them.

use serde::{Deserialize, Serialize};

/// Tokens of calls of a model, each counted in one place only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Input that no cache held.
    pub input: u64,
    /// Input that was read from a cache.
    pub cached_read: u64,
    /// Input that was written to a cache.
    pub cached_write: u64,
    /// Output, with what the model thought.
    pub output: u64,
}

impl TokenUsage {
    /// No tokens.
    pub const ZERO: Self = Self {
        input: 0,
        cached_read: 0,
        cached_write: 0,
        output: 0,
    };

    /// Whether every count is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// All tokens together.
    #[must_use]
    pub fn sum(self) -> u64 {
        [self.cached_read, self.cached_write, self.output]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    /// Both together; a count that would overflow stays at the largest.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    /// What is left of each count; zero at the least.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    /// The larger of each count.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    /// The smaller of each count.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        self.each(other, u64::min)
    }

    fn each(self, other: Self, operation: fn(u64, u64) -> u64) -> Self {
        Self {
            input: operation(self.input, other.input),
            cached_read: operation(self.cached_read, other.cached_read),
            cached_write: operation(self.cached_write, other.cached_write),
            output: operation(self.output, other.output),
        }
    }
}

/// Money in millionths of a US cent: a dollar is 100,000,000.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MicroCents(pub u64);

impl MicroCents {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Digits after the point of a dollar that a micro-cent can hold.
    const DECIMALS: usize = 8;

    /// No single run costs a million dollars: a figure above it is a mistake.
    const MAX_BELIEVABLE: Self = Self(1_000_000 * 100_000_000);

    /// Reads dollars as plain decimal digits, such as `0.0068775`. Finer digits
    /// are rounded, a half upwards. `None` when the text is something else, is
    /// negative, or is more than a million dollars.
    #[must_use]
    pub fn from_dollars(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let kept = fraction.len().min(Self::DECIMALS);
        let kept_digits = format!("{whole}{:0<8}", fraction.get(..kept)?);
        let rounds_up = fraction.as_bytes().get(Self::DECIMALS) >= Some(&b'5');
        let amount = kept_digits.parse::<u64>().ok()?;
        let amount = Self(amount.checked_add(u64::from(rounds_up))?);
        (amount <= Self::MAX_BELIEVABLE).then_some(amount)
    }

    /// Both together; the largest amount at the most.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left; nothing at the least.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// What the runs of a session have been counted for so far. Some programs count
/// over a whole session, so that a run is the difference to what was before it.
///
/// Stored with the session: each [`Conclusion`](crate::Conclusion) brings the
/// next one. `None` stands for "not known", as it is for a session that was not
/// counted from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageBaseline {
    /// Tokens of the earlier runs.
    pub tokens: Option<TokenUsage>,
    /// Cost of the earlier runs, in the program's own opinion.
    pub cost: Option<MicroCents>,
}

impl UsageBaseline {
    /// Of a session that begins with the run.
    pub const NEW_SESSION: Self = Self {
        tokens: Some(TokenUsage::ZERO),
        cost: Some(MicroCents::ZERO),
    };

    /// Of a session of which nothing is known.
    pub const UNKNOWN: Self = Self {
        tokens: None,
        cost: None,
    };
}
