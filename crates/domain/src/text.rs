//! Bounded text: each type admits only what its field allows, so that nothing longer or emptier
//! reaches a rule or the store.

use alloc::borrow::Cow;
use alloc::string::String;

use unicode_normalization::UnicodeNormalization;

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing but white space where something is required.
    #[error("must not be empty")]
    Empty,
    /// Longer than the field allows.
    #[error("must be at most {max} {unit} long")]
    TooLong {
        /// The limit.
        max: usize,
        /// What the limit counts: `characters` or `bytes`.
        unit: &'static str,
    },
    /// A NUL character, which not every database can store.
    #[error("must not contain a NUL character")]
    Nul,
    /// Does not have the form the field asks for.
    #[error("must be {0}")]
    Form(&'static str),
}

fn no_nul(text: &str) -> Result<(), TextError> {
    if text.contains('\0') {
        Err(TextError::Nul)
    } else {
        Ok(())
    }
}

/// A line: trimmed, not empty, at most `max` characters.
fn line(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    no_nul(text)?;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(TextError::Empty);
    }
    // A character has one byte to four: the cheap bounds come first.
    if trimmed.len() > max && (trimmed.len() > max * 4 || trimmed.chars().count() > max) {
        return Err(TextError::TooLong {
            max,
            unit: "characters",
        });
    }
    Ok(Cow::Borrowed(trimmed))
}

/// A line without control characters, which no path or address needs.
fn place(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    let line = line(text, max)?;
    if line.chars().any(char::is_control) {
        return Err(TextError::Form("free of control characters"));
    }
    Ok(line)
}

/// A body of text: kept as it is, at most `max` bytes; may be empty.
fn prose(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    no_nul(text)?;
    if text.len() > max {
        return Err(TextError::TooLong { max, unit: "bytes" });
    }
    Ok(Cow::Borrowed(text))
}

/// A text as it is compared with another that should be the same: without
/// regard to case, compatible forms and the width of its spaces.
pub fn comparable(text: &str) -> String {
    let folded: String = text
        .chars()
        .stream_safe()
        .nfkc()
        .flat_map(char::to_lowercase)
        .collect();
    let mut comparable = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !comparable.is_empty() {
            comparable.push(' ');
        }
        comparable.push_str(word);
    }
    comparable
}

macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident($max:expr) = $check:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The longest value admitted.
            pub const MAX: usize = $max;

            /// Admits `text` if the field allows it.
            ///
            /// # Errors
            /// Says what is wrong with the text.
            pub fn parse(text: &str) -> Result<Self, TextError> {
                $check(text, Self::MAX).map(|kept| Self(kept.into_owned()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        #[cfg(feature = "openapi")]
        impl crate::openapi::ComposeSchema for $name {
            fn compose(
                _generics: alloc::vec::Vec<crate::openapi::RefOr<crate::openapi::Schema>>,
            ) -> crate::openapi::RefOr<crate::openapi::Schema> {
                crate::openapi::texts::$check(Self::MAX)
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        impl core::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = TextError;

            /// As [`Self::parse`], but copies nothing that is kept as it is.
            fn try_from(text: String) -> Result<Self, TextError> {
                let changed = match $check(&text, Self::MAX)? {
                    Cow::Borrowed(kept) if kept.len() == text.len() => None,
                    kept => Some(kept.into_owned()),
                };
                Ok(Self(changed.unwrap_or(text)))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::try_from(text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

mod git;

pub use git::{CommitHash, FilePath};

fn slug(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    const FORM: &str =
        "a lower-case word: a letter, then letters, digits, `_` or `-`, at most 40 in all";
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
    let goes_on =
        bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
    if starts && goes_on && text.len() <= max {
        Ok(Cow::Borrowed(text))
    } else {
        Err(TextError::Form(FORM))
    }
}

/// A colour as `#rrggbb`, in lower case.
fn color(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    let digits = text.strip_prefix('#').unwrap_or_default();
    if text.len() == max && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(Cow::Owned(text.to_ascii_lowercase()))
    } else {
        Err(TextError::Form("a colour as `#rrggbb`"))
    }
}

/// The name of a file: a line that is no path.
fn file_name(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    let name = place(text, max)?;
    if name.contains(['/', '\\']) || name.chars().all(|c| c == '.') {
        return Err(TextError::Form("the name of a file without its folder"));
    }
    Ok(name)
}

/// `type/subtype` of RFC 6838, in lower case and without parameters.
fn media_type(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    const FORM: &str = "a media type such as image/png";
    let is_name = |name: &str| {
        name.bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let lower = text.trim().to_ascii_lowercase();
    match lower.split_once('/') {
        Some((kind, subtype)) if lower.len() <= max && is_name(kind) && is_name(subtype) => {
            Ok(Cow::Owned(lower))
        }
        _ => Err(TextError::Form(FORM)),
    }
}

/// A host with or without a port, and perhaps a path, in lower case. One repository is
/// named with `.git` at its end or without; what is kept has none.
fn repository_prefix(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    const FORM: &str = "a host, or a host and a path, such as github.com/acme";
    let is_host = |host: &str| {
        let (name, port) = host.split_once(':').unwrap_or((host, "443"));
        let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
        let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
        name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.bytes().all(is_name)
            && is_port
    };
    let is_segment = |segment: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-~+".contains(&b);
        !matches!(segment, "" | "." | "..") && segment.bytes().all(fits)
    };
    let text = text.trim().to_ascii_lowercase();
    let (host, path) = text.split_once('/').unwrap_or((&text, "path"));
    let path = path.strip_suffix('/').unwrap_or(path);
    if text.len() > max || !is_host(host) || !path.split('/').all(is_segment) {
        return Err(TextError::Form(FORM));
    }
    let text = text.strip_suffix('/').unwrap_or(&text);
    // The repositories of an owner are more than one: that name is not cut.
    let of_one = text.strip_suffix(".git");
    let of_one = of_one.filter(|_| path.contains('/') && !path.ends_with("/.git"));
    Ok(Cow::Owned(of_one.unwrap_or(text).into()))
}

fn body(text: &str, max: usize) -> Result<Cow<'_, str>, TextError> {
    if text.trim().is_empty() {
        Err(TextError::Empty)
    } else {
        prose(text, max)
    }
}

texts! {
    /// The name of a company, agent, project, workspace, key, provider or model.
    Name(200) = line;
    /// The name of a secret.
    SecretName(128) = line;
    /// The title of an issue or goal.
    Title(500) = line;
    /// A short label: an agent's job title, a billing code, a branch, an icon.
    Label(500) = line;
    /// The name of a label of issues.
    LabelName(50) = line;
    /// A colour, `#rrggbb` in lower case.
    Color(7) = color;
    /// A description in Markdown; may be empty.
    Description(200 * 1024) = prose;
    /// A short form of a project's conventions; may be empty.
    CompactContext(32 * 1024) = prose;
    /// The body of a comment in Markdown.
    CommentBody(100 * 1024) = body;
    /// What the board adds to a decision; may be empty.
    DecisionNote(16 * 1024) = prose;
    /// The name of an attached file.
    FileName(255) = file_name;
    /// A media type without parameters.
    MediaType(255) = media_type;
    /// An agent's role: one of the known ones or any other slug, which then
    /// carries no privilege.
    Role(40) = slug;
    /// A directory path or repository address of a workspace.
    Location(4096) = place;
    /// Repositories: those of a host, those of an owner there, or a single one, as in
    /// `github.com/acme`.
    RepositoryPrefix(512) = repository_prefix;
    /// The id by which an agent's program finds a session again.
    SessionId(128) = place;
    /// What tells an account at the provider of a model from others.
    AccountKey(200) = place;
}

impl Default for Description {
    /// The empty description.
    fn default() -> Self {
        Self(String::new())
    }
}

impl Role {
    /// The role of an agent that was given none.
    pub fn general() -> Self {
        Self("general".into())
    }
}

impl RepositoryPrefix {
    /// True for a repository that it is about: `host` with its port where that is not
    /// the usual one, and `path` with owner and name. Case says nothing.
    pub fn covers(&self, host: &str, path: &str) -> bool {
        let mut parts = core::iter::once(host).chain(path.split('/'));
        self.0.split('/').all(|wanted| {
            let part = parts.next();
            part.is_some_and(|part| part.eq_ignore_ascii_case(wanted))
        })
    }
}

impl MediaType {
    /// The type of text that is nothing else.
    pub const PLAIN_TEXT: &'static str = "text/plain";
    /// The type of bytes of which nothing is known.
    pub const OPAQUE: &'static str = "application/octet-stream";

    /// Bytes of which nothing is known.
    pub fn opaque() -> Self {
        Self(Self::OPAQUE.into())
    }

    /// Text that is nothing else.
    pub fn plain_text() -> Self {
        Self(Self::PLAIN_TEXT.into())
    }
}
