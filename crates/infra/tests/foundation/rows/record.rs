//! What happened.

use super::{BOSS, COMPANY, RUN};
use crate::row::Row;
use crate::row::Value::{Digest, Instant, Json, Key, Number, Text};

pub(crate) fn event(c: u8) -> Row {
    row!(events {
        company_id: Key(c, COMPANY),
        seq: Number(1),
        type_: Text("issue.updated"),
        payload: Json("{}"),
        created_at: Instant,
    })
}

pub(crate) fn activity(c: u8) -> Row {
    row!(activity {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        actor_type: Text("agent"),
        actor_id: Text("a"),
        agent_id: Key(c, BOSS),
        run_id: Key(c, RUN),
        action: Text("issue.created"),
        entity_type: Text("issue"),
        entity_id: Text("i"),
        details: Json("{}"),
        created_at: Instant,
    })
}

pub(crate) fn stream_ticket(c: u8) -> Row {
    row!(stream_tickets {
        ticket_hash: Digest(c),
        company_id: Key(c, COMPANY),
        holder: Text("local-board"),
        expires_at: Instant,
    })
}
