//! Words of texts: how the texts of issues are cut into terms that a store
//! indexes, and what a caller types into terms that it looks up
//! (docs/issues.md#search).
//!
//! One function cuts both, so that every text is found by each of its words, on
//! every database. The work is linear in the text (docs/access.md#limits), and
//! nothing that is typed has a meaning other than its words.

mod characters;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use uuid::Uuid;

use self::characters::{Kind, folded, kind};
use crate::id::CompanyId;
use crate::issue::Issue;
use crate::text::TextError;

/// Words are told apart by so many characters; what follows is not looked at.
const MAX_WORD: usize = 64;
/// Words from this length on are found by their beginning as well.
const MIN_PREFIX: usize = 3;
/// The terms of one text take so many bytes at most, which is more than the
/// longest description in any language has; what follows is not indexed.
const MAX_TERM_BYTES: usize = 1_000_000;

/// Where in an issue a term stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// In its identifier.
    Identifier,
    /// In its title or identifier.
    Title,
    /// Anywhere in its text.
    Text,
}

impl Field {
    const fn letter(self) -> char {
        match self {
            Self::Identifier => 'i',
            Self::Title => 't',
            Self::Text => 'w',
        }
    }
}

/// A term that a text must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Letters, digits and pictographs; never empty, no space, no sign that a
    /// database could take for its own.
    pub text: String,
    /// Whether terms that begin with it do as well.
    pub prefix: bool,
}

impl Term {
    /// The term as an index of many companies knows it.
    #[must_use]
    pub fn within(&self, company: CompanyId, field: Field) -> Self {
        let mut text = start_of(company, field);
        text.push_str(&self.text);
        Self {
            text,
            prefix: self.prefix,
        }
    }
}

/// What a caller looks for in the issues of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    terms: Vec<Term>,
    identifier: Option<Identifier>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Identifier {
    name: String,
    term: Term,
}

impl SearchQuery {
    /// The longest text that may be looked for, in characters.
    pub const MAX: usize = 500;
    /// So many different terms are looked up; the rest is ignored.
    pub const MAX_TERMS: usize = 64;

    /// Reads what a caller typed. Text without any word finds nothing.
    ///
    /// # Errors
    /// When it is too long.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        if text.len() > Self::MAX * 4 || text.chars().count() > Self::MAX {
            return Err(TextError::TooLong {
                max: Self::MAX,
                unit: "characters",
            });
        }
        let mut terms: Vec<Term> = Vec::new();
        let mut seen = BTreeSet::new();
        each_word(text, &mut |word| {
            word.asked(&mut |term| {
                if terms.len() < Self::MAX_TERMS && seen.insert(term.clone()) {
                    terms.push(term);
                }
            });
        });
        Ok(Self {
            terms,
            identifier: identifier(text),
        })
    }

    /// The terms that an issue must have, each once.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The identifier that was typed, in upper case, if it may be one.
    pub fn identifier(&self) -> Option<&str> {
        self.identifier.as_ref().map(|it| it.name.as_str())
    }

    /// The term that identifiers with this beginning have.
    pub fn identifier_term(&self) -> Option<&Term> {
        self.identifier.as_ref().map(|it| &it.term)
    }
}

/// Reads `ABC-1` as the beginning of an identifier.
fn identifier(text: &str) -> Option<Identifier> {
    let (prefix, number) = text.trim().rsplit_once('-')?;
    let well_formed = (1..=12).contains(&prefix.len())
        && prefix.bytes().all(|b| b.is_ascii_alphanumeric())
        && (1..=18).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit());
    well_formed.then(|| {
        let name = alloc::format!("{prefix}-{number}");
        Identifier {
            term: Term {
                text: identifier_word(&name),
                prefix: true,
            },
            name: name.to_ascii_uppercase(),
        }
    })
}

/// An identifier as one word: with a dot where texts have no letter.
fn identifier_word(identifier: &str) -> String {
    identifier.to_ascii_lowercase().replace('-', "\u{b7}")
}

/// The terms of an issue's own text, separated by spaces: its identifier,
/// title and description.
pub fn issue_terms(issue: &Issue) -> String {
    let description = issue.description.as_deref();
    own_terms(issue.company, &issue.identifier, &issue.title, description)
}

/// As [`issue_terms`], of its parts.
pub fn own_terms(
    company: CompanyId,
    identifier: &str,
    title: &str,
    description: Option<&str>,
) -> String {
    let mut terms = Terms::default();
    terms.add(company, Field::Identifier, &identifier_word(identifier));
    for text in [identifier, title] {
        terms.add_text(company, Field::Title, text);
        terms.add_text(company, Field::Text, text);
    }
    terms.add_text(company, Field::Text, description.unwrap_or_default());
    terms.joined()
}

/// The terms of a comment, separated by spaces.
pub fn comment_terms(company: CompanyId, body: &str) -> String {
    let mut terms = Terms::default();
    terms.add_text(company, Field::Text, body);
    terms.joined()
}

/// The different terms of a text.
#[derive(Default)]
struct Terms {
    all: BTreeSet<String>,
    bytes: usize,
}

impl Terms {
    fn add_text(&mut self, company: CompanyId, field: Field, text: &str) {
        each_word(text, &mut |word| {
            word.indexed(&mut |term| self.add(company, field, term));
        });
    }

    fn add(&mut self, company: CompanyId, field: Field, term: &str) {
        let mut text = start_of(company, field);
        text.push_str(term);
        if self.bytes + text.len() < MAX_TERM_BYTES {
            let length = text.len() + 1;
            if self.all.insert(text) {
                self.bytes += length;
            }
        }
    }

    fn joined(self) -> String {
        let mut joined = String::with_capacity(self.bytes);
        for term in self.all {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(&term);
        }
        joined
    }
}

/// How the terms of a company begin: the company is a part of each term, so
/// that a search walks through what its own company wrote and nothing else.
/// Companies that share a beginning by chance merely slow each other down.
fn start_of(company: CompanyId, field: Field) -> String {
    const LETTERS: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";
    let mut start = String::with_capacity(8);
    let random = Uuid::from(company).as_u128();
    for place in 0..4 {
        let index = usize::try_from(random >> (5 * place) & 31).unwrap_or(0);
        start.push(char::from(LETTERS[index]));
    }
    start.push(field.letter());
    start
}

/// A piece of a text that is looked up as such.
enum Word<'a> {
    /// A run of letters and digits in a script that puts spaces between words.
    Spaced(&'a str),
    /// A run in a script that does not, or that changes the ends of words.
    Dense(&'a [char]),
    /// A single pictograph.
    Sign(char),
}

impl Word<'_> {
    /// The terms that a text with this piece has.
    fn indexed(&self, emit: &mut dyn FnMut(&str)) {
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
    fn asked(&self, emit: &mut dyn FnMut(Term)) {
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
fn each_word(text: &str, emit: &mut dyn FnMut(Word<'_>)) {
    let mut word = String::new();
    let mut word_length = 0;
    let mut run: Vec<char> = Vec::new();
    for c in folded(text) {
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

#[cfg(test)]
mod tests;
