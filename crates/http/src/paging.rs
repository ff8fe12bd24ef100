//! Keyset pages at the edge (docs/access.md#paging): `limit` and `cursor` in,
//! `Link` and `X-Next-Cursor` out.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
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

/// The page that a query asks for.
///
/// # Errors
/// `invalid_request` for a limit out of bounds, `invalid_cursor` for a cursor
/// that was not given out for such a list.
pub(crate) fn page<K: DeserializeOwned>(query: &Query) -> Result<PageRequest<K>, Problem> {
    let form = format!("a whole number from 1 to {}", PageRequest::<K>::MAX_LIMIT);
    let limit = match query.value::<usize>("limit", &form)? {
        None => PageRequest::<K>::DEFAULT_LIMIT,
        Some(limit) if (1..=PageRequest::<K>::MAX_LIMIT).contains(&limit) => limit,
        Some(_) => return Err(fault("limit", &format!("must be {form}"))),
    };
    let after = query.text("cursor")?.map(decode).transpose()?;
    Ok(PageRequest {
        after,
        limit,
        ..PageRequest::first()
    })
}

/// The cursor that continues after a key; `None` if the key cannot be written,
/// which none of ours is.
pub(crate) fn encode<K: Serialize>(key: &K) -> Option<String> {
    serde_json::to_vec(key)
        .ok()
        .map(|json| BASE64URL_NOPAD.encode(&json))
}

fn decode<K: DeserializeOwned>(cursor: &str) -> Result<K, Problem> {
    BASE64URL_NOPAD
        .decode(cursor.as_bytes())
        .ok()
        .and_then(|json| serde_json::from_slice(&json).ok())
        .ok_or_else(|| {
            Problem::at(
                Code::InvalidCursor,
                "?cursor",
                "was not given out for this list",
            )
        })
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
    use workforce_domain::id::{GoalId, IssueId};
    use workforce_domain::page::CreationKey;
    use workforce_domain::port::IssueCursor;

    type Key = CreationKey<GoalId>;

    fn read(text: &str) -> Result<PageRequest<Key>, Code> {
        page(&Query::parse(text).unwrap()).map_err(|problem| problem.code())
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given() {
        let key = Key {
            at: -5,
            id: GoalId::from(uuid::Uuid::from_u128(7)),
        };
        let cursor = encode(&key).unwrap();
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
        let other = encode(&other).unwrap();
        for cursor in ["x", "%20%20a", "e30", &other] {
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
