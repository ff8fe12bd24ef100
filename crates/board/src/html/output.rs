//! What programs write, as text that stands between tags.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;

/// Text of a program, without the colours and other signs for terminals that it may hold.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct Output(String);

impl HtmlSafe for Output {}

impl Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_str();
        while let Some(place) = rest.find(['&', '<', '>']) {
            let (before, after) = rest.split_at(place);
            f.write_str(before)?;
            let mut after = after.chars();
            f.write_str(match after.next() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                _ => "&gt;",
            })?;
            rest = after.as_str();
        }
        f.write_str(rest)
    }
}

impl Output {
    pub(crate) fn new(text: &str) -> Self {
        Self(plain(text))
    }

    /// At most so many bytes of a text, and how many bytes are left out.
    pub(crate) fn cut(text: &str, longest: usize) -> (Self, usize) {
        let (begin, left) = text.split_at(text.floor_char_boundary(longest));
        (Self::new(begin), left.len())
    }

    /// The text itself, which is no markup.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// How long it is as markup.
    pub(crate) fn weight(&self) -> usize {
        self.0.chars().map(weight).sum()
    }
}

/// Where the end of a text begins that has at most so many lines and is at most so heavy as
/// markup.
pub(crate) fn tail(text: &str, most_lines: usize, heaviest: usize) -> usize {
    let (mut lines, mut heavy) = (0, 0);
    for (place, c) in text.char_indices().rev() {
        heavy += weight(c);
        // The break that ends the last line begins none.
        lines += usize::from(c == '\n' && place + 1 < text.len());
        if heavy > heaviest || lines >= most_lines {
            return place + c.len_utf8();
        }
    }
    0
}

/// How long a character is as markup.
const fn weight(c: char) -> usize {
    match c {
        '&' => 5,
        '<' | '>' => 4,
        c => c.len_utf8(),
    }
}

const ESCAPE: char = '\u{1b}';

/// The same text without what is meant for terminals, and with what could hide or turn around
/// other text made visible.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ESCAPE => skip_sequence(&mut rest),
            '\u{9b}' => skip_control(&mut rest),
            '\r' if rest.as_str().starts_with('\n') => {}
            '\r' => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                plain.push(char::REPLACEMENT_CHARACTER);
            }
            c if c.is_control() => plain.push(char::REPLACEMENT_CHARACTER),
            c => plain.push(c),
        }
    }
    plain
}

/// Skips what follows an escape. A text to the terminal ends with its line at the latest, so that
/// it hides no other one.
fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    let mut after = rest.clone();
    match after.next() {
        Some('[') => {
            *rest = after;
            skip_control(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let line = after.as_str();
            let end = line.find(['\u{7}', ESCAPE, '\n']).unwrap_or(line.len());
            let ended = line.split_at(end).1;
            let ended = ended.strip_prefix('\u{7}').unwrap_or(ended);
            *rest = ended.strip_prefix("\u{1b}\\").unwrap_or(ended).chars();
        }
        Some(c) if c.is_ascii_graphic() => *rest = after,
        _ => {}
    }
}

/// Skips the parameters of a control sequence and the character that ends it.
fn skip_control(rest: &mut std::str::Chars<'_>) {
    let text = rest.as_str();
    let end = text.find(|c| !matches!(c, ' '..='?')).unwrap_or(text.len());
    let after = text.split_at(end).1;
    let ended = after.strip_prefix(|c| matches!(c, '@'..='~'));
    *rest = ended.unwrap_or(after).chars();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_for_terminals_is_left_out() {
        for (text, expected) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}a", "a"),
            ("\u{1b}]8;;http://x\u{1b}\\a", "a"),
            ("\u{1b}]0;never ended\nsecond", "\nsecond"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("a\r\nb\rc", "a\nb\nc"),
            ("\u{202e}a\u{0}", "\u{fffd}a\u{fffd}"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}(Ba", "Ba"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_markup() {
        let output = Output::new("</pre><script>&amp;");
        let markup = output.to_string();
        assert_eq!(markup, "&lt;/pre&gt;&lt;script&gt;&amp;amp;");
        assert_eq!(output.weight(), markup.len());
    }

    #[test]
    fn the_end_of_a_text_is_as_long_as_it_may_be() {
        for (text, lines, heaviest, expected) in [
            ("a\nb\nc\n", 2, 100, "b\nc\n"),
            ("a\nb\nc", 2, 100, "b\nc"),
            ("aaaa", 9, 2, "aa"),
            ("a&&", 9, 10, "&&"),
            ("aéé", 9, 3, "é"),
            ("abc", 9, 9, "abc"),
            ("", 9, 9, ""),
        ] {
            assert_eq!(&text[tail(text, lines, heaviest)..], expected, "{text:?}");
        }
    }
}
