//! Agents, their keys and the history of their configuration.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    agents (id) {
        id -> Key,
        company_id -> Key,
        name -> Text,
        url_key -> Text,
        role -> Text,
        title -> Nullable<Text>,
        icon -> Nullable<Text>,
        capabilities -> Nullable<Text>,
        reports_to -> Nullable<Key>,
        lifecycle -> Text,
        lifecycle_at -> Nullable<Instant>,
        pause_reason -> Nullable<Text>,
        consecutive_failures -> Integer,
        backoff_until -> Nullable<Instant>,
        provider_account -> Nullable<Text>,
        adapter_type -> Text,
        adapter_config -> Json,
        runtime_config -> Json,
        max_concurrent_runs -> Integer,
        can_create_agents -> Bool,
        metadata -> Json,
        budget_monthly_cents -> BigInt,
        budget_override_month -> Nullable<Integer>,
        last_heartbeat_at -> Nullable<Instant>,
        next_heartbeat_at -> Nullable<Instant>,
        heartbeat_interval_sec -> Nullable<Integer>,
        heartbeat_armed_sec -> Nullable<Integer>,
        suppressed_wakes -> BigInt,
        heartbeat_rests -> Bool,
        heartbeat_always -> Bool,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    agent_keys (id) {
        id -> Key,
        company_id -> Key,
        agent_id -> Key,
        name -> Text,
        prefix -> Text,
        key_hash -> Binary,
        created_at -> Instant,
        last_used_at -> Nullable<Instant>,
        revoked_at -> Nullable<Instant>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    agent_config_revisions (id) {
        id -> Key,
        company_id -> Key,
        agent_id -> Key,
        n -> Integer,
        source -> Text,
        rolled_back_from -> Nullable<Key>,
        changed_keys -> Json,
        before_config -> Nullable<Binary>,
        after_config -> Binary,
        created_by_agent_id -> Nullable<Key>,
        created_by_user_id -> Nullable<Key>,
        created_at -> Instant,
        created_by_board -> Nullable<Text>,
    }
}
