use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::DEFAULT_ENTRY;

/// The path of a file within a bundle: relative, in NFC, with `/` between its
/// segments, the same file on every file system, and never outside of the
/// bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BundlePath(String);

/// Why a text is no path within a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// Nothing at all.
    #[error("must name a file")]
    Empty,
    /// Too long in all.
    #[error("must be at most {} characters long", BundlePath::MAX)]
    TooLong,
    /// One segment is too long for a file system.
    #[error(
        "must have no part longer than {} bytes",
        BundlePath::MAX_SEGMENT_BYTES
    )]
    SegmentTooLong,
    /// Too many segments.
    #[error("must have at most {} parts", BundlePath::MAX_SEGMENTS)]
    TooDeep,
    /// Begins at a root.
    #[error("must be relative to the bundle")]
    Absolute,
    /// Leads out of where it stands.
    #[error("must not contain `.`, `..` or empty parts")]
    Dots,
    /// A character that is not seen, or that stands for another.
    #[error(
        "must not contain control characters or characters that stand for `/`, `\\`, `.` or `:`"
    )]
    Character,
    /// A name that some systems keep for a device, or change.
    #[error(
        "must be a name that every file system keeps: no device name, none of `:*?\"<>|`, no `~` at the beginning and no blank or dot at the end of a part"
    )]
    Reserved,
}

impl BundlePath {
    /// The longest path, in characters.
    pub const MAX: usize = 200;
    /// The most segments.
    pub const MAX_SEGMENTS: usize = 8;
    /// What every file system takes as one name.
    pub const MAX_SEGMENT_BYTES: usize = 255;

