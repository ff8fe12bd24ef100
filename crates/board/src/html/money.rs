//! Amounts of money.

use std::fmt::{self, Display};

use workforce_domain::budget::BudgetBasis;
use workforce_domain::cost::CostTotal;
use workforce_domain::money::Cents;

const MICROS_PER_CENT: i64 = 1_000_000;

/// An amount in dollars: `$1,234.50`.
#[derive(Clone, Copy)]
pub(crate) struct Dollars(pub(crate) Cents);

impl Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.micros();
        let cents = (micros + MICROS_PER_CENT / 2).div_euclid(MICROS_PER_CENT);
        if micros > 0 && cents == 0 {
            return f.write_str("under $0.01");
        }
        let (whole, part) = (cents / 100, cents % 100);
        let digits = whole.to_string();
        f.write_str("$")?;
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        if part == 0 {
            Ok(())
        } else {
            write!(f, ".{part:02}")
        }
    }
}

/// A limit in cents as a field takes it: `1234.50`, and nothing for no limit.
pub(crate) fn typed(cents: i64) -> String {
    match cents {
        0 => String::new(),
        cents => format!("{}.{:02}", cents / 100, cents % 100),
    }
}

/// What something cost, some of which may not be known.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) amount: Cents,
    /// How many costs of no known amount there are beside it.
    pub(crate) unknown: i64,
}

impl Cost {
    pub(crate) const fn of(total: &CostTotal, basis: BudgetBasis) -> Self {
        Self {
            amount: total.counted(basis),
            unknown: total.unknown,
        }
    }
}

impl Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.amount, self.unknown) {
            (amount, 0) => Dollars(amount).fmt(f),
            (Cents::ZERO, _) => f.write_str("unknown"),
            (amount, _) => write!(f, "{} and unknown", Dollars(amount)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_in_dollars() {
        for (micros, expected) in [
            (0, "$0"),
            (1, "under $0.01"),
            (MICROS_PER_CENT, "$0.01"),
            (MICROS_PER_CENT * 39_820, "$398.20"),
            (MICROS_PER_CENT * 60_000, "$600"),
            (MICROS_PER_CENT * 123_456_700, "$1,234,567"),
        ] {
            assert_eq!(Dollars(Cents::from_micros(micros)).to_string(), expected);
        }
    }
}
