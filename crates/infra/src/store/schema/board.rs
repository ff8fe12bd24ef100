//! The board's own credentials.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    board_tokens (id) {
        id -> Key,
        name -> Text,
        prefix -> Text,
        token_hash -> Binary,
        created_by -> Text,
        created_at -> Instant,
        last_used_at -> Nullable<Instant>,
        revoked_at -> Nullable<Instant>,
    }
}
