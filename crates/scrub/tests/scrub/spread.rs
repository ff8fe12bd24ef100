//! Values that a line break or escapes upon escapes spread over a text.

use data_encoding::BASE64;
use proptest::prelude::*;
use workforce_scrub::{Patterns, REDACTED};

/// As JSON writes it that is ASCII alone.
fn ascii_json(value: &str, is_upper: bool) -> String {
    let usual = serde_json::to_string(value).unwrap();
    let mut text = String::new();
    for character in usual[1..usual.len() - 1].chars() {
        let mut units = [0; 2];
        if character.is_ascii() {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            text.push_str(&if is_upper {
                format!("\\u{unit:04X}")
            } else {
                format!("\\u{unit:04x}")
            });
        }
    }
    text
}

/// The same text as it stands within JSON, so many times over.
fn nested(text: &str, times: usize) -> String {
    (0..times).fold(text.to_owned(), |text, _| {
        let json = serde_json::to_string(&text).unwrap();
        json[1..json.len() - 1].to_owned()
    })
}

/// Base64 in lines of this width.
fn in_lines(bytes: &[u8], width: usize, end: &str) -> String {
    let encoded = BASE64.encode(bytes);
    let lines = encoded.as_bytes().chunks(width);
    lines
        .map(|line| String::from_utf8_lossy(line) + end)
        .collect()
}

/// How many characters in a row are left of those that base64 makes of the
/// value alone, which stands after `before` bytes of the whole.
fn longest_rest(whole: &[u8], before: usize, value: &str, clean: &str, end: &str) -> usize {
    let encoded = BASE64.encode(whole);
    let first = (before * 8).div_ceil(6);
    let last = (before + value.len()) * 8 / 6;
    let own = &encoded[first..last];
    let clean = clean.replace(REDACTED, "!").replace(end, "");
    let is_left = |length: usize| {
        let starts = 0..=own.len().saturating_sub(length);
        starts
            .filter_map(|start| own.get(start..start + length))
            .any(|part| clean.contains(part))
    };
    (1..=own.len())
        .take_while(|&length| is_left(length))
        .count()
}

fn in_pieces(patterns: &Patterns, text: &str, sizes: &[usize]) -> String {
    let mut stream = patterns.stream();
    let mut clean = Vec::new();
    let mut rest = text.as_bytes();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        stream.push(piece, &mut clean);
        rest = after;
    }
    stream.finish(&mut clean);
    String::from_utf8(clean).unwrap()
}

#[test]
fn a_value_is_found_in_lines_of_base64_wherever_a_line_ends_in_it() {
    let value = "correct-horse:battery?staple~0815";
    let patterns = Patterns::of([value]);
    for width in [76, 64] {
        for end in ["\n", "\r\n", "\\n", "\\r\\n", "\\\\r\\\\n", "\n    "] {
            for before in 0..120 {
                let whole = [
                    ".".repeat(before).as_bytes(),
                    value.as_bytes(),
                    b"\nHOME=/home/ada\nPATH=/usr/local/bin:/usr/bin:/bin\n",
                ]
                .concat();
                let clean = patterns.scrub(&in_lines(&whole, width, end)).unwrap();
                let rest = longest_rest(&whole, before, value, &clean, end);
                assert!(rest <= 3, "{width} {end:?} {before}: {clean}");
            }
        }
    }
}

#[test]
fn a_value_is_found_however_often_it_is_escaped() {
    for value in [
        "schlüssel",
        "söcret-ключ-密码",
        "key 🔑 \"here\"\tü\\nö",
        "nächtlich",
    ] {
        let patterns = Patterns::of([value]);
        for is_upper in [false, true] {
            for times in 0..4 {
                let spelling = nested(&ascii_json(value, is_upper), times);
                for before in ["so ", "C:\\\\", "\\n", "\\\\n", "\""] {
                    let clean = patterns.scrub(&format!("{before}{spelling} it is"));
                    let clean = clean.unwrap_or_else(|| panic!("{before}{spelling}"));
                    let rest = clean.replace(REDACTED, "!");
                    assert!(rest.ends_with("! it is"), "{spelling}: {clean}");
                    assert!(
                        before.starts_with(rest.split('!').next().unwrap()),
                        "{clean}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_end_of_a_line_is_not_held_back() {
    let values: Vec<String> = (0..50)
        .map(|n: u32| BASE64.encode(&n.wrapping_mul(2_654_435_761).to_le_bytes().repeat(3)))
        .collect();
    let patterns = Patterns::of(values.iter().map(String::as_str));
    let mut stream = patterns.stream();
    let mut clean = Vec::new();
    for line in ["working on it\n", "Waiting\r\n", "{\"text\":\"done\\n\"}\n"] {
        clean.clear();
        stream.push(line.as_bytes(), &mut clean);
        assert_eq!(String::from_utf8_lossy(&clean), line);
    }
}

#[test]
fn what_never_ends_is_not_held_back_for_ever() {
    let patterns = Patterns::of(["correct-horse"]);
    for endless in ["\n", "\\", "\\\\n", " ", "\\ud83d"] {
        let mut stream = patterns.stream();
        let mut clean = Vec::new();
        let begun = BASE64.encode(b"correct-h");
        stream.push(begun.as_bytes(), &mut clean);
        for _ in 0..10_000 {
            stream.push(endless.as_bytes(), &mut clean);
        }
        let all = begun.len() + 10_000 * endless.len();
        assert!(clean.len() > all - 1000, "{endless:?}: {}", clean.len());
    }
}

proptest! {
    #[test]
    fn no_line_break_hides_a_value(
        before in proptest::collection::vec(any::<u8>(), 0..150),
        value in "[!-~]{6,100}",
        after in proptest::collection::vec(any::<u8>(), 0..150),
        width in 60_usize..80,
        end in prop_oneof!["\n", "\r\n"],
        sizes in proptest::collection::vec(1_usize..200, 1..20),
    ) {
        let patterns = Patterns::of([value.as_str()]);
        let whole = [before.as_slice(), value.as_bytes(), &after].concat();
        let text = in_lines(&whole, width, &end);
        let clean = in_pieces(&patterns, &text, &sizes);
        prop_assert!(longest_rest(&whole, before.len(), &value, &clean, &end) <= 4, "{}", clean);
        prop_assert_eq!(patterns.scrub(&text), Some(clean));
    }

    #[test]
    fn no_number_of_escapes_hides_a_value(
        value in "\\PC{5,20}[a-z]{6}",
        times in 0_usize..4,
        is_upper: bool,
        sizes in proptest::collection::vec(1_usize..20, 1..20),
    ) {
        let patterns = Patterns::of([value.as_str()]);
        let spelling = nested(&ascii_json(&value, is_upper), times);
        let text = format!("so {spelling} it is");
        let clean = in_pieces(&patterns, &text, &sizes);
        prop_assert_eq!(clean, format!("so {REDACTED} it is"));
    }

    #[test]
    fn pieces_make_no_difference_whatever_is_escaped(
        text in "[ab\\\\un0d8\n=]{0,60}",
        values in proptest::collection::vec("[ab\\\\un0d8]{6,8}", 1..4),
        sizes in proptest::collection::vec(1_usize..7, 1..20),
    ) {
        let patterns = Patterns::of(values.iter().map(String::as_str));
        let whole = patterns.scrub(&text).unwrap_or_else(|| text.clone());
        prop_assert_eq!(in_pieces(&patterns, &text, &sizes), whole);
    }
}
