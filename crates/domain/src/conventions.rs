//! The conventions of a project: what its agents are told before they work.

use alloc::vec::Vec;

use serde_json::Value;

use crate::id::{CompanyId, ProjectId};
use crate::string_enum;
use crate::text::{CompactContext, Description};
use crate::time::Timestamp;

string_enum! {
    /// Who wrote a compact context.
    pub enum CompactSource {
        /// Somebody, by hand; kept as it is.
        Manual = "manual",
        /// workforce, from the conventions.
        Generated = "generated",
    }
}

/// A short form of the conventions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact {
    /// The short form; may be empty.
    pub text: CompactContext,
    /// Who wrote it, and for a generated one its bound.
    pub origin: CompactOrigin,
    /// SHA-256 of the conventions it stands for, so that a change of them is
    /// seen.
    pub source_hash: [u8; 32],
}

/// Where a compact context comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactOrigin {
    /// Somebody wrote it by hand.
    Manual,
    /// workforce made it, with at most so many characters.
    Generated {
        /// The bound, in characters.
        max_chars: i32,
    },
}

impl CompactOrigin {
    /// Who wrote it.
    pub const fn source(self) -> CompactSource {
        match self {
            Self::Manual => CompactSource::Manual,
            Self::Generated { .. } => CompactSource::Generated,
        }
    }
}

/// The conventions of one project.
#[derive(Clone, Debug, PartialEq)]
pub struct Conventions {
    /// The company.
    pub company: CompanyId,
    /// The project; it has at most one set of conventions.
    pub project: ProjectId,
    /// Background and context of the project; may be empty.
    pub backstory: Description,
    /// The rules, in Markdown; may be empty.
    pub conventions_md: Description,
    /// Further sources: any JSON, at most [`Conventions::MAX_REFERENCE_BYTES`];
    /// an empty list when there are none.
    pub extra_references: Value,
    /// The short form, if there is one.
    pub compact: Option<Compact>,
    /// When they last changed; `None` before the first time.
    pub updated_at: Option<Timestamp>,
}

impl Conventions {
    /// The further sources are at most so long together, as JSON.
    pub const MAX_REFERENCE_BYTES: usize = 64 * 1024;

    /// What stands for no further sources.
    pub const fn no_references() -> Value {
        Value::Array(Vec::new())
    }

    /// The conventions of a project for which nobody wrote any.
    pub fn none(company: CompanyId, project: ProjectId) -> Self {
        Self {
            company,
            project,
            backstory: Description::default(),
            conventions_md: Description::default(),
            extra_references: Self::no_references(),
            compact: None,
            updated_at: None,
        }
    }
}
