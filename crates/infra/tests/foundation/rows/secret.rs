//! Secrets.

use super::{BOSS, COMPANY, RUN, WORKER};
use crate::row::Row;
use crate::row::Value::{Bytes, Instant, Key, Null, Number, Text};

pub(crate) fn secret_version(c: u8) -> Row {
    row!(secret_versions {
        company_id: Key(c, COMPANY),
        secret_id: Key(c, 1),
        version: Number(1),
        key_id: Text("k"),
        wrapped_key: Bytes(1),
        sealed_value: Bytes(1),
        created_at: Instant,
    })
}

pub(crate) fn secret(c: u8) -> Row {
    row!(secrets {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        name: Text("s"),
        provider: Text("local"),
        external_ref: Null,
        description: Null,
        latest_version: Number(1),
        created_by_agent_id: Key(c, BOSS),
        created_by_user_id: Null,
        created_at: Instant,
        updated_at: Instant,
        token_for: Null,
    })
}

pub(crate) fn agent_secret(c: u8) -> Row {
    row!(agent_secrets {
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        variable: Text("TOKEN"),
        secret_id: Key(c, 1),
        pinned_version: Null,
    })
}

pub(crate) fn run_secret(c: u8) -> Row {
    row!(run_secrets {
        company_id: Key(c, COMPANY),
        run_id: Key(c, RUN),
        variable: Text("TOKEN"),
        secret_id: Key(c, 1),
        version: Number(1),
        used_at: Instant,
    })
}
