//! `If-Match`: a change that is made only to what the caller has seen.

use workforce_app::Code;

use crate::problem::Problem;

/// The header that names what the caller has seen.
pub(crate) const IF_MATCH: &str = "If-Match";

/// A header lists at most so many tags.
const MAX_TAGS: usize = 20;

/// The tag of a revision.
pub(crate) fn tag(revision: i32) -> String {
    format!("\"{revision}\"")
}

/// The revisions that an `If-Match` header names; `None` when it is absent or
/// names any. A tag that is no number is one this server never gave out, so it
/// matches nothing.
///
/// # Errors
/// `invalid_request` when the header is no list of tags.
pub(crate) fn revisions(header: Option<&str>) -> Result<Option<Vec<i32>>, Problem> {
    let Some(header) = header.map(str::trim).filter(|header| *header != "*") else {
        return Ok(None);
    };
    let tags: Vec<&str> = header.split(',').map(str::trim).collect();
    if tags.len() > MAX_TAGS {
        return Err(malformed());
    }
    let mut revisions = Vec::with_capacity(tags.len());
    for tag in tags {
        // A proxy that compresses answers makes their tags weak.
        let strong = tag.strip_prefix("W/").unwrap_or(tag);
        let quoted = strong
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        match (quoted, strong.parse::<i32>()) {
            (Some(opaque), _) => revisions.extend(opaque.parse::<i32>().ok()),
            (None, Ok(number)) => revisions.push(number),
            (None, Err(_)) => return Err(malformed()),
        }
    }
    Ok(Some(revisions))
}

fn malformed() -> Problem {
    let message = "must be an ETag as it was given, such as \"3\", or *";
    Problem::at(Code::InvalidRequest, IF_MATCH, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_they_are_sent() {
        let read = |header| revisions(header).unwrap();
        assert_eq!(read(None), None);
        assert_eq!(read(Some("*")), None);
        assert_eq!(read(Some("\"3\"")), Some(vec![3]));
        assert_eq!(read(Some(" 3 ")), Some(vec![3]));
        assert_eq!(read(Some("W/\"3\", \"4\"")), Some(vec![3, 4]));
        assert_eq!(read(Some("\"abc\"")), Some(vec![]));
        assert_eq!(read(Some(&tag(7))), Some(vec![7]));
        for malformed in ["", "abc", "\"3", "3 4", "\u{fffd}", &"1,".repeat(21)] {
            let problem = revisions(Some(malformed)).unwrap_err();
            assert_eq!(problem.code(), Code::InvalidRequest, "{malformed:?}");
        }
    }
}
