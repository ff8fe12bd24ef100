//! Texts that come in pieces.

use proptest::prelude::*;
use workforce_scrub::{Patterns, REDACTED};

const TOKEN: &str = "wfr_abc_secret";

fn in_pieces(patterns: &Patterns, pieces: &[&[u8]]) -> String {
    let mut stream = patterns.stream();
    let mut clean = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut clean);
    }
    stream.finish(&mut clean);
    String::from_utf8(clean).unwrap()
}

#[test]
fn a_value_is_removed_wherever_it_is_cut() {
    let patterns = Patterns::of([TOKEN, "wfr_abc_other"]);
    let text = format!("key=wwfr_wfr_abc_{TOKEN}; wfr_abc_other!");
    let expected = format!("key=wwfr_wfr_abc_{REDACTED}; {REDACTED}!");
    for cut in 0..=text.len() {
        let (one, other) = text.as_bytes().split_at(cut);
        assert_eq!(in_pieces(&patterns, &[one, other]), expected, "{cut}");
    }
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(in_pieces(&patterns, &bytes), expected);
}

#[test]
fn what_overlaps_goes_as_a_whole() {
    let patterns = Patterns::of(["abcdef", "defghi", "cdefgh"]);
    assert_eq!(
        patterns.scrub("xabcdefghiy").unwrap(),
        format!("x{REDACTED}y")
    );
    let patterns = Patterns::of(["abcdef", "bcdefabcdefgh"]);
    assert_eq!(
        patterns.scrub("abcdefabcdefghi").unwrap(),
        format!("{REDACTED}i")
    );
    assert_eq!(
        patterns.scrub("abcdefabcdef").unwrap(),
        format!("{REDACTED}{REDACTED}")
    );
}

#[test]
fn only_what_may_begin_a_value_is_held_back() {
    let mut stream = Patterns::of([TOKEN]).stream();
    let mut clean = Vec::new();
    stream.push(b"working on it... wfr_ab", &mut clean);
    assert_eq!(clean, b"working on it... ");
    stream.push(b"x", &mut clean);
    assert_eq!(clean, b"working on it... wfr_abx");
}

#[test]
fn a_text_full_of_beginnings_is_read_once() {
    let value = "a".repeat(1000) + "b";
    let patterns = Patterns::of([value.as_str()]);
    let text = "a".repeat(1 << 20);
    assert_eq!(patterns.scrub(&text), None);
    let mut stream = patterns.stream();
    let mut clean = Vec::new();
    for piece in text.as_bytes().chunks(7) {
        stream.push(piece, &mut clean);
    }
    stream.finish(&mut clean);
    assert_eq!(clean.len(), text.len());
}

#[test]
fn without_values_everything_passes() {
    assert_eq!(
        in_pieces(&Patterns::default(), &[b"any", b"thing"]),
        "anything"
    );
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        text in "[abc]{0,60}",
        values in proptest::collection::vec("[abc]{6,8}", 1..4),
        sizes in proptest::collection::vec(1_usize..7, 1..40),
    ) {
        let patterns = Patterns::of(values.iter().map(String::as_str));
        let mut pieces = Vec::new();
        let mut rest = text.as_bytes();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let whole = patterns.scrub(&text).unwrap_or_else(|| text.clone());
        prop_assert_eq!(in_pieces(&patterns, &pieces), whole);
    }

    #[test]
    fn every_byte_of_every_find_goes_and_no_other(
        text in "[abc]{0,40}",
        values in proptest::collection::vec("[abc]{6,8}", 1..4),
    ) {
        let patterns = Patterns::of(values.iter().map(String::as_str));
        let mut covered = vec![false; text.len()];
        for value in &values {
            for at in 0..text.len() {
                if text[at..].starts_with(value.as_str()) {
                    covered[at..at + value.len()].fill(true);
                }
            }
        }
        let kept: String = text
            .chars()
            .zip(&covered)
            .filter_map(|(character, covered)| (!covered).then_some(character))
            .collect();
        let clean = patterns.scrub(&text).unwrap_or(text);
        prop_assert_eq!(clean.replace(REDACTED, ""), kept);
    }
}
