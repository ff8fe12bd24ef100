//! How a body reads the values that JSON spells in more ways than one.

use serde::Deserialize;
use workforce_domain::change::Replace;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::number::Count;

use super::parse;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Body {
    tokens: Option<Count>,
    cost: Cents,
    budget: Budget,
    flag: Replace<bool>,
}

fn read(text: &str) -> Result<Body, String> {
    parse(text.as_bytes()).map_err(|problem| format!("{problem:?}"))
}

#[test]
fn whole_numbers_may_be_spelt_as_floats() {
    for (text, value) in [("5", 5), ("5.0", 5), ("5e2", 500), ("-0.0", 0)] {
        let body = read(&format!(r#"{{"tokens": {text}}}"#)).unwrap();
        assert_eq!(body.tokens, Some(Count(value)), "{text}");
    }
    for text in [
        "5.5",
        "1e300",
        "\"5\"",
        "18446744073709551615",
        "-1",
        "-1.0",
    ] {
        assert!(
            read(&format!(r#"{{"tokens": {text}}}"#))
                .unwrap_err()
                .contains("/tokens")
        );
    }
}

#[test]
fn money_is_exact_both_ways() {
    for text in ["0.3", "0.000001", "9007199254739.000001", "300", "0.1"] {
        let body = read(&format!(r#"{{"cost": {text}}}"#)).unwrap();
        assert_eq!(serde_json::to_string(&body.cost).unwrap(), text);
    }
    for text in ["-1", "0.0000001", "\"3\"", "true"] {
        assert!(
            read(&format!(r#"{{"cost": {text}}}"#))
                .unwrap_err()
                .contains("/cost"),
            "{text}"
        );
    }
}

#[test]
fn budgets_are_whole_cents() {
    assert_eq!(read(r#"{"budget": 5.0}"#).unwrap().budget.cents(), 5);
    assert!(read(r#"{"budget": 5.5}"#).unwrap_err().contains("/budget"));
    assert!(read(r#"{"budget": -1}"#).unwrap_err().contains("/budget"));
}

#[test]
fn presence_and_null_are_told_apart() {
    assert_eq!(read("{}").unwrap().flag, Replace::Keep);
    assert_eq!(read(r#"{"flag": true}"#).unwrap().flag, Replace::Set(true));
    assert!(read(r#"{"flag": null}"#).unwrap_err().contains("/flag"));
}
