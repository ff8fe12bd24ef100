//! JSON as requests carry it.

use serde_json::{Value, json};
use workforce_domain::port::TextScrubber;
use workforce_scrub::{Patterns, REDACTED};

fn scrubbed(text: &str) -> Option<String> {
    let patterns = Patterns::of(["hunter2\"x", "plainsecret"]);
    let clean = patterns.scrub_json(text.as_bytes())?;
    Some(String::from_utf8(clean).unwrap())
}

#[test]
fn texts_and_names_are_cleaned_and_the_rest_stays_as_it_was_written() {
    let text = r#" { "body" : "so hunter2\"x it is", "n":0.10, "plainsecret":[ "a", 1e2 ] } "#;
    assert_eq!(
        scrubbed(text).unwrap(),
        format!(r#" {{ "body" : "so {REDACTED} it is", "n":0.10, "{REDACTED}":[ "a", 1e2 ] }} "#)
    );
    assert_eq!(scrubbed(r#"{"body":"hunter2 x","n":[1,"y"]}"#), None);
}

#[test]
fn no_spelling_of_a_text_hides_a_value() {
    for text in [
        r#"{"a":"\u0070lainsecret"}"#,
        r#"{"a":"hunter2\u0022x"}"#,
        r#"{"a":"{\"b\":\"hunter2\\\"x\"}"}"#,
        r#"{"a":{"b":[["plainsecret"]]}}"#,
        r#"{"a":"cGxhaW5zZWNyZXQ="}"#,
    ] {
        let clean: Value = serde_json::from_str(&scrubbed(text).unwrap()).unwrap();
        assert!(clean.to_string().contains(REDACTED), "{clean}");
        assert!(!clean.to_string().contains("secret"), "{clean}");
    }
}

#[test]
fn what_is_no_json_is_left_to_the_parser() {
    for text in [
        "",
        "{",
        "\"",
        "\"\\",
        "{\"a\":\"plainsecret",
        "plainsecret",
        "\"\\u12\"",
    ] {
        assert_eq!(scrubbed(text), None, "{text}");
    }
    let half = format!("[{}, \"plainsecr", json!("plainsecret"));
    assert_eq!(
        scrubbed(&half).unwrap(),
        format!("[\"{REDACTED}\", \"plainsecr")
    );
}
