//! What the programs of agents keep from run to run, and what keeps their accounts waiting.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    agent_sessions (company_id, agent_id, adapter_type, task_key) {
        company_id -> Key,
        agent_id -> Key,
        adapter_type -> Text,
        task_key -> Text,
        issue_id -> Nullable<Key>,
        session_id -> Text,
        directory -> Text,
        fingerprint -> Text,
        runs -> Integer,
        input_tokens -> BigInt,
        usage_baseline -> Text,
        last_result -> Nullable<Text>,
        begun_at -> Instant,
        last_used_at -> Instant,
        last_run_id -> Nullable<Key>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    provider_gates (company_id, account) {
        company_id -> Key,
        account -> Text,
        blocked_until -> Instant,
        reason -> Text,
        noted_at -> Instant,
        run_id -> Nullable<Key>,
    }
}
