//! Keyset pages at the edge (docs/access.md#paging): `limit` and `cursor` in,
//! `Link` and `X-Next-Cursor` out.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;
use workforce_app::Code;
use workforce_domain::page::PageRequest;

use crate::problem::Problem;
use crate::query::{Query, fault};

/// The parameters that every list takes.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters that `page` reads")]
pub(crate) struct Paging {
    /// At most so many rows. Without it a page has up to 1000; it ends earlier
    /// when its rows are large.
    #[param(minimum = 1, maximum = 500, nullable = false)]
    limit: Option<u16>,
    /// The `X-Next-Cursor` of the preceding page.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// The page of the list at `path` that a query asks for.
///
/// # Errors
/// `invalid_request` for a limit out of bounds, `invalid_cursor` for a cursor
/// that was not given out for this list.
pub(crate) fn page<K: DeserializeOwned>(
    path: &str,
    query: &Query,
) -> Result<PageRequest<K>, Problem> {
    let form = format!("a whole number from 1 to {}", PageRequest::<K>::MAX_LIMIT);
    let limit = match query.value::<usize>("limit", &form)? {
        None => PageRequest::<K>::DEFAULT_LIMIT,
        Some(limit) if (1..=PageRequest::<K>::MAX_LIMIT).contains(&limit) => limit,
        Some(_) => return Err(fault("limit", &format!("must be {form}"))),
    };
    let after = query.text("cursor")?;
    let after = after.map(|cursor| read_cursor(path, cursor)).transpose()?;
    Ok(PageRequest {
        after,
        limit,
        ..PageRequest::first()
    })
}

/// The key after which a list continues, as a cursor holds it; `None` if it cannot
/// be written, which none of ours is.
pub(crate) fn place<K: Serialize>(key: &K) -> Option<String> {
    serde_json::to_string(key).ok()
}

/// The cursor by which the list at `path` continues after a place.
pub(crate) fn cursor(path: &str, place: &str) -> String {
    let mut cursor = mark(path).to_vec();
    cursor.extend_from_slice(place.as_bytes());
    BASE64URL_NOPAD.encode(&cursor)
}

fn read_cursor<K: DeserializeOwned>(path: &str, cursor: &str) -> Result<K, Problem> {
    let cursor = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
    cursor
        .as_deref()
        .and_then(|cursor| cursor.strip_prefix(&mark(path)))
        .and_then(|place| serde_json::from_slice(place).ok())
        .ok_or_else(|| {
            Problem::at(
                Code::InvalidCursor,
                "?cursor",
                "was not given out for this list",
            )
        })
}

/// By what a list knows its own cursors.
fn mark(path: &str) -> [u8; 6] {
    let [a, b, c, d, e, f, ..] = <[u8; 32]>::from(Sha256::digest(path));
    [a, b, c, d, e, f]
}

/// The target of `Link: <...>; rel="next"`: the same path and query with
/// another cursor.
pub(crate) fn next_link(path: &str, query: &str, cursor: &str) -> String {
    let kept = query
        .split('&')
        .filter(|pair| !pair.is_empty() && *pair != "cursor" && !pair.starts_with("cursor="));
    let mut target = String::from(path);
    let mut separator = '?';
    for pair in kept {
        target.push(separator);
        target.push_str(pair);
        separator = '&';
    }
    format!("<{target}{separator}cursor={cursor}>; rel=\"next\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use workforce_domain::id::{GoalId, IssueId};
    use workforce_domain::page::CreationKey;
    use workforce_domain::port::IssueCursor;

    type Key = CreationKey<GoalId>;

    fn read(text: &str) -> Result<PageRequest<Key>, Code> {
        page("/api/goals", &Query::parse(text, Arc::default()).unwrap())
            .map_err(|problem| problem.code())
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given() {
        let key = Key {
            at: -5,
            id: GoalId::from(uuid::Uuid::from_u128(7)),
        };
        let cursor = cursor("/api/goals", &place(&key).unwrap());
        let request = read(&format!("limit=2&cursor={cursor}")).unwrap();
        assert_eq!((request.after, request.limit), (Some(key), 2));
    }

    #[test]
    fn limits_are_bounded() {
        assert_eq!(read("").unwrap().limit, 1000);
        assert_eq!(read("limit=500").unwrap().limit, 500);
        for text in ["limit=0", "limit=501", "limit=-1", "limit=x", "limit=1.5"] {
            assert_eq!(read(text).unwrap_err(), Code::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn foreign_cursors_are_refused() {
        let other = IssueCursor {
            rank: 1,
            updated_at: 2,
            id: IssueId::from(uuid::Uuid::nil()),
        };
        let other = cursor("/api/goals", &place(&other).unwrap());
        let key = Key {
            at: 1,
            id: GoalId::from(uuid::Uuid::nil()),
        };
        let elsewhere = cursor("/api/labels", &place(&key).unwrap());
        for cursor in ["x", "%20%20a", "e30", &other, &elsewhere] {
            assert_eq!(
                read(&format!("cursor={cursor}")).unwrap_err(),
                Code::InvalidCursor
            );
        }
    }

    #[test]
    fn the_link_keeps_the_query() {
        assert_eq!(
            next_link("/api/x", "status=todo&cursor=old&limit=5", "new"),
            "</api/x?status=todo&limit=5&cursor=new>; rel=\"next\""
        );
        assert_eq!(
            next_link("/api/x", "", "new"),
            "</api/x?cursor=new>; rel=\"next\""
        );
    }
}
