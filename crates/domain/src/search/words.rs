//! How a text is cut into words.

use alloc::string::String;
use alloc::vec::Vec;

use super::Term;
use super::characters::{Kind, folded, kind};

/// Words are told apart by so many characters; what follows is not looked at.
pub(super) const MAX_WORD: usize = 64;
/// Words from this length on are found by their beginning as well.
const MIN_PREFIX: usize = 3;

/// A piece of a text that is looked up as such.
pub(super) enum Word<'a> {
    /// A run of letters and digits in a script that puts spaces between words.
    Spaced(&'a str),
    /// A run in a script that does not, or that changes the ends of words.
    Dense(&'a [char]),
    /// A single pictograph.
    Sign(char),
}

impl Word<'_> {
    /// The terms that a text with this piece has.
    pub(super) fn indexed(&self, emit: &mut dyn FnMut(&str)) {
        let mut buffer = [0; 4];
        match *self {
            Self::Spaced(word) => emit(word),
            Self::Sign(sign) => emit(sign.encode_utf8(&mut buffer)),
            Self::Dense(run) => {
                pairs(run, emit);
                if let Some(last) = run.last() {
                    emit(last.encode_utf8(&mut buffer));
                }
            }
        }
    }

    /// The terms that a text must have to be found by this piece.
    pub(super) fn asked(&self, emit: &mut dyn FnMut(Term)) {
        let mut term = |text: &str, prefix| {
            emit(Term {
                text: text.into(),
                prefix,
            });
        };
        let mut buffer = [0; 4];
        match *self {
            Self::Spaced(word) => term(word, word.chars().nth(MIN_PREFIX - 1).is_some()),
            Self::Sign(sign) => term(sign.encode_utf8(&mut buffer), false),
            // Every character begins a pair or ends its run.
            Self::Dense([single]) => term(single.encode_utf8(&mut buffer), true),
            Self::Dense(run) => pairs(run, &mut |pair| term(pair, false)),
        }
    }
}

fn pairs(run: &[char], emit: &mut dyn FnMut(&str)) {
    let mut pair = String::with_capacity(8);
    for two in run.windows(2) {
        pair.clear();
        pair.extend(two);
        emit(&pair);
    }
}

/// Cuts a text into words.
pub(super) fn each_word(text: &str, emit: &mut dyn FnMut(Word<'_>)) {
    // Most texts are plain, and to fold them takes longer than all the rest.
    if text.is_ascii() {
        cut(text.chars().map(|c| c.to_ascii_lowercase()), emit);
    } else {
        cut(folded(text), emit);
    }
}

fn cut(folded: impl Iterator<Item = char>, emit: &mut dyn FnMut(Word<'_>)) {
    let mut word = String::new();
    let mut word_length = 0;
    let mut run: Vec<char> = Vec::new();
    for c in folded {
        let kind = match kind(c) {
            Kind::Mark if !run.is_empty() => Kind::Dense,
            Kind::Mark if !word.is_empty() => Kind::Spaced,
            Kind::Mark => Kind::Between,
            other => other,
        };
        if kind != Kind::Spaced && !word.is_empty() {
            emit(Word::Spaced(&word));
            word.clear();
            word_length = 0;
        }
        if kind != Kind::Dense && !run.is_empty() {
            emit(Word::Dense(&run));
            run.clear();
        }
        match kind {
            Kind::Spaced if word_length < MAX_WORD => {
                word.push(c);
                word_length += 1;
            }
            Kind::Dense => run.push(c),
            Kind::Sign => emit(Word::Sign(c)),
            Kind::Spaced | Kind::Mark | Kind::Between => {}
        }
    }
    if !word.is_empty() {
        emit(Word::Spaced(&word));
    }
    if !run.is_empty() {
        emit(Word::Dense(&run));
    }
}
