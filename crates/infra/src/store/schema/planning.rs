//! Why and where work is done.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    goals (id) {
        id -> Key,
        company_id -> Key,
        title -> Text,
        description -> Nullable<Text>,
        level -> Text,
        status -> Text,
        parent_id -> Nullable<Key>,
        owner_agent_id -> Nullable<Key>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    projects (id) {
        id -> Key,
        company_id -> Key,
        name -> Text,
        url_key -> Text,
        description -> Nullable<Text>,
        status -> Text,
        lead_agent_id -> Nullable<Key>,
        target_date -> Nullable<Instant>,
        target_is_day -> Bool,
        color -> Nullable<Text>,
        review_required -> Bool,
        budget_monthly_cents -> BigInt,
        budget_total_cents -> BigInt,
        archived_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
        governance -> Text,
        remote_required -> Bool,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    project_goals (project_id, goal_id) {
        company_id -> Key,
        project_id -> Key,
        goal_id -> Key,
        position -> Integer,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    project_workspaces (id) {
        id -> Key,
        company_id -> Key,
        project_id -> Key,
        name -> Text,
        cwd -> Nullable<Text>,
        repo_url -> Nullable<Text>,
        repo_ref -> Nullable<Text>,
        default_base_branch -> Nullable<Text>,
        is_primary -> Bool,
        metadata -> Json,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    project_conventions (project_id) {
        company_id -> Key,
        project_id -> Key,
        backstory -> Text,
        conventions_md -> Text,
        extra_references -> Json,
        compact_context -> Nullable<Text>,
        compact_source -> Nullable<Text>,
        compact_max_chars -> Nullable<Integer>,
        compact_source_hash -> Nullable<Binary>,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    execution_workspaces (id) {
        id -> Key,
        company_id -> Key,
        project_workspace_id -> Key,
        ticket_key -> Text,
        branch -> Text,
        base_branch -> Text,
        path -> Text,
        owner_issue_id -> Nullable<Key>,
        status -> Text,
        repository_url -> Nullable<Text>,
        fetch_address -> Nullable<Text>,
        push_address -> Nullable<Text>,
        base_commit -> Nullable<Text>,
        head_commit -> Nullable<Text>,
        pushed_commit -> Nullable<Text>,
        pull_request_number -> Nullable<BigInt>,
        pull_request_url -> Nullable<Text>,
        pull_request_state -> Nullable<Text>,
        conflict_wakes -> Integer,
        held_until -> Nullable<Instant>,
        held_by -> Nullable<Key>,
        clean_up_after -> Instant,
        kept_because -> Nullable<Text>,
        disorder -> Nullable<Text>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Key};
    use diesel::sql_types::*;

    ticket_advances (issue_id) {
        issue_id -> Key,
        company_id -> Key,
        attempts -> Integer,
        not_before -> Instant,
        error_code -> Nullable<Text>,
        error -> Nullable<Text>,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    pull_request_watches (workspace_id) {
        workspace_id -> Key,
        company_id -> Key,
        due_at -> Instant,
        fence -> BigInt,
        attempts -> Integer,
        validators -> Json,
        checks -> Text,
        head_commit -> Nullable<Text>,
        drift_due_at -> Instant,
        merged_base -> Nullable<Text>,
        merged_head -> Nullable<Text>,
        obstacle -> Nullable<Text>,
        escalated -> Bool,
        created_at -> Instant,
    }
}
