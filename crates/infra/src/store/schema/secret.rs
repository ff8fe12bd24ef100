//! Sealed values.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    secrets (id) {
        id -> Key,
        company_id -> Key,
        name -> Text,
        provider -> Text,
        external_ref -> Nullable<Text>,
        description -> Nullable<Text>,
        latest_version -> Integer,
        created_by_agent_id -> Nullable<Key>,
        created_by_user_id -> Nullable<Key>,
        created_at -> Instant,
        updated_at -> Instant,
        token_for -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    secret_versions (secret_id, version) {
        company_id -> Key,
        secret_id -> Key,
        version -> Integer,
        key_id -> Text,
        wrapped_key -> Binary,
        sealed_value -> Binary,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    agent_secrets (agent_id, variable) {
        company_id -> Key,
        agent_id -> Key,
        variable -> Text,
        secret_id -> Key,
        pinned_version -> Nullable<Integer>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    run_secrets (run_id, variable) {
        company_id -> Key,
        run_id -> Key,
        variable -> Text,
        secret_id -> Key,
        version -> Integer,
        used_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    vault_canary (id) {
        id -> Integer,
        sealed -> Binary,
    }
}
