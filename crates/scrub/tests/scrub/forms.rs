//! Every spelling that is looked for.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use proptest::prelude::*;
use workforce_scrub::{Patterns, REDACTED};

const VALUES: [&str; 6] = [
    "hunter2",
    "p@ss/word+\"quoted\"\\and more",
    "söcret-ключ-密码",
    "two\nlines of a value\tand a tab",
    "~~>>??~~>>??",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
];

fn assert_gone(value: &str, spelling: &str) {
    let text = format!("before {spelling} after");
    let clean = Patterns::of([value]).scrub(&text);
    assert_eq!(
        clean.as_deref(),
        Some(format!("before {REDACTED} after").as_str()),
        "{spelling}"
    );
}

#[test]
fn a_value_is_found_as_it_is() {
    for value in VALUES {
        assert_gone(value, value);
    }
}

#[test]
fn a_value_is_found_in_base64() {
    for value in VALUES {
        for encoding in [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD] {
            assert_gone(value, &encoding.encode(value.as_bytes()));
        }
    }
}

#[test]
fn a_value_is_found_in_json() {
    for value in VALUES {
        let json = serde_json::to_string(value).unwrap();
        let inner = &json[1..json.len() - 1];
        assert_gone(value, inner);
        assert_gone(value, &inner.replace('/', "\\/"));
        let twice = serde_json::to_string(inner).unwrap();
        assert_gone(value, &twice[1..twice.len() - 1]);
    }
    assert_gone("söcret-ключ", "s\\u00f6cret-\\u043a\\u043b\\u044e\\u0447");
    assert_gone("söcret-ключ", "s\\u00F6cret-\\u043A\\u043B\\u044E\\u0447");
    assert_gone("key 🔑 here", "key \\ud83d\\udd11 here");
    // As Go, PHP and C# write it.
    assert_gone("a<b>&c'd+e", "a\\u003cb\\u003e\\u0026c'd+e");
    assert_gone("ä<b>&c'd+e", "\\u00e4\\u003cb\\u003e\\u0026c'd+e");
    assert_gone("a<b>&c'd+e", "a\\u003Cb\\u003E\\u0026c\\u0027d\\u002Be");
}

#[test]
fn a_value_is_found_in_urls() {
    assert_gone("p@ss/word +x", "p%40ss%2Fword%20%2Bx");
    assert_gone("p@ss/word +x", "p%40ss%2fword%20%2bx");
    // As Python, Go and Java write it.
    assert_gone("p@ss/word +x~", "p%40ss/word%20%2Bx~");
    assert_gone("p@ss/word +x~", "p@ss%2Fword%20+x~");
    assert_gone("p@ss/word +x~", "p%40ss%2Fword+%2Bx%7E");
    assert_gone("p@ss/word +x", "p%40ss%2Fword+%2Bx");
    assert_gone("p@ss/word x!", "p@ss/word%20x!");
    assert_gone("(p@ss)!word", "(p%40ss)!word");
    assert_gone("schlüssel", "schl%C3%BCssel");
}

#[test]
fn a_value_is_found_as_the_echo_of_a_shell_writes_it() {
    assert_gone("three\\four\\\\new", "three\u{c}our\\new");
    assert_gone("three\\four \"five\"", "three\\four \\\"five\\\"");
}

#[test]
fn short_values_are_left_alone() {
    let patterns = Patterns::of(["", "a", "12345", "äöüßé"]);
    assert_eq!(patterns.scrub("a 12345 äöüßé"), None);
}

#[test]
fn a_long_value_is_found_piece_by_piece() {
    let value: String = (0..9000_u32)
        .map(|n| char::from(b'a' + (n * n % 26) as u8))
        .collect();
    let patterns = Patterns::of([value.as_str()]);
    let markers = |text: &str| patterns.scrub(text).unwrap().replace(REDACTED, "");
    assert_eq!(markers(&format!("<{value}>")), "<>");
    let encoded = BASE64.encode(value.as_bytes());
    assert_eq!(markers(&format!("<{encoded}>")), "<>");
}

#[test]
fn a_long_value_is_found_in_lines_of_base64_and_by_its_own_lines() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\
               BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n";
    let patterns = Patterns::of([key]);
    let clean = patterns
        .scrub("  MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\r\n  BKcw")
        .unwrap();
    assert_eq!(clean, format!("  {REDACTED}\r\n  BKcw"));
    assert_eq!(patterns.scrub("-----BEGIN PRIVATE KEY-----"), None);
    for width in [76, 64] {
        let encoded = BASE64.encode(key.as_bytes());
        let lines: Vec<&str> = encoded
            .as_bytes()
            .chunks(width)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        for line in &lines[..lines.len() - 1] {
            assert!(!patterns.scrub(&lines.join("\n")).unwrap().contains(line));
        }
    }
}

proptest! {
    #[test]
    fn a_value_inside_of_longer_base64_leaves_at_most_its_edges(
        before in proptest::collection::vec(any::<u8>(), 0..9),
        value in "[ -~]{8,40}",
        after in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let whole = [before.as_slice(), value.as_bytes(), &after].concat();
        let clean = Patterns::of([value.as_str()]).scrub(&BASE64.encode(&whole));
        prop_assert!(clean.is_some_and(|clean| clean.contains(REDACTED)));
    }

    #[test]
    fn nothing_of_a_text_is_lost_but_the_values(text in "[ab]{0,40}", value in "[ab]{6,9}") {
        let clean = Patterns::of([value.as_str()]).scrub(&text);
        match clean {
            None => prop_assert!(!text.contains(&value)),
            Some(clean) => {
                prop_assert!(!clean.contains(&value));
                let rest: Vec<&str> = clean.split(REDACTED).collect();
                prop_assert!(text.starts_with(rest[0]) && text.ends_with(rest[rest.len() - 1]));
            }
        }
    }
}
