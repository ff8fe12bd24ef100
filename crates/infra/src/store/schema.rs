//! The tables, once for both databases: the types that differ are in
//! [`columns`](super::columns).

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    companies (id) {
        id -> Key,
        name -> Text,
        description -> Nullable<Text>,
        status -> Text,
        budget_monthly_cents -> BigInt,
        issue_prefix -> Text,
        require_board_approval_for_new_agents -> Bool,
        review_required -> Bool,
        max_concurrent_runs -> Integer,
        locale -> Nullable<Text>,
        brand_color -> Nullable<Text>,
        pause_reason -> Nullable<Text>,
        paused_at -> Nullable<Instant>,
        archived_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    company_counters (company_id) {
        company_id -> Key,
        issue_number -> BigInt,
        event_sequence -> BigInt,
        last_dispatched_at -> Nullable<Instant>,
    }
}

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
        adapter_type -> Text,
        adapter_config -> Json,
        runtime_config -> Json,
        max_concurrent_runs -> Integer,
        can_create_agents -> Bool,
        metadata -> Json,
        budget_monthly_cents -> BigInt,
        last_heartbeat_at -> Nullable<Instant>,
        next_heartbeat_at -> Nullable<Instant>,
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
        color -> Nullable<Text>,
        review_required -> Bool,
        archived_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
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

    execution_workspaces (id) {
        id -> Key,
        company_id -> Key,
        project_workspace_id -> Key,
        ticket_key -> Text,
        branch -> Text,
        base_branch -> Text,
        path -> Text,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issues (id) {
        id -> Key,
        company_id -> Key,
        number -> BigInt,
        identifier -> Text,
        project_id -> Nullable<Key>,
        goal_id -> Nullable<Key>,
        parent_id -> Nullable<Key>,
        title -> Text,
        description -> Nullable<Text>,
        status -> Text,
        priority -> SmallInt,
        assignee_agent_id -> Nullable<Key>,
        assignee_user_id -> Nullable<Key>,
        created_by_agent_id -> Nullable<Key>,
        created_by_user_id -> Nullable<Key>,
        billing_code -> Nullable<Text>,
        ticket_key -> Nullable<Text>,
        request_depth -> Integer,
        delegation -> Nullable<Json>,
        assignee_adapter_overrides -> Nullable<Json>,
        execution_workspace_id -> Nullable<Key>,
        workflow_epoch -> Integer,
        started_at -> Nullable<Instant>,
        last_started_at -> Nullable<Instant>,
        completed_at -> Nullable<Instant>,
        cancelled_at -> Nullable<Instant>,
        hidden_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
        lease_fence -> BigInt,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_leases (issue_id) {
        issue_id -> Key,
        company_id -> Key,
        agent_id -> Key,
        run_id -> Nullable<Key>,
        fence -> BigInt,
        expires_at -> Nullable<Instant>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_comments (id) {
        id -> Key,
        company_id -> Key,
        issue_id -> Key,
        author_agent_id -> Nullable<Key>,
        author_user_id -> Nullable<Key>,
        run_id -> Nullable<Key>,
        body -> Text,
        mentions -> Json,
        created_at -> Instant,
    }
}

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
        started_at -> Nullable<Instant>,
        finished_at -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
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
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    cost_events (id) {
        id -> Key,
        company_id -> Key,
        agent_id -> Key,
        issue_id -> Nullable<Key>,
        project_id -> Nullable<Key>,
        goal_id -> Nullable<Key>,
        run_id -> Nullable<Key>,
        billing_code -> Nullable<Text>,
        provider -> Text,
        model -> Text,
        billing_type -> Text,
        input_tokens -> BigInt,
        output_tokens -> BigInt,
        cached_input_tokens -> BigInt,
        cache_write_tokens -> BigInt,
        cost_micros -> BigInt,
        source -> Text,
        counted -> Bool,
        idempotency_key -> Nullable<Text>,
        occurred_at -> Instant,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    spend_totals (company_id, scope_type, scope_id, month) {
        company_id -> Key,
        scope_type -> Text,
        scope_id -> Key,
        month -> Integer,
        spent_micros -> BigInt,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    budget_alerts (company_id, scope_type, scope_id, month, threshold) {
        company_id -> Key,
        scope_type -> Text,
        scope_id -> Key,
        month -> Integer,
        threshold -> Text,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approvals (id) {
        id -> Key,
        company_id -> Key,
        #[sql_name = "type"]
        type_ -> Text,
        status -> Text,
        payload -> Json,
        requested_by_agent_id -> Nullable<Key>,
        requested_by_user_id -> Nullable<Key>,
        primary_issue_id -> Nullable<Key>,
        decision_note -> Nullable<Text>,
        decided_by -> Nullable<Text>,
        decided_at -> Nullable<Instant>,
        resubmit_count -> Integer,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approval_issues (approval_id, issue_id) {
        company_id -> Key,
        approval_id -> Key,
        issue_id -> Key,
    }
}

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
    }
}

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

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    idempotency_keys (idem_scope, idem_key) {
        idem_scope -> Text,
        idem_key -> Text,
        request_hash -> Binary,
        status -> Integer,
        body -> Binary,
        sealed -> Bool,
        created_at -> Instant,
    }
}

diesel::joinable!(agents -> companies (company_id));
diesel::joinable!(company_counters -> companies (company_id));
diesel::joinable!(agent_keys -> agents (agent_id));
diesel::joinable!(heartbeat_runs -> agents (agent_id));
diesel::joinable!(heartbeat_runs -> issues (issue_id));
diesel::joinable!(wakes -> agents (agent_id));
diesel::joinable!(wakes -> heartbeat_runs (run_id));
diesel::joinable!(wakes -> issues (issue_id));
diesel::joinable!(wakes -> companies (company_id));
diesel::joinable!(issue_leases -> issues (issue_id));
diesel::joinable!(issue_leases -> heartbeat_runs (run_id));
diesel::joinable!(issue_comments -> issues (issue_id));
diesel::joinable!(project_goals -> projects (project_id));
diesel::joinable!(project_goals -> goals (goal_id));
diesel::joinable!(project_workspaces -> projects (project_id));
diesel::joinable!(cost_events -> projects (project_id));
diesel::joinable!(cost_events -> agents (agent_id));
diesel::joinable!(approval_issues -> approvals (approval_id));
diesel::joinable!(approval_issues -> issues (issue_id));
diesel::joinable!(run_processes -> heartbeat_runs (run_id));
diesel::joinable!(heartbeat_runs -> companies (company_id));
diesel::joinable!(issues -> companies (company_id));
diesel::joinable!(secret_versions -> secrets (secret_id));

diesel::allow_tables_to_appear_in_same_query!(
    companies,
    company_counters,
    agents,
    agent_keys,
    goals,
    projects,
    project_goals,
    project_workspaces,
    execution_workspaces,
    issues,
    issue_leases,
    issue_comments,
    heartbeat_runs,
    run_processes,
    wakes,
    cost_events,
    spend_totals,
    budget_alerts,
    approvals,
    approval_issues,
    secrets,
    secret_versions,
    agent_config_revisions,
    activity,
    events,
    idempotency_keys,
);
