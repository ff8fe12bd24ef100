//! Attachments.

use super::{BOSS, COMPANY, ISSUE};
use crate::row::Row;
use crate::row::Value::{Digest, Instant, Key, Null, Number, Text};

pub(crate) fn asset(c: u8) -> Row {
    row!(assets {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        sha256: Digest(1),
        byte_size: Number(1),
        content_type: Text("text/plain"),
        provider: Text("local_disk"),
        created_at: Instant,
    })
}

pub(crate) fn attachment(c: u8) -> Row {
    row!(issue_attachments {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        comment_id: Key(c, 1),
        asset_id: Key(c, 1),
        original_filename: Null,
        declared_content_type: Null,
        created_by_agent_id: Key(c, BOSS),
        created_by_user_id: Null,
        created_by_board: Null,
        created_at: Instant,
    })
}
