//! Companies, their counters, and what belongs to the whole instance.

diesel::table! {
    use crate::store::columns::{Instant, Json, Key};
    use diesel::sql_types::*;

    companies (id) {
        id -> Key,
        name -> Text,
        description -> Nullable<Text>,
        status -> Text,
        budget_monthly_cents -> BigInt,
        budget_basis -> Text,
        issue_prefix -> Text,
        require_board_approval_for_new_agents -> Bool,
        review_required -> Bool,
        max_concurrent_runs -> Integer,
        attachment_max_bytes -> Nullable<BigInt>,
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
        activity_clock -> BigInt,
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
