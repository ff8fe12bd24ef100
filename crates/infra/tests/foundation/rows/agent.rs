//! Agents.

use super::{BOSS, COMPANY, WORKER};
use crate::row::Row;
use crate::row::Value::{Bytes, Digest, Flag, Instant, Json, Key, Null, Number, Text};

pub(crate) fn agent(c: u8, thing: u8) -> Row {
    row!(agents {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        name: Text("Ann"),
        url_key: Text(["zero", "boss", "worker", "three"][usize::from(thing.min(3))]),
        role: Text("general"),
        title: Null,
        icon: Null,
        capabilities: Null,
        reports_to: Null,
        lifecycle: Text("enabled"),
        lifecycle_at: Null,
        pause_reason: Null,
        consecutive_failures: Number(0),
        backoff_until: Null,
        provider_account: Null,
        adapter_type: Text("process"),
        adapter_config: Json("{}"),
        runtime_config: Json("{}"),
        max_concurrent_runs: Number(1),
        can_create_agents: Flag(false),
        metadata: Json("{}"),
        budget_monthly_cents: Number(0),
        budget_override_month: Null,
        last_heartbeat_at: Null,
        next_heartbeat_at: Null,
        heartbeat_interval_sec: Null,
        heartbeat_armed_sec: Null,
        suppressed_wakes: Number(0),
        heartbeat_rests: Flag(false),
        heartbeat_always: Flag(false),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn agent_key(c: u8) -> Row {
    row!(agent_keys {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        name: Text("k"),
        prefix: Text("wfk_abcdefgh"),
        key_hash: Digest(c),
        created_at: Instant,
        last_used_at: Null,
        revoked_at: Null,
    })
}

pub(crate) fn revision(c: u8, thing: u8) -> Row {
    row!(agent_config_revisions {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        n: Number(thing.into()),
        source: Text("api"),
        rolled_back_from: Null,
        changed_keys: Json("[]"),
        before_config: Null,
        after_config: Bytes(1),
        created_by_agent_id: Key(c, BOSS),
        created_by_user_id: Null,
        created_at: Instant,
        created_by_board: Null,
    })
}
