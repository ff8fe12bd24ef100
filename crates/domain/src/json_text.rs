//! JSON texts: how deep they may nest, and the one name that a member of an object must not have.
//!
//! Amounts are read digit by digit ([`crate::money`]), which is what `serde_json` has raw JSON
//! for. It hands raw JSON over as an object with a member of a name of its own, and takes any
//! object that begins with that member for raw JSON, also one that a caller has sent: reading
//! gives another value, or none.

use alloc::borrow::Cow;
use alloc::string::String;

use serde::de::DeserializeOwned;

/// The name by which `serde_json` marks raw JSON.
const RAW_MARK: &str = "$serde_json::private::RawValue";

/// What a caller sends nests at most so many levels. Most readers of JSON stop at 128, and what
/// keeps it, such as a line of the activity log, nests it some levels deeper.
pub const MAX_DEPTH: usize = 100;

/// Whether `text` nests more than [`MAX_DEPTH`] levels. Such a text is to be refused before it is
/// read.
pub fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut is_literal = false;
    let mut is_escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_literal,
            b'"' => is_literal = !is_literal,
            b'{' | b'[' if !is_literal => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !is_literal => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether an object anywhere in `text` has a member whose name marks raw JSON, however it is
/// spelled. Such a text is to be refused before it is read.
pub fn marks_raw(text: &str) -> bool {
    // All characters of the mark are ASCII, and an escape of one begins like this.
    if !text.contains(RAW_MARK) && !text.contains("\\u00") {
        return false;
    }
    let mut rest = text;
    while let Some((literal, after)) = next_literal(rest) {
        rest = after;
        let is_mark = || serde_json::from_str(literal).is_ok_and(|name: String| name == RAW_MARK);
        if after.trim_ascii_start().starts_with(':') && is_mark() {
            return true;
        }
    }
    false
}

/// Reads a document from the JSON that a store keeps of it, so that whatever was once written is
/// read again: a member whose name marks raw JSON gets a name without its first character, and it
/// may nest as deep as it was written.
///
/// # Errors
/// When the text is not JSON or not what is asked for.
pub fn read_stored<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let text = without_mark(text);
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    deserializer.disable_recursion_limit();
    let document = T::deserialize(&mut deserializer)?;
    deserializer.end().map(|()| document)
}

/// No character of the mark is escaped in a stored text; a quote within a text is.
fn without_mark(text: &str) -> Cow<'_, str> {
    const MEMBER: &str = "\"$serde_json::private::RawValue\":";
    match text.contains(MEMBER) {
        true => text
            .replace(MEMBER, "\"serde_json::private::RawValue\":")
            .into(),
        false => text.into(),
    }
}

/// The next text in quotes, and what comes after it.
fn next_literal(text: &str) -> Option<(&str, &str)> {
    let literal = &text[text.find('"')?..];
    let mut bytes = literal.bytes().enumerate().skip(1);
    loop {
        match bytes.next()? {
            (at, b'"') => return Some(literal.split_at(at + 1)),
            (_, b'\\') => {
                bytes.next()?;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString as _;
    use serde_json::{Value, json};

    #[test]
    fn a_mark_is_found_in_every_spelling_and_at_every_depth() {
        for text in [
            r#"{"$serde_json::private::RawValue":"{}"}"#,
            r#"{"z":1,"$serde_json::private::RawValue" : 1}"#,
            r#"{"a":[{"b":{"\u0024serde_json\u003A:private::RawValue"
                :null}}]}"#,
            r#"{"a":"\\","\u0024serde_json::private::RawValue":null}"#,
        ] {
            assert!(marks_raw(text), "{text}");
        }
        for text in [
            "",
            "{}",
            "\"",
            r#"{"a":"\u00"#,
            r#"{"a":"$serde_json::private::RawValue","b":1}"#,
            r#"["$serde_json::private::RawValue"]"#,
            r#"{"a":"\"$serde_json::private::RawValue\":"}"#,
            r#"{"$serde_json::private::RawValues":"\u00e4"}"#,
        ] {
            assert!(!marks_raw(text), "{text}");
        }
    }

    /// So many lists, each within the one before it.
    fn lists(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn only_what_nests_counts_for_the_depth() {
        let flat = format!(r#"{{"a":[{}1]}}"#, "{},[],".repeat(1_000));
        let text = format!(r#"{{"a\\":"\"{}"}}"#, "[".repeat(1_000));
        for text in ["", "]]", "\"", &lists(MAX_DEPTH), &flat, &text] {
            assert!(!is_too_deep(text), "{text}");
        }
        let within = format!(r#"{{"a":{}}}"#, lists(MAX_DEPTH));
        let unclosed = "[".repeat(MAX_DEPTH + 1);
        for text in [&within, &unclosed, &lists(MAX_DEPTH + 1)] {
            assert!(is_too_deep(text), "{text}");
        }
    }

    #[test]
    fn what_was_stored_is_read_again_however_deep() {
        let text = lists(300);
        assert!(serde_json::from_str::<Value>(&text).is_err());
        assert_eq!(read_stored::<Value>(&text).unwrap().to_string(), text);
        assert!(read_stored::<Value>("{} {}").is_err());
    }

    #[test]
    fn what_was_stored_with_a_mark_is_read_again() {
        let mark = "$serde_json::private::RawValue";
        let stored = json!({"a": [{"zz": 1, mark: "{} and \"$serde_json::private::RawValue\":"}]});
        let spaced = format!(r#"{{"{mark}": "[]", "{mark}{mark}": "{mark}"}}"#);
        assert!(serde_json::from_str::<Value>(&spaced).is_err());
        assert_eq!(
            read_stored::<Value>(&spaced).unwrap(),
            json!({&mark[1..]: "[]", format!("{mark}{mark}"): mark})
        );
        let text = stored.to_string();
        assert!(serde_json::from_str::<Value>(&text).is_err());
        assert_eq!(
            read_stored::<Value>(&text).unwrap(),
            json!({"a": [{"zz": 1, &mark[1..]: "{} and \"$serde_json::private::RawValue\":"}]})
        );
    }
}
