//! Costs and what they add up to.

use super::{COMPANY, GOAL, PARENT, PROJECT, RUN, WORKER};
use crate::row::Row;
use crate::row::Value::{Flag, Instant, Key, Null, Number, Text};

pub(crate) fn cost(c: u8) -> Row {
    row!(cost_events {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        issue_id: Key(c, PARENT),
        project_id: Key(c, PROJECT),
        goal_id: Key(c, GOAL),
        run_id: Key(c, RUN),
        billing_code: Null,
        provider: Text("p"),
        model: Text("m"),
        billing_type: Text("api"),
        input_tokens: Number(1),
        output_tokens: Number(1),
        cached_input_tokens: Number(0),
        cache_write_tokens: Number(0),
        cost_micros: Number(1),
        source: Text("reported"),
        counted: Flag(true),
        idempotency_key: Text("once"),
        occurred_at: Instant,
        created_at: Instant,
    })
}

pub(crate) fn alert(c: u8) -> Row {
    row!(budget_alerts {
        company_id: Key(c, COMPANY),
        scope_type: Text("agent"),
        scope_id: Key(c, WORKER),
        month: Number(202601),
        threshold: Text("soft"),
        created_at: Instant,
    })
}

pub(crate) fn spend_total(c: u8) -> Row {
    row!(spend_totals {
        company_id: Key(c, COMPANY),
        scope_type: Text("agent"),
        scope_id: Key(c, WORKER),
        month: Number(202601),
        spent_micros: Number(1),
    })
}
