//! Words of texts: how the texts of issues are cut into terms that a store
//! indexes, and what a caller types into terms that it looks up.
//!
//! One function cuts both, so that every text is found by each of its words, on
//! every database. The work is linear in the text, and nothing that is typed has a meaning other
//! than its words.

mod characters;
mod words;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use uuid::Uuid;

use self::words::each_word;
use crate::id::CompanyId;
use crate::issue::Issue;
use crate::port::FoundIn;
use crate::text::TextError;

/// The terms of one text take so many bytes at most, which is more than the
/// longest description in any language has; what follows is not indexed.
const MAX_TERM_BYTES: usize = 1_000_000;
/// How many letters of a term stand for its company.
const COMPANY_LETTERS: usize = 4;

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
    /// Whether a text with this term has what is asked for.
    fn is_met_by(&self, term: &str) -> bool {
        if self.prefix {
            term.starts_with(&self.text)
        } else {
            term == self.text
        }
    }

    /// The term as an index of many companies knows it.
    #[must_use]
    pub fn within(&self, company: CompanyId, field: Field) -> Self {
        Self {
            text: indexed(start_of(company), field, &self.text),
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

/// What the own texts of an issue have of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The best place in which the query is found.
    pub place: Option<FoundIn>,
    /// A bit for each term that they lack, the lowest for the first.
    pub missing: u64,
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

    /// What an issue's own texts have of it: the answer that an index of them
    /// would give.
    pub fn sighted_in(&self, identifier: &str, title: &str, description: Option<&str>) -> Sighting {
        let mut missing = (0..self.terms.len()).fold(0, |bits, index| bits | 1_u64 << index);
        for text in [identifier, title] {
            self.take_met(&mut missing, text);
        }
        let in_title = missing == 0;
        if !in_title && let Some(description) = description {
            self.take_met(&mut missing, description);
        }
        let in_words = match missing {
            0 if self.terms.is_empty() => None,
            0 if in_title => Some(FoundIn::Title),
            0 => Some(FoundIn::OwnText),
            _ => None,
        };
        let place = match &self.identifier {
            Some(asked) if asked.name == identifier => Some(FoundIn::Identifier),
            Some(asked) if asked.term.is_met_by(&identifier_word(identifier)) => {
                Some(FoundIn::IdentifierStart)
            }
            _ => in_words,
        };
        Sighting { place, missing }
    }

    /// Takes out the terms that a text has.
    fn take_met(&self, missing: &mut u64, text: &str) {
        each_word(text, &mut |word| {
            word.indexed(&mut |term| {
                for (index, asked) in self.terms.iter().enumerate() {
                    if asked.is_met_by(term) {
                        *missing &= !(1 << index);
                    }
                }
            });
        });
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
    let mut terms = Terms::of(company);
    terms.add(Field::Identifier, &identifier_word(identifier));
    for text in [identifier, title] {
        terms.add_text(Field::Title, text);
        terms.add_text(Field::Text, text);
    }
    terms.add_text(Field::Text, description.unwrap_or_default());
    terms.joined()
}

/// The terms of a comment, separated by spaces.
pub fn comment_terms(company: CompanyId, body: &str) -> String {
    let mut terms = Terms::of(company);
    terms.add_text(Field::Text, body);
    terms.joined()
}

/// The different terms of a text.
struct Terms {
    start: [char; COMPANY_LETTERS],
    all: BTreeSet<String>,
    bytes: usize,
}

impl Terms {
    fn of(company: CompanyId) -> Self {
        Self {
            start: start_of(company),
            all: BTreeSet::new(),
            bytes: 0,
        }
    }

    fn add_text(&mut self, field: Field, text: &str) {
        each_word(text, &mut |word| {
            word.indexed(&mut |term| self.add(field, term));
        });
    }

    fn add(&mut self, field: Field, term: &str) {
        let text = indexed(self.start, field, term);
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
fn start_of(company: CompanyId) -> [char; COMPANY_LETTERS] {
    const LETTERS: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";
    let random = Uuid::from(company).as_u128();
    core::array::from_fn(|place| {
        let index = usize::try_from(random >> (5 * place) & 31).unwrap_or(0);
        char::from(LETTERS[index])
    })
}

/// A term as an index of many companies has it.
fn indexed(start: [char; COMPANY_LETTERS], field: Field, term: &str) -> String {
    let mut text = String::with_capacity(start.len() + 1 + term.len());
    text.extend(start);
    text.push(field.letter());
    text.push_str(term);
    text
}

#[cfg(test)]
mod tests;
