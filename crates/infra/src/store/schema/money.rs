//! The ledger and what it adds up to.

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
        estimated_micros -> Nullable<BigInt>,
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
        estimated_micros -> BigInt,
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

    run_spends (run_id) {
        run_id -> Key,
        company_id -> Key,
        agent_id -> Key,
        project_id -> Nullable<Key>,
        reserved_micros -> BigInt,
        spent_micros -> BigInt,
        estimated_micros -> BigInt,
        untold_micros -> BigInt,
        held_micros -> BigInt,
        booked_through -> BigInt,
        released_at -> Nullable<Instant>,
    }
}