    /// Reads a path; `\` counts as `/`.
    ///
    /// # Errors
    /// Says what is wrong with the path.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        if text.is_empty() {
            return Err(PathFault::Empty);
        }
        // A character has at most four bytes: the cheap bound comes first.
        if text.len() > Self::MAX * 4 {
            return Err(PathFault::TooLong);
        }
        if text.chars().any(deceives) || hides_encoded(text) {
            return Err(PathFault::Character);
        }
        let path: String = text
            .nfc()
            .map(|c| if c == '\\' { '/' } else { c })
            .collect();
        if path.chars().count() > Self::MAX {
            return Err(PathFault::TooLong);
        }
        let mut bytes = path.bytes();
        let drive =
            bytes.next().is_some_and(|b| b.is_ascii_alphabetic()) && bytes.next() == Some(b':');
        if path.starts_with('/') || drive {
            return Err(PathFault::Absolute);
        }
        let segments: Vec<&str> = path.split('/').collect();
        if segments.len() > Self::MAX_SEGMENTS {
            return Err(PathFault::TooDeep);
        }
        segments.into_iter().try_for_each(check_segment)?;
        Ok(Self(path))
    }

    /// The entry file that agents begin with.
    pub fn default_entry() -> Self {
        Self(DEFAULT_ENTRY.into())
    }

    /// The path of a file that workforce itself brings along.
    pub(super) fn own(path: &'static str) -> Self {
        Self(path.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its parts, outermost first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// True when a part of it begins with a dot, as hidden files do.
    pub fn is_hidden(&self) -> bool {
        self.segments().any(|segment| segment.starts_with('.'))
    }

    /// True when one of two paths would be a folder of the other.
    pub fn clashes_with(&self, other: &Self) -> bool {
        let below = |file: &str, folder: &str| {
            file.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        below(&self.0, &other.0) || below(&other.0, &self.0)
    }
}

impl core::fmt::Display for BundlePath {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BundlePath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// True for what is not seen, or what some program reads as a separator.
fn deceives(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}');
    let stands_for_another = !c.is_ascii()
        && core::iter::once(c)
            .nfkc()
            .any(|part| matches!(part, '/' | '\\' | '.' | ':'));
    c.is_control() || unseen || stands_for_another || matches!(c, '\u{2215}' | '\u{29f5}')
}

/// True when decoding the text once more, as some programs do, brings forth a
/// dot, a separator or a NUL.
fn hides_encoded(text: &str) -> bool {
    const ENCODED: [&[u8]; 4] = [b"2e", b"2f", b"5c", b"00"];
    text.as_bytes().windows(3).any(|window| match window {
        [b'%', rest @ ..] => {
            rest.eq_ignore_ascii_case(b"25")
                || ENCODED.iter().any(|code| rest.eq_ignore_ascii_case(code))
        }
        _ => false,
    })
}

fn check_segment(segment: &str) -> Result<(), PathFault> {
    // What begins with two dots is a way up to some programs, such as `..;`.
    if segment.is_empty() || segment == "." || segment.starts_with("..") {
        return Err(PathFault::Dots);
    }
    if segment.len() > BundlePath::MAX_SEGMENT_BYTES {
        return Err(PathFault::SegmentTooLong);
    }
    let unkept = segment.starts_with('~')
        || segment
            .chars()
            .any(|c| matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|'));
    let trimmed = segment.starts_with(char::is_whitespace)
        || segment.ends_with(|c: char| c == '.' || c.is_whitespace());
    if unkept || trimmed || is_device(segment) {
        return Err(PathFault::Reserved);
    }
    Ok(())
}

/// True for the names that Windows keeps for devices, with any ending.
fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or(segment).trim_end();
    if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device))
    {
        return true;
    }
    let mut chars = stem.chars();
    let head: String = chars.by_ref().take(3).collect();
    let numbered = head.eq_ignore_ascii_case("com") || head.eq_ignore_ascii_case("lpt");
    let number = chars.next();
    numbered
        && chars.next().is_none()
        && number.is_some_and(|c| c.is_ascii_digit() || matches!(c, '\u{b9}' | '\u{b2}' | '\u{b3}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_in_one_way_only() {
        let read = |text: &str| BundlePath::parse(text).map(|path| path.0);
        assert_eq!(
            read("notes\\week 1/plan.md"),
            Ok("notes/week 1/plan.md".into())
        );
        assert_eq!(read("Cafe\u{301}.md"), Ok("Caf\u{e9}.md".into()));
        assert_eq!(read(".hidden/x"), Ok(".hidden/x".into()));
        assert_eq!(read("a..b"), Ok("a..b".into()));
        assert_eq!(read("100%.md"), Ok("100%.md".into()));
    }

    #[test]
    fn no_trick_leads_out_of_a_bundle() {
        let tricks = [
            ("", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("\\\\host\\share", PathFault::Absolute),
            ("C:\\Windows\\x", PathFault::Absolute),
            ("c:x", PathFault::Absolute),
            ("../x", PathFault::Dots),
            ("a/../../x", PathFault::Dots),
            ("a\\..\\x", PathFault::Dots),
            ("./x", PathFault::Dots),
            ("a//x", PathFault::Dots),
            ("..;/x", PathFault::Dots),
            ("a/..x", PathFault::Dots),
            ("~/x", PathFault::Reserved),
            ("a/~root/x", PathFault::Reserved),
            ("a/", PathFault::Dots),
            ("%2e%2e/x", PathFault::Character),
            ("%252e%252e/x", PathFault::Character),
            ("a%2Fb", PathFault::Character),
            ("a%5cb", PathFault::Character),
            ("a\0b", PathFault::Character),
            ("a\nb", PathFault::Character),
            ("\u{2025}/x", PathFault::Character),
            ("\u{ff0e}\u{ff0e}/x", PathFault::Character),
            ("a\u{ff0f}b", PathFault::Character),
            ("a\u{2215}b", PathFault::Character),
            ("a\u{202e}dm.b", PathFault::Character),
            ("NUL", PathFault::Reserved),
            ("con.md", PathFault::Reserved),
            ("x/com1.txt", PathFault::Reserved),
            ("LPT\u{b9}", PathFault::Reserved),
            ("a.", PathFault::Reserved),
            ("a /b", PathFault::Reserved),
            ("ab:stream", PathFault::Reserved),
            ("1/2/3/4/5/6/7/8/9", PathFault::TooDeep),
        ];
        for (text, fault) in tricks {
            assert_eq!(BundlePath::parse(text), Err(fault), "{text:?}");
        }
        assert_eq!(BundlePath::parse(&"x".repeat(201)), Err(PathFault::TooLong));
        assert_eq!(
            BundlePath::parse(&"x".repeat(1 << 20)),
            Err(PathFault::TooLong)
        );
        let wide = "\u{4e00}".repeat(100);
        assert_eq!(BundlePath::parse(&wide), Err(PathFault::SegmentTooLong));
    }

    #[test]
    fn a_file_and_a_folder_cannot_have_one_name() {
        let path = |text| BundlePath::parse(text).unwrap();
        assert!(path("a").clashes_with(&path("a/b")));
        assert!(path("a/b/c").clashes_with(&path("a/b")));
        assert!(!path("a").clashes_with(&path("ab/c")));
        assert!(!path("a").clashes_with(&path("a")));
    }
}
