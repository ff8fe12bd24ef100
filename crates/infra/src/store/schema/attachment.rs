//! Files attached to issues, and the bytes they show.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    assets (id) {
        id -> Key,
        company_id -> Key,
        sha256 -> Binary,
        byte_size -> BigInt,
        content_type -> Text,
        provider -> Text,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_attachments (id) {
        id -> Key,
        company_id -> Key,
        issue_id -> Key,
        comment_id -> Nullable<Key>,
        asset_id -> Key,
        original_filename -> Nullable<Text>,
        declared_content_type -> Nullable<Text>,
        created_by_agent_id -> Nullable<Key>,
        created_by_user_id -> Nullable<Key>,
        created_by_board -> Nullable<Text>,
        created_at -> Instant,
    }
}
