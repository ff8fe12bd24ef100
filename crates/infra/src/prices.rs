//! The list of prices, as a file (docs/budgets.md#prices).

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use workforce_domain::cost::{Price, PriceTable, Rates};
use workforce_domain::money::{Cents, MoneyError};

/// The list that comes with workforce.
const SHIPPED: &str = include_str!("../prices.toml");

/// Why a list of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The file cannot be read.
    #[error("the prices in {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is not a list of prices.
    #[error("the prices cannot be used: {0}")]
    Malformed(#[from] toml::de::Error),
    /// A price is no amount.
    #[error("the price `{field}` of {model} of {provider} {fault}")]
    Price {
        /// The provider of the model.
        provider: String,
        /// The model.
        model: String,
        /// Which of its prices.
        field: &'static str,
        /// What is wrong with it.
        fault: MoneyError,
    },
    /// A model has two prices.
    #[error("{model} of {provider} has two prices")]
    Twice {
        /// The provider of the model.
        provider: String,
        /// The model.
        model: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    price: Vec<Entry>,
}

/// The prices of a model in dollars for a million tokens, as texts: no float is exact.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    provider: String,
    model: String,
    input: String,
    output: String,
    cached_input: String,
    cache_write: String,
}

/// The prices in a file.
///
/// # Errors
/// It cannot be read, or is no list of prices.
pub fn read(path: &Path) -> Result<PriceTable, PricesError> {
    let text = std::fs::read_to_string(path).map_err(|cause| PricesError::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    parse(&text)
}

/// The prices that come with workforce.
///
/// # Errors
/// Never: a test reads them.
pub fn shipped() -> Result<PriceTable, PricesError> {
    parse(SHIPPED)
}

fn parse(text: &str) -> Result<PriceTable, PricesError> {
    // Some editors begin a file so.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File = toml::from_str(text)?;
    let mut seen = HashSet::new();
    for entry in &file.price {
        if !seen.insert((&entry.provider, &entry.model)) {
            return Err(PricesError::Twice {
                provider: entry.provider.clone(),
                model: entry.model.clone(),
            });
        }
    }
    let prices: Result<Vec<Price>, PricesError> = file.price.iter().map(price).collect();
    Ok(PriceTable::new(prices?))
}

fn price(entry: &Entry) -> Result<Price, PricesError> {
    let rate = |field, dollars: &str| {
        let cents = Cents::parse(dollars).and_then(in_cents);
        cents.map_err(|fault| PricesError::Price {
            provider: entry.provider.clone(),
            model: entry.model.clone(),
            field,
            fault,
        })
    };
    Ok(Price {
        provider: entry.provider.clone(),
        model: entry.model.clone(),
        rates: Rates {
            input: rate("input", &entry.input)?,
            output: rate("output", &entry.output)?,
            cached_input: rate("cached_input", &entry.cached_input)?,
            cache_write: rate("cache_write", &entry.cache_write)?,
        },
    })
}

/// Dollars, which were read as cents.
fn in_cents(dollars: Cents) -> Result<Cents, MoneyError> {
    let micros = dollars.micros().checked_mul(100);
    micros.map(Cents::from_micros).ok_or(MoneyError::TooLarge)
}

#[cfg(test)]
mod tests {
    use workforce_domain::cost::TokenUse;

    use super::*;

    const ONE: &str = r#"
        [[price]]
        provider = "anthropic"
        model = "claude-sonnet-4"
        input = "3"
        output = "15"
        cached_input = "0.30"
        cache_write = "3.75"
    "#;

    #[test]
    fn the_shipped_list_can_be_used() {
        let table = shipped().unwrap();
        let tokens = TokenUse {
            input: 1000,
            output: 100,
            cached_input: 10_000,
            cache_write: 10,
        };
        let cost = |provider, model| table.estimate(provider, model, &tokens).unwrap();
        // 300,000 + 150,000 + 300,000 + 3,750 millionths.
        let sonnet = cost("anthropic", "claude-sonnet-4-5-20250929");
        assert_eq!(sonnet.micros(), 753_750);
        assert!(cost("openai", "gpt-5.1-codex") < cost("openai", "gpt-5.2"));
        assert!(cost("google", "gemini-9-ultra") > Cents::ZERO);
        assert_eq!(table.estimate("cursor", "auto", &tokens), None);
    }

    #[test]
    fn a_list_that_cannot_be_used_says_why() {
        let told = |text: &str| parse(text).unwrap_err().to_string();
        assert!(told(&format!("{ONE}{ONE}")).contains("has two prices"));
        assert!(told(&ONE.replace("\"15\"", "\"-15\"")).contains("`output` of claude-sonnet-4"));
        assert!(told(&ONE.replace("\"15\"", "15.0")).contains("expected a string"));
        assert!(told(&ONE.replace("output", "outputs")).contains("unknown field"));
        assert!(told(&ONE.replace("\"3\"", "\"99999999999999\"")).contains("too large"));
        assert!(parse("").unwrap() == PriceTable::EMPTY);
        assert!(parse(&format!("\u{feff}{ONE}")).unwrap() == parse(ONE).unwrap());
        let missing = read(Path::new("/nowhere/prices.toml")).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/prices.toml"));
    }
}
