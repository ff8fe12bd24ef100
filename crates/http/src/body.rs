//! Reading JSON bodies (docs/access.md#requests): lenient about what is left
//! out, exact about what is wrong and where, linear in the size of the body.

pub(crate) mod coding;
pub(crate) mod incoming;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};
use workforce_app::Code;
use workforce_domain::ObjectOnly;
use workforce_domain::json_text::{MAX_DEPTH, is_too_deep, marks_raw};

use crate::problem::Problem;

/// A JSON body is at most so many bytes (docs/access.md#requests).
pub(crate) const MAX_BODY: usize = 2 * 1024 * 1024;

/// A message quotes at most so many characters of what the caller sent.
const MAX_MESSAGE: usize = 300;

/// Reads a body as `T`. An empty body counts as `{}`, so that actions need
/// none.
///
/// # Errors
/// `invalid_json` with a pointer to the fault.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    parse_noting(bytes, &mut |_ignored| {})
}

/// The same, and gives `note` the pointer of each field that is not known.
///
/// # Errors
/// Those of [`parse`].
pub(crate) fn parse_noting<T: DeserializeOwned>(
    bytes: &[u8],
    note: &mut dyn FnMut(String),
) -> Result<T, Problem> {
    // Some programs begin a text so (RFC 8259, 8.1).
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        invalid(
            "",
            &format!("the body is not UTF-8 at byte {}", error.valid_up_to()),
        )
    })?;
    let text = match text.trim_ascii() {
        "" => "{}",
        text => text,
    };
    if is_too_deep(text) {
        return Err(invalid(
            "",
            &format!("the body nests more than {MAX_DEPTH} levels"),
        ));
    }
    if marks_raw(text) {
        return Err(invalid(
            "",
            "an object must not have a member named `$serde_json::private::RawValue`",
        ));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut ignored = |path: serde_ignored::Path<'_>| note(ignored_pointer(&path));
    let noting = serde_ignored::Deserializer::new(&mut deserializer, &mut ignored);
    let ObjectOnly(value) = serde_path_to_error::deserialize(noting).map_err(
        |error: serde_path_to_error::Error<serde_json::Error>| {
            let path = pointer(error.path());
            fault(path, error.inner())
        },
    )?;
    deserializer
        .end()
        .map_err(|error| fault(String::new(), &error))?;
    if has_nul(text.as_bytes()) {
        return Err(invalid("", "a text must not contain a NUL character"));
    }
    Ok(value)
}

fn invalid(pointer: &str, message: &str) -> Problem {
    Problem::at(Code::InvalidJson, pointer, message)
}

fn fault(mut pointer: String, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let message = match error.classify() {
        // A fault of syntax is found by its line, one of meaning by its pointer.
        Category::Syntax | Category::Eof | Category::Io => {
            return invalid("", &format!("not JSON: {}", clip(&message)));
        }
        Category::Data => message
            .rsplit_once(" at line ")
            .map_or(&*message, |(text, _)| text),
    };
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some(field) => {
            push(&mut pointer, field);
            invalid(&pointer, "is required")
        }
        None => invalid(&pointer, &clip(&expected(message))),
    }
}

/// What a value must be, said to whoever writes JSON.
fn expected(message: &str) -> Cow<'_, str> {
    let wanted = message
        .strip_prefix("invalid type: ")
        .and_then(|rest| rest.rsplit_once(", expected "));
    match wanted {
        Some((_found, "a map")) => "must be an object".into(),
        Some((_found, "a sequence")) => "must be an array".into(),
        Some((_found, wanted)) => format!("must be {wanted}").into(),
        None if message.starts_with("UUID parsing failed") => "must be an id".into(),
        None => message.into(),
    }
}

fn clip(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}

/// The JSON pointer of RFC 6901.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push(&mut pointer, &index.to_string()),
            Segment::Map { key } => push(&mut pointer, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

fn ignored_pointer(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;

    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => {
            let mut pointer = ignored_pointer(parent);
            push(&mut pointer, &index.to_string());
            pointer
        }
        Path::Map { parent, key } => {
            let mut pointer = ignored_pointer(parent);
            push(&mut pointer, key);
            pointer
        }
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => ignored_pointer(parent),
    }
}

fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}

/// True when a JSON text spells a NUL character, which not every database can
/// store.
fn has_nul(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        let escape = rest.get(at + 1..).unwrap_or_default();
        if escape.starts_with(b"u0000") {
            return true;
        }
        rest = escape.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod value_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::Value;
    use workforce_domain::text::Name;

    #[derive(Debug, Deserialize)]
    struct Body {
        name: Name,
        #[serde(default)]
        children: Vec<Self>,
        #[serde(default)]
        #[expect(dead_code, reason = "read by the parser only")]
        extra: Value,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Lenient {
        force: bool,
    }

    fn faults<T: DeserializeOwned + std::fmt::Debug>(body: &[u8]) -> String {
        let problem = parse::<T>(body).unwrap_err();
        assert_eq!(problem.code(), Code::InvalidJson);
        format!("{problem:?}")
    }

    fn assert_fault(body: &str, pointer: &str, message: &str) {
        let problem = faults::<Body>(body.as_bytes());
        assert!(
            problem.contains(&format!("String(\"{pointer}\")")),
            "{problem}"
        );
        assert!(problem.contains(message), "{problem}");
    }

    #[test]
    fn nothing_at_all_is_an_empty_object() {
        for body in ["", "  \r\n", "{}", r#"{"other": [1]}"#] {
            assert_eq!(
                parse::<Lenient>(body.as_bytes()).unwrap(),
                Lenient::default()
            );
        }
    }

    #[test]
    fn the_pointer_names_the_faulty_field() {
        assert_fault("{}", "/name", "is required");
        assert_fault(r#"{"name": 5}"#, "/name", "must be a string");
        assert_fault(r#"{"name": " "}"#, "/name", "must not be empty");
        assert_fault(
            r#"{"name":"a","children":[{"name":"b"},{}]}"#,
            "/children/1/name",
            "required",
        );
        for body in [r#"["a"]"#, r#""a""#, "null", "5", "-5", "0.5", "true"] {
            assert_fault(body, "", "must be an object");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for body in [
            &b"{"[..],
            b"{]",
            b"{} {}",
            b"\xff\xfe",
            b"{\"name\":\"\xc3\x28\"}",
            b"nul",
        ] {
            faults::<Body>(body);
        }
    }

    #[test]
    fn nul_is_refused_wherever_it_hides() {
        faults::<Body>(br#"{"name":"a","extra":{"deep":["\u0000"]}}"#);
        faults::<Body>(br#"{"name":"a","extra":{"\u0000":1}}"#);
        let escaped = parse::<Body>(br#"{"name":"a","extra":"\\u0000"}"#).unwrap();
        assert_eq!(&*escaped.name, "a");
        assert!(escaped.children.is_empty());
    }

    #[test]
    fn deep_nesting_and_long_quotes_are_bounded() {
        let deep = format!(
            r#"{{"name":"a","extra":{}1{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(faults::<Body>(deep.as_bytes()).len() < 1000);
        let long = format!(r#"{{"name":"a","children":"{}"}}"#, "x".repeat(1_000_000));
        assert!(faults::<Body>(long.as_bytes()).len() < 2000);
    }
}
