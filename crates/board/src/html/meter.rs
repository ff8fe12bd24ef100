//! How much of a limit is used.

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_domain::budget::{BudgetBasis, Spend};
use workforce_domain::money::{Budget, Cents};

use super::money::Dollars;

/// Spend against a limit, with marks at 80 and 100 %. Without a limit there is no bar.
#[derive(Template)]
#[template(path = "parts/meter.html")]
pub(crate) struct Meter {
    spent: Dollars,
    limit: Option<Limit>,
}

pub(crate) struct Limit {
    amount: Dollars,
    percent: i64,
    /// Up to where the bar is filled, and how much more is held, in hundredths of the limit.
    filled: i64,
    held: i64,
    class: &'static str,
}

/// The bar has a little room beyond the limit.
const LONGEST: i64 = 104;

impl HtmlSafe for Meter {}

/// The bar alone.
#[derive(Template)]
#[template(path = "parts/meter_bar.html")]
pub(crate) struct Bar<'a> {
    limit: Option<&'a Limit>,
}

impl HtmlSafe for Bar<'_> {}

impl Meter {
    pub(crate) fn new(spend: Spend, budget: Budget, basis: BudgetBasis) -> Self {
        Self::of(spend.counted(basis), spend.held, budget)
    }

    /// The same from an amount that was spent, and one that is held beside it.
    pub(crate) fn of(spent: Cents, held: Cents, budget: Budget) -> Self {
        let limit = budget.limit().map(|limit| {
            let percent = percent(spent, limit);
            let filled = percent.min(LONGEST);
            Limit {
                amount: Dollars(limit),
                percent,
                filled,
                held: self::percent(held, limit).min(LONGEST - filled),
                class: match percent {
                    100.. => "out",
                    80.. => "warn",
                    _ => "",
                },
            }
        });
        Self {
            spent: Dollars(spent),
            limit,
        }
    }

    /// The bar without the amounts.
    pub(crate) const fn bar(&self) -> Bar<'_> {
        Bar {
            limit: self.limit.as_ref(),
        }
    }

    /// How much of the limit is used.
    pub(crate) fn percent(&self) -> Option<i64> {
        self.limit.as_ref().map(|limit| limit.percent)
    }
}

fn percent(part: Cents, whole: Cents) -> i64 {
    let (part, whole) = (i128::from(part.micros()), i128::from(whole.micros()));
    let percent = (part * 100).checked_div(whole).unwrap_or(100);
    i64::try_from(percent).unwrap_or(i64::MAX)
}
