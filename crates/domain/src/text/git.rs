//! What git names things by.

use alloc::borrow::Cow;
use alloc::string::String;

use super::TextError;

/// The path of a file within a repository, kept as it is: no part of it is empty, `.` or `..`.
fn file_path(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    const FORM: &str = "a relative path without empty, `.` and `..` parts";
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.len() > max {
        return Err(TextError::TooLong { max, unit: "bytes" });
    }
    if text.chars().any(char::is_control) {
        return Err(TextError::Form("free of control characters"));
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(TextError::Form(FORM));
    }
    Ok(Cow::Borrowed(text))
}

/// The name of a commit in SHA-1 or SHA-256, in lower case.
fn commit_hash(text: &str, _max: usize) -> Result<Cow<'_, str>, TextError> {
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    match is_hash {
        true => Ok(Cow::Owned(text.to_ascii_lowercase())),
        false => Err(TextError::Form("40 or 64 hexadecimal digits")),
    }
}

texts! {
    /// The path of a file in a repository.
    FilePath(4096) = file_path;
    /// The full name of a commit.
    CommitHash(64) = commit_hash;
}
