//! An answer that says no.

use std::error::Error;
use std::fmt;

use super::Answer;

/// More of an answer than this says nothing new.
const LONGEST: usize = 300;

/// The server answered, and not with success.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    /// The begin of the body.
    body: String,
}

impl Refused {
    pub(super) fn of(answer: Answer<'_>) -> Self {
        let body = String::from_utf8_lossy(answer.body);
        Self {
            status: answer.status,
            body: body.chars().take(LONGEST).collect(),
        }
    }

    /// Whether the server seems not to know what it was asked for.
    pub(crate) const fn is_missing_route(&self) -> bool {
        matches!(self.status, 404 | 405 | 501)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}: {}", self.status, self.body)
    }
}

impl Error for Refused {}
