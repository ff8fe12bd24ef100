//! What happened.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    activity (id) {
        id -> Key,
        company_id -> Key,
        actor_type -> Text,
        actor_id -> Text,
        agent_id -> Nullable<Key>,
        run_id -> Nullable<Key>,
        action -> Text,
        entity_type -> Text,
        entity_id -> Text,
        details -> Json,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    events (company_id, seq) {
        company_id -> Key,
        seq -> BigInt,
        #[sql_name = "type"]
        type_ -> Text,
        payload -> Json,
        created_at -> Instant,
    }
}
