//! Instructions of agents.

use super::{COMPANY, WORKER};
use crate::row::Row;
use crate::row::Value::{Instant, Json, Key, Null, Number, Text};

pub(crate) fn bundle(c: u8) -> Row {
    row!(instruction_bundles {
        agent_id: Key(c, WORKER),
        company_id: Key(c, COMPANY),
        mode: Text("managed"),
        root_path: Null,
        entry_file: Text("AGENTS.md"),
        version: Number(1),
        updated_at: Instant,
    })
}

pub(crate) fn version(c: u8) -> Row {
    row!(instruction_versions {
        agent_id: Key(c, WORKER),
        version: Number(1),
        company_id: Key(c, COMPANY),
        files: Json("[]"),
        created_at: Instant,
    })
}

pub(crate) fn content(c: u8) -> Row {
    row!(instruction_contents {
        agent_id: Key(c, WORKER),
        sha256: Text("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        company_id: Key(c, COMPANY),
        content: Text("x"),
    })
}
