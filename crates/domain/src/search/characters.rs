use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What a character is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Spaced,
    Dense,
    Sign,
    /// Goes with what it follows.
    Mark,
    Between,
}

pub(super) fn kind(c: char) -> Kind {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() {
            Kind::Spaced
        } else {
            Kind::Between
        };
    }
    if is_combining_mark(c) {
        return Kind::Mark;
    }
    if !c.is_alphanumeric() {
        return if is_pictograph(c) {
            Kind::Sign
        } else {
            Kind::Between
        };
    }
    if is_dense(c) {
        Kind::Dense
    } else {
        Kind::Spaced
    }
}

/// The text as it is compared: compatible forms decomposed, accents dropped,
/// lower case. Stream-safe: no run of marks costs more than its length.
pub(super) fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars()
        .stream_safe()
        .nfkd()
        .filter(|&c| !is_accent(c))
        .nfc()
        .flat_map(char::to_lowercase)
        // Lower case may bring an accent of its own.
        .filter(|&c| !is_accent(c))
        .map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Arrows, symbols and emoji; the five shades of skin belong to what they follow.
const fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Letters of scripts whose words no space separates, or whose words have
/// endings put directly after them: Thai to Tibetan, Burmese, Hangul, Khmer,
/// Kana, Bopomofo, Han.
const fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Accents of letters, which a search does not tell apart. Vowel signs and the
/// like of other scripts are no accents.
const fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}
