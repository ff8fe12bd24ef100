//! The spellings in which a value may turn up in a text: as it is, and in
//! base64 and URL encoding. JSON escapes are taken back before it is looked for.

use std::collections::BTreeSet;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding};

use super::escapes::Escapes;

/// Shorter texts are found everywhere by chance.
pub(super) const SHORTEST: usize = 6;
/// A line of a value is looked for by itself from this length on.
const SHORTEST_LINE: usize = 8;
/// Longer values are looked for in pieces of this length, which also lie on
/// the borders of base64.
const PIECE: usize = 1023;
/// Bytes in a line of base64 as mail and PEM break it: 76 and 64 characters.
const LINES_OF_BASE64: [usize; 2] = [57, 48];
/// Base64 is also searched for without its first one or two characters, which may
/// stand on the line before.
pub(super) const LEAVING_OUT: usize = 2;

/// The value itself: in pieces when it is long, and its lines.
pub(super) fn plain(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    forms.extend(pieces(value).map(|piece| piece.as_bytes().to_vec()));
    forms.extend(own_lines(value).map(|line| line.as_bytes().to_vec()));
    forms
}

/// The value as [`Escapes`] reads it: escapes taken back, backslashes left out.
/// It is read twice, the second time after a backslash, which may change its
/// first character. In pieces and by lines, like [`plain`].
pub(super) fn meant(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    let backslash_before = format!("\\{value}");
    for text in [value, &backslash_before] {
        let meant = Escapes::taken_back(text);
        forms.extend(pieces(&meant).map(|piece| piece.as_bytes().to_vec()));
    }
    let lines = own_lines(value).map(Escapes::taken_back);
    forms.extend(lines.map(String::into_bytes));
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// The value in URL encoding and in lines of base64. One that is too short to
/// look for once its backslashes are left out is also looked for as JSON spells
/// it.
pub(super) fn encoded(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    for piece in pieces(value) {
        url(piece, &mut forms);
    }
    if Escapes::taken_back(value).len() < SHORTEST {
        let once = value.replace('\\', "\\\\").replace('"', "\\\"");
        let twice = once.replace('\\', "\\\\").replace('"', "\\\"");
        forms.extend([once, twice].map(String::into_bytes));
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

/// The value in both alphabets of base64, alone and within a longer text.
/// Base64 makes four characters of three bytes, so within a text there are
/// three places where a value can begin.
pub(super) fn base64(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    for piece in pieces(value) {
        let bytes = piece.as_bytes();
        for (padded, bare) in [(&BASE64, &BASE64_NOPAD), (&BASE64URL, &BASE64URL_NOPAD)] {
            forms.insert(padded.encode(bytes).into_bytes());
            forms.insert(bare.encode(bytes).into_bytes());
            for before in 0..3 {
                forms.insert(within(bytes, before, bare));
            }
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// The forms of [`base64`] without their first one or two characters.
pub(super) fn base64_begun(value: &str) -> BTreeSet<Vec<u8>> {
    base64(value)
        .iter()
        .flat_map(|form| (1..=LEAVING_OUT).filter_map(|left_out| form.get(left_out..)))
        .filter(|form| form.len() + 1 >= SHORTEST)
        .map(<[u8]>::to_vec)
        .collect()
}

/// The lines of a value that has several, without the borders of PEM, which
/// are the same for everyone.
fn own_lines(value: &str) -> impl Iterator<Item = &str> {
    let has_several = value.trim_end().contains('\n');
    let lines = value.lines().map(str::trim).filter(move |_| has_several);
    lines.filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"))
}

fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The last piece must not be too short to look for.
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

/// The value in every usual percent encoding, with digits in either case, and
/// with `+` for a blank, as forms send it.
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

/// The characters of base64 that depend on the value alone, when `before` other
/// bytes stand before it.
fn within(bytes: &[u8], before: usize, encoding: &Encoding) -> Vec<u8> {
    let shifted = [&[0; 3][..before], bytes].concat();
    let text = encoding.encode(&shifted).into_bytes();
    let first = (before * 8).div_ceil(6);
    let end = shifted.len() * 8 / 6;
    text.get(first..end).unwrap_or_default().to_vec()
}
