//! Which part of a content a request asks for (RFC 9110, sections 13 and 14).

use std::ops::Range;

/// What is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// These bytes.
    Bytes(Range<u64>),
    /// Nothing: there are no such bytes.
    Unsatisfiable,
}

/// The part that a `Range` header asks for. What is not understood, and
/// several ranges at once, ask for the whole.
pub(super) fn part(range: Option<&str>, length: u64) -> Part {
    let Some(spec) = range.and_then(bytes_spec) else {
        return Part::Whole;
    };
    let Some((first, last)) = spec.split_once('-') else {
        return Part::Whole;
    };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Some(first), None) if last.is_empty() => first..length,
        (None, Some(suffix)) if first.is_empty() => length.saturating_sub(suffix)..length,
        _ => return Part::Whole,
    };
    if range.is_empty() {
        Part::Unsatisfiable
    } else {
        Part::Bytes(range)
    }
}

fn bytes_spec(range: &str) -> Option<&str> {
    let (unit, spec) = range.trim().split_once('=')?;
    unit.eq_ignore_ascii_case("bytes").then(|| spec.trim())
}

/// A number of bytes; one that is too large to be counted is beyond every end.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// True when a list of entity tags, as `If-None-Match` has it, names `etag` or
/// anything.
pub(super) fn names(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|candidate| {
        candidate == "*" || candidate.strip_prefix("W/").unwrap_or(candidate) == etag
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood() {
        for (range, expected) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-4", 2..5),
            ("BYTES=2-4", 2..5),
            ("bytes=2-", 2..10),
            ("bytes=2-99", 2..10),
            ("bytes=-3", 7..10),
            ("bytes=-99", 0..10),
            ("bytes=9-99999999999999999999999", 9..10),
        ] {
            assert_eq!(part(Some(range), 10), Part::Bytes(expected), "{range}");
        }
    }

    #[test]
    fn everything_else_asks_for_the_whole() {
        assert_eq!(part(None, 10), Part::Whole);
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=4-2",
            "bytes=0-1,3-4",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=0x1-2",
            "lines=1-2",
        ] {
            assert_eq!(part(Some(range), 10), Part::Whole, "{range}");
        }
    }

    #[test]
    fn some_ranges_cannot_be_had() {
        for range in [
            "bytes=10-",
            "bytes=10-11",
            "bytes=-0",
            "bytes=99999999999999999999999-",
        ] {
            assert_eq!(part(Some(range), 10), Part::Unsatisfiable, "{range}");
        }
    }

    #[test]
    fn tags_are_compared_weakly() {
        let tag = "\"abc\"";
        for list in ["\"abc\"", "*", "W/\"abc\"", "\"x\", \"abc\""] {
            assert!(names(list, tag), "{list}");
        }
        for list in ["", "abc", "\"x\"", "\"ab\"c\""] {
            assert!(!names(list, tag), "{list}");
        }
    }
}
