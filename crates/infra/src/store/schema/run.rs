//! Heartbeat runs, their processes, and the wakes that begin them.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    heartbeat_runs (id) {
        id -> Key,
        company_id -> Key,
        agent_id -> Key,
        issue_id -> Nullable<Key>,
        execution_workspace_id -> Nullable<Key>,
        kind -> Text,
        status -> Text,
        source -> Text,
        reason -> Text,
        wake_id -> Key,
        fence -> BigInt,
        token_hash -> Nullable<Binary>,
        instance_id -> Nullable<Key>,
        lease_expires_at -> Nullable<Instant>,
        stop_requested_at -> Nullable<Instant>,
        stop_reason -> Nullable<Text>,
        exit_code -> Nullable<Integer>,
        signal -> Nullable<Integer>,
        error_code -> Nullable<Text>,
        error -> Nullable<Text>,
        log_bytes -> BigInt,
        log_tail -> Nullable<Text>,
        containment -> Nullable<Text>,
        session_id -> Nullable<Text>,
        session_resumed -> Nullable<Bool>,
        prompt -> Nullable<Json>,
        result_text -> Nullable<Text>,
        retry_at -> Nullable<Instant>,
        started_at -> Nullable<Instant>,
        finished_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    run_completions (run_id) {
        run_id -> Key,
        company_id -> Key,
        completed_at -> Nullable<Instant>,
        error_code -> Nullable<Text>,
        error -> Nullable<Text>,
        result_text -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    run_processes (run_id) {
        run_id -> Key,
        company_id -> Key,
        instance_id -> Key,
        pid -> Integer,
        process_group -> Integer,
        start_ticks -> BigInt,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    wakes (id) {
        id -> Key,
        company_id -> Key,
        agent_id -> Key,
        issue_id -> Nullable<Key>,
        coalesce_key -> Text,
        kind -> Text,
        status -> Text,
        source -> Text,
        reasons -> Json,
        comment_ids -> Json,
        payload -> Json,
        count -> Integer,
        not_before -> Instant,
        run_id -> Key,
        requested_by -> Nullable<Text>,
        by_board -> Bool,
        created_at -> Instant,
        updated_at -> Instant,
        priority -> SmallInt,
        work_reason -> Nullable<Text>,
    }
}
