//! Instructions of agents.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    instruction_bundles (agent_id) {
        agent_id -> Key,
        company_id -> Key,
        mode -> Text,
        root_path -> Nullable<Text>,
        entry_file -> Text,
        version -> Integer,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    instruction_versions (agent_id, version) {
        agent_id -> Key,
        version -> Integer,
        company_id -> Key,
        files -> Json,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    instruction_contents (agent_id, sha256) {
        agent_id -> Key,
        sha256 -> Text,
        company_id -> Key,
        content -> Text,
    }
}
