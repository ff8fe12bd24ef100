//! A text folded for comparison, and what may stand around a mention in it.

use alloc::string::String;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::id::AgentId;

/// Whether every letter of a name so far is a Latin one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Other,
}

impl Script {
    pub(super) fn with(self, c: char) -> Self {
        if c.is_alphabetic() && !is_latin(c) {
            Self::Other
        } else {
            self
        }
    }
}

/// A folded text.
pub(super) struct Text {
    pub(super) chars: Vec<char>,
}

impl Text {
    pub(super) const fn new(chars: Vec<char>) -> Self {
        Self { chars }
    }

    pub(super) fn before(&self, at: usize) -> Option<char> {
        at.checked_sub(1)
            .and_then(|before| self.chars.get(before))
            .copied()
    }

    /// True when the `@` at `at` may be that of a mail address: a letter of a script that addresses
    /// are written in comes before it, or a digit. Scripts without blanks, and those that put
    /// particles before a name, have letters there as well.
    pub(super) fn is_in_address(&self, at: usize, work: &mut dyn FnMut(usize)) -> bool {
        let mut before = self.chars[..at].iter().rev().inspect(|_| work(1));
        let letter = before.find(|&&c| !is_combining_mark(c));
        letter.is_some_and(|&c| c == '_' || c.is_numeric() || is_of_addresses(c))
    }

    /// True when a name of `script` may end at `end`: what follows belongs to
    /// no word, or is the ending that a language of another script puts
    /// directly after a Latin name.
    pub(super) fn ends_name(&self, end: usize, script: Script) -> bool {
        self.chars.get(end).is_none_or(|&next| {
            !is_word(next) || (script == Script::Latin && next.is_alphabetic() && !is_latin(next))
        })
    }

    /// The `]` after `at`, if no `[` comes before it. Since labels start with
    /// a `[`, no part of the text is read for two of them.
    pub(super) fn label_end(&self, at: usize, work: &mut dyn FnMut(usize)) -> Option<usize> {
        let mut places = self.chars.iter().enumerate().skip(at);
        let (end, &bracket) = places.find(|(_, c)| {
            work(1);
            matches!(c, '[' | ']')
        })?;
        (bracket == ']').then_some(end)
    }

    /// Reads `](agent://id)` or `](agent://id?...)` at `close`; the id and
    /// where the text goes on.
    pub(super) fn agent_target(
        &self,
        close: usize,
        work: &mut dyn FnMut(usize),
    ) -> Option<(AgentId, usize)> {
        const OPENING: &str = "](agent://";
        const ID_LENGTH: usize = 36;
        const MAX_QUERY: usize = 64;
        work(OPENING.len());
        let id_start = close + OPENING.len();
        let opening = self.chars.get(close..id_start)?;
        if !opening.iter().copied().eq(OPENING.chars()) {
            return None;
        }
        work(ID_LENGTH);
        let id_end = id_start + ID_LENGTH;
        let id: String = self.chars.get(id_start..id_end)?.iter().collect();
        let id = id.parse().ok()?;
        let length = match self.chars.get(id_end)? {
            ')' => 0,
            '?' => self.chars[id_end..]
                .iter()
                .take(MAX_QUERY)
                .position(|&c| c == ')')?,
            _ => return None,
        };
        work(length);
        Some((id, id_end + length + 1))
    }
}

/// Compatibility composition and lower case, so that what looks alike compares
/// alike. Stream-safe: no run of combining marks costs more than its length.
pub(super) fn fold(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars()
        .stream_safe()
        .nfkc()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            'ς' => 'σ',
            other => other,
        })
}

/// Spaces, hyphens and underscores compare alike.
pub(super) const fn key(c: char) -> char {
    match c {
        '-' | '_' => ' ',
        other => other,
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// True for letters of the scripts that mail addresses are written in: Latin, Greek, Cyrillic and
/// Armenian.
const fn is_of_addresses(c: char) -> bool {
    is_latin(c) || matches!(c, '\u{370}'..='\u{58f}' | '\u{1f00}'..='\u{1fff}')
}

/// True for letters of the Latin script that compatibility composition leaves.
const fn is_latin(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'A'..='Z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}'
        | '\u{1d00}'..='\u{1d25}' | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{a722}'..='\u{a787}' | '\u{a78b}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab64}')
}
