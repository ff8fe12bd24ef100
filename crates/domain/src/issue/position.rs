//! Where in the files of a repository a comment stands.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::number::Count;
use crate::string_enum;
use crate::text::{CommitHash, FilePath};

string_enum! {
    /// A side of a comparison.
    #[derive(Default)]
    pub enum DiffSide {
        /// As it was before the change.
        Left = "left",
        /// As it is with the change.
        #[default]
        Right = "right",
    }
}

/// The number of a line, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct LineNumber(i64);

impl LineNumber {
    /// The greatest number of a line.
    pub const MAX: i64 = 2_147_483_647;
}

impl fmt::Display for LineNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for LineNumber {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Count(number) = Count::deserialize(deserializer)?;
        match number {
            1..=Self::MAX => Ok(Self(number)),
            ..1 => Err(serde::de::Error::custom("must be at least 1")),
            _ => Err(serde::de::Error::custom("is too large")),
        }
    }
}

/// Lines of a file that a comment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = CommentPosition))]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The file, by its path in the repository.
    pub path: FilePath,
    /// Whether the line is one of the file before or after the change.
    pub side: DiffSide,
    /// The line; the last one of several.
    pub line: LineNumber,
    /// The first of several lines.
    pub start_line: Option<LineNumber>,
    /// The commit in which the line has this number.
    pub commit: Option<CommitHash>,
}

impl Position {
    /// The lines as `12`, or as `10-12` where there are several.
    pub fn lines(&self) -> String {
        match self.start_line.filter(|start| *start < self.line) {
            Some(start) => alloc::format!("{start}-{}", self.line),
            None => alloc::format!("{}", self.line),
        }
    }
}

string_enum! {
    /// What a reviewer says of the work on an issue.
    pub enum ReviewVerdict {
        /// The work is good.
        Approved = "approved",
        /// The work must be changed.
        ChangesRequested = "changes_requested",
        /// Neither: remarks alone.
        Commented = "commented",
    }
}
