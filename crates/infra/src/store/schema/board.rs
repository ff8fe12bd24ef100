//! The board's own credentials and sessions, and tickets.

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

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    stream_tickets (ticket_hash) {
        ticket_hash -> Binary,
        company_id -> Key,
        holder -> Text,
        expires_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    board_sessions (id) {
        id -> Key,
        session_hash -> Binary,
        member -> Text,
        created_at -> Instant,
        last_used_at -> Instant,
        expires_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    login_links (link_hash) {
        link_hash -> Binary,
        member -> Text,
        expires_at -> Instant,
    }
}
