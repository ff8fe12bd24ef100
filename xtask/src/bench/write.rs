//! The statements of each write, in the order in which the server runs them.
//!
//! They follow the queries of `crates/infra` and the use cases of `crates/app`; whoever changes
//! what a write does, changes its list here. Columns that the write leaves empty are not named.

use anyhow::Result;

use super::company::Company;
use super::figure::{COMMENT, DESCRIPTION, Figure, MODEL, PROVIDER, TITLE, own};
use super::limit::Session;
use super::random::{Random, now};
use super::seed::Issues;
use super::statement::{Database, Document, Instant, Key, Statement, Value};

/// What one connection writes with.
#[derive(Debug)]
pub(crate) struct Writer {
    company: Key,
    agent: Key,
    digest: Vec<u8>,
    project: Key,
    prefix: String,
    actor: String,
    month: i32,
    /// Issues that no other connection touches.
    issues: Vec<Key>,
    turn: usize,
    random: Random,
}

const COMPANY_COLUMNS: &str = "id, name, description, status, budget_monthly_cents, issue_prefix, \
     require_board_approval_for_new_agents, review_required, max_concurrent_runs, locale, \
     brand_color, pause_reason, paused_at, archived_at, created_at, updated_at";

macro_rules! agent_columns {
    ($prefix:literal) => {
        concat!(
            $prefix, "id, ", $prefix, "company_id, ", $prefix, "name, ", $prefix, "url_key, ",
            $prefix, "role, ", $prefix, "title, ", $prefix, "icon, ", $prefix, "capabilities, ",
            $prefix, "reports_to, ", $prefix, "lifecycle, ", $prefix, "lifecycle_at, ",
            $prefix, "pause_reason, ", $prefix, "consecutive_failures, ", $prefix, "adapter_type, ",
            $prefix, "adapter_config, ", $prefix, "runtime_config, ",
            $prefix, "max_concurrent_runs, ", $prefix, "can_create_agents, ", $prefix, "metadata, ",
            $prefix, "budget_monthly_cents, ", $prefix, "last_heartbeat_at, ",
            $prefix, "created_at, ", $prefix, "updated_at"
        )
    };
}
