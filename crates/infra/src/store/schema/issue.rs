//! Work, who holds it, and what is said about it.

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
        assignee_user_id -> Nullable<Text>,
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
        created_by_board -> Nullable<Text>,
        implementer_agent_id -> Nullable<Key>,
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
        author_board -> Nullable<Text>,
        review_id -> Nullable<Key>,
        position -> Nullable<Json>,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    labels (id) {
        id -> Key,
        company_id -> Key,
        name -> Text,
        name_key -> Text,
        color -> Text,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_labels (company_id, issue_id, label_id) {
        company_id -> Key,
        issue_id -> Key,
        label_id -> Key,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_texts (doc) {
        doc -> BigInt,
        company_id -> Key,
        issue_id -> Key,
        comment_id -> Nullable<Key>,
        pending -> Bool,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    issue_child_keys (company_id, issue_id) {
        company_id -> Key,
        issue_id -> Key,
        child_key -> Binary,
    }
}

diesel::table! {
    use crate::store::columns::{Instant, Key};
    use diesel::sql_types::*;

    stuck_issues (issue_id) {
        issue_id -> Key,
        company_id -> Key,
        reason -> Text,
        since -> Instant,
    }
}
