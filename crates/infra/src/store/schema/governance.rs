//! What the board decides.

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
        attention -> Json,
        requested_by_agent_id -> Nullable<Key>,
        requested_by_user_id -> Nullable<Key>,
        requested_by_board -> Nullable<Text>,
        primary_issue_id -> Nullable<Key>,
        decision_note -> Nullable<Text>,
        decided_by -> Nullable<Text>,
        decided_at -> Nullable<Instant>,
        resubmit_count -> Integer,
        revision -> Integer,
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
    use crate::store::columns::Key;

    approval_drafts (approval_id) {
        approval_id -> Key,
        company_id -> Key,
        agent_id -> Key,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approval_events (id) {
        id -> Key,
        company_id -> Key,
        approval_id -> Key,
        kind -> Text,
        actor_type -> Text,
        actor_id -> Text,
        note -> Nullable<Text>,
        details -> Json,
        created_at -> Instant,
        payload -> Nullable<Json>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approval_comments (id) {
        id -> Key,
        company_id -> Key,
        approval_id -> Key,
        author_agent_id -> Nullable<Key>,
        author_user_id -> Nullable<Key>,
        author_board -> Nullable<Text>,
        run_id -> Nullable<Key>,
        body -> Text,
        mentions -> Json,
        created_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approval_executions (approval_id) {
        approval_id -> Key,
        company_id -> Key,
        state -> Text,
        step -> Text,
        error_code -> Nullable<Text>,
        error -> Nullable<Text>,
        details -> Json,
        attempts -> Integer,
        forced -> Bool,
        decided_by -> Text,
        note -> Nullable<Text>,
        lease_expires_at -> Nullable<Instant>,
        instance_id -> Nullable<Key>,
        started_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    approval_execution_steps (approval_id, workspace_id, step) {
        approval_id -> Key,
        company_id -> Key,
        workspace_id -> Key,
        step -> Text,
        begun_at -> Instant,
        done_at -> Nullable<Instant>,
        result -> Json,
    }
}
