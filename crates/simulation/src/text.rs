//! Texts whose form is known to be right.

use workforce_domain::text::CommentBody;

/// A comment.
///
/// # Panics
/// When the text is none; all of them stand in this crate.
#[track_caller]
pub(crate) fn comment(text: &str) -> CommentBody {
    CommentBody::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
