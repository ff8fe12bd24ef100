//! Companies and what counts for them.

use super::COMPANY;
use crate::row::Row;
use crate::row::Value::{Bytes, Digest, Flag, Instant, Key, Null, Number, Text};

pub(crate) fn company(c: u8) -> Row {
    row!(companies {
        id: Key(c, COMPANY),
        name: Text("Acme"),
        description: Null,
        status: Text("active"),
        budget_monthly_cents: Number(0),
        issue_prefix: Text(["ACM", "BEE", "CEE"][usize::from(c)]),
        require_board_approval_for_new_agents: Flag(false),
        review_required: Flag(false),
        max_concurrent_runs: Number(4),
        attachment_max_bytes: Null,
        locale: Null,
        brand_color: Null,
        pause_reason: Null,
        paused_at: Null,
        archived_at: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn kept_answer() -> Row {
    row!(idempotency_keys {
        idem_scope: Text("agent"),
        idem_key: Text("k"),
        request_hash: Digest(1),
        status: Number(201),
        body: Bytes(2),
        sealed: Flag(false),
        created_at: Instant,
    })
}

pub(crate) fn counters(c: u8) -> Row {
    row!(company_counters {
        company_id: Key(c, COMPANY),
        issue_number: Number(9),
        event_sequence: Number(1),
        last_dispatched_at: Null,
    })
}
