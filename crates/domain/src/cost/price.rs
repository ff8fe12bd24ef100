//! What tokens cost by list, whatever a flat plan makes of it.

use alloc::string::String;
use alloc::vec::Vec;

use super::TokenUse;
use crate::money::Cents;

/// The model of an entry that stands for every model of its provider.
const ANY: &str = "*";
const MILLION: i128 = 1_000_000;

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Tokens read by the model.
    pub input: Cents,
    /// Tokens written by the model.
    pub output: Cents,
    /// Tokens read from the provider's cache.
    pub cached_input: Cents,
    /// Tokens written to the provider's cache.
    pub cache_write: Cents,
}

impl Rates {
    /// What these tokens cost, rounded once to a millionth of a cent, a half upwards.
    pub fn cost(&self, tokens: &TokenUse) -> Cents {
        let parts = [
            (self.input, tokens.input),
            (self.output, tokens.output),
            (self.cached_input, tokens.cached_input),
            (self.cache_write, tokens.cache_write),
        ];
        let sum = parts.into_iter().fold(0_i128, |sum, (rate, tokens)| {
            sum.saturating_add(i128::from(rate.micros()) * i128::from(tokens))
        });
        let micros = (sum + MILLION / 2) / MILLION;
        Cents::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

/// The rates of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// The model provider.
    pub provider: String,
    /// The model, or the beginning of the names of its versions; `*` for every model
    /// of the provider that has no price of its own.
    pub model: String,
    /// What its tokens cost.
    pub rates: Rates,
}

/// What the models of all providers cost by list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable(Vec<Price>);

impl PriceTable {
    /// A table without any price.
    pub const EMPTY: Self = Self(Vec::new());

    /// A table of these prices.
    pub fn new(prices: impl IntoIterator<Item = Price>) -> Self {
        Self(prices.into_iter().collect())
    }

    /// What these tokens cost by list; `None` for a model without a price.
    pub fn estimate(&self, provider: &str, model: &str, tokens: &TokenUse) -> Option<Cents> {
        Some(self.rates(provider, model)?.cost(tokens))
    }

    /// The rates of a model: its own, those of the longest name that it is a version
    /// of, or those for every model of its provider.
    fn rates(&self, provider: &str, model: &str) -> Option<&Rates> {
        // Programs for many providers write the provider before the model.
        let model = model
            .strip_prefix(provider)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(model);
        let prices = self.0.iter().filter(|price| price.provider == provider);
        prices
            .filter_map(|price| Some((closeness(&price.model, model)?, price)))
            .max_by_key(|(closeness, _)| *closeness)
            .map(|(_, price)| &price.rates)
    }
}

/// How much of a model's name an entry tells; `None` where it is for another model.
fn closeness(entry: &str, model: &str) -> Option<usize> {
    if entry == ANY {
        return Some(0);
    }
    let rest = model.strip_prefix(entry)?;
    // `gpt-5` is no version of `gpt-50`, and `gpt-5.1` none of `gpt-5`.
    let ends_there = rest.is_empty() || rest.starts_with(['-', '@', ':', '[']);
    ends_there.then_some(entry.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(provider: &str, model: &str, input: i64) -> Price {
        Price {
            provider: provider.into(),
            model: model.into(),
            rates: Rates {
                input: Cents::from_micros(input),
                ..Rates::default()
            },
        }
    }

    fn million() -> TokenUse {
        TokenUse {
            input: 1_000_000,
            ..TokenUse::default()
        }
    }

    #[test]
    fn the_closest_name_counts() {
        let table = PriceTable::new([
            price("a", "*", 1),
            price("a", "m", 2),
            price("a", "m-5", 3),
            price("b", "m-5-x", 4),
        ]);
        let cost = |provider, model| {
            let cost = table.estimate(provider, model, &million())?;
            Some(cost.micros())
        };
        assert_eq!(cost("a", "m-5"), Some(3));
        assert_eq!(cost("a", "m-5-20260101"), Some(3));
        assert_eq!(cost("a", "m-5@latest"), Some(3));
        assert_eq!(cost("a", "a/m-5"), Some(3));
        assert_eq!(cost("a", "m-50"), Some(2));
        assert_eq!(cost("a", "m5"), Some(1));
        assert_eq!(cost("b", "m-5"), None);
        assert_eq!(cost("c", "m"), None);
    }

    #[test]
    fn every_kind_of_token_has_its_rate_and_the_sum_is_rounded_once() {
        let rates = Rates {
            input: Cents::from_micros(300_000_000),
            output: Cents::from_micros(1_500_000_000),
            cached_input: Cents::from_micros(7_500_000),
            cache_write: Cents::from_micros(375_000_000),
        };
        let tokens = TokenUse {
            input: 1,
            output: 2,
            cached_input: 3,
            cache_write: 4,
        };
        // 300 + 3000 + 22.5 + 1500.
        assert_eq!(rates.cost(&tokens).micros(), 4823);
        let most = TokenUse {
            input: i64::MAX,
            output: i64::MAX,
            cached_input: i64::MAX,
            cache_write: i64::MAX,
        };
        assert_eq!(rates.cost(&most).micros(), i64::MAX);
    }
}
