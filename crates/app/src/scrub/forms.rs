//! The spellings in which a value may turn up in a text: as it is, and in
//! base64, URL encoding and JSON escapes.

use std::collections::BTreeSet;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding};

/// Shorter texts are found everywhere by chance.
pub(super) const SHORTEST: usize = 6;
/// A line of a value is looked for by itself from this length on.
const SHORTEST_LINE: usize = 8;
/// Longer values are looked for in pieces of this length, which also lie on
/// the borders of base64.
const PIECE: usize = 1023;
/// Bytes in a line of base64 as mail and PEM break it: 76 and 64 characters.
const LINES_OF_BASE64: [usize; 2] = [57, 48];

/// The value itself: in pieces when it is long, and its lines.
pub(super) fn plain(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    forms.extend(pieces(value).map(|piece| piece.as_bytes().to_vec()));
    if value.trim_end().contains('\n') {
        let lines = value.lines().map(str::trim);
        // The borders of PEM are the same for everyone.
        let own = lines.filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"));
        forms.extend(own.map(|line| line.as_bytes().to_vec()));
    }
    forms
}

/// Every other spelling of the value.
pub(super) fn encoded(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    for piece in pieces(value) {
        if piece.contains('\\') {
            forms.insert(echoed(piece).into_bytes());
        }
        json(piece, &mut forms);
        url(piece, &mut forms);
        base64(piece.as_bytes(), &mut forms);
    }
    for length in LINES_OF_BASE64 {
        if value.len() > length {
            for line in value.as_bytes().chunks(length) {
                forms.insert(BASE64_NOPAD.encode(line).into_bytes());
            }
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // No rest is so short that it would be left out.
        let end = if rest.len() <= PIECE + SHORTEST {
            rest.len()
        } else {
            rest.floor_char_boundary(PIECE)
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// As JSON writes it, also with everything but ASCII escaped, with what HTML
/// gives a meaning to, with `/` escaped, and once more within a text that is
/// JSON itself.
fn json(value: &str, forms: &mut BTreeSet<Vec<u8>>) {
    let usual = escaped(value, |_| false);
    if usual.contains('\\') {
        forms.insert(echoed(&usual).into_bytes());
    }
    forms.insert(escaped(&usual, |_| false).into_bytes());
    forms.insert(usual.replace('/', "\\/").into_bytes());
    let beyond_ascii = |c: char| !c.is_ascii();
    let markup = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    let quoted = |c: char| markup(c) || matches!(c, '\'' | '+' | '`');
    for form in [
        escaped(value, beyond_ascii),
        escaped(value, markup),
        escaped(value, |c| beyond_ascii(c) || markup(c)),
        escaped(value, |c| beyond_ascii(c) || quoted(c)),
    ] {
        if form != usual {
            forms.insert(form.to_ascii_lowercase_escapes().into_bytes());
            forms.insert(form.into_bytes());
        }
    }
    forms.insert(usual.into_bytes());
}

fn escaped(value: &str, by_number: impl Fn(char) -> bool) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            other if other < ' ' || by_number(other) => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04X}"));
                }
            }
            other => text.push(other),
        }
    }
    text
}

/// What the `echo` of many shells makes of a text with backslashes.
fn echoed(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = match (character, characters.peek()) {
            ('\\', Some('\\')) => '\\',
            ('\\', Some('a')) => '\u{7}',
            ('\\', Some('b')) => '\u{8}',
            ('\\', Some('f')) => '\u{c}',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('t')) => '\t',
            ('\\', Some('v')) => '\u{b}',
            (other, _) => {
                text.push(other);
                continue;
            }
        };
        characters.next();
        text.push(meant);
    }
    text
}

/// Escapes by number are written in either case.
trait LowercaseEscapes {
    fn to_ascii_lowercase_escapes(&self) -> String;
}

impl LowercaseEscapes for String {
    fn to_ascii_lowercase_escapes(&self) -> String {
        let mut text = Self::with_capacity(self.len());
        let mut rest = self.as_str();
        while let Some(at) = rest.find('\\') {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            // An escape is `\` and one character, or `\u` and four digits.
            let length = if from.starts_with("\\u") { 6 } else { 2 };
            let (escape, after) = from.split_at(length.min(from.len()));
            text.push_str(&escape.to_ascii_lowercase());
            rest = after;
        }
        text.push_str(rest);
        text
    }
}

/// Percent signs with digits in either case, for what a URL may not hold, for
/// what `encodeURIComponent` leaves, and as forms are sent.
fn url(value: &str, forms: &mut BTreeSet<Vec<u8>>) {
    /// What the functions of common languages leave as it is: RFC 3986, a path,
    /// a part of a path, a form, and the two of JavaScript.
    const KEPT: [&str; 6] = [
        "-._~",
        "-._~/",
        "-._~$&+=:@",
        "-._*",
        "-._~!'()*",
        "-._~!'()*;/?:@&=+$,#",
    ];
    for kept in KEPT {
        for upper in [true, false] {
            let text = percent(value, kept, upper);
            if text.contains("%20") {
                forms.insert(text.replace("%20", "+").into_bytes());
            }
            forms.insert(text.into_bytes());
        }
    }
}

fn percent(value: &str, kept: &str, upper: bool) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            text.push(byte.into());
        } else if upper {
            text.push_str(&format!("%{byte:02X}"));
        } else {
            text.push_str(&format!("%{byte:02x}"));
        }
    }
    text
}

/// In both alphabets, by itself, and within a longer text wherever it begins:
/// of three bytes four characters are made, so that there are three places
/// where it can begin.
fn base64(bytes: &[u8], forms: &mut BTreeSet<Vec<u8>>) {
    for (padded, bare) in [(&BASE64, &BASE64_NOPAD), (&BASE64URL, &BASE64URL_NOPAD)] {
        forms.insert(padded.encode(bytes).into_bytes());
        forms.insert(bare.encode(bytes).into_bytes());
        for before in 0..3 {
            forms.insert(within(bytes, before, bare));
        }
    }
}

/// The characters that depend on the value alone when so many bytes stand
/// before it.
fn within(bytes: &[u8], before: usize, encoding: &Encoding) -> Vec<u8> {
    let shifted = [&[0; 3][..before], bytes].concat();
    let text = encoding.encode(&shifted).into_bytes();
    let first = (before * 8).div_ceil(6);
    let end = shifted.len() * 8 / 6;
    text.get(first..end).unwrap_or_default().to_vec()
}
