//! Long-lived API keys (docs/access.md#callers).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::Owned;
use workforce_domain::agent::AgentKey;
use workforce_domain::id::{AgentId, AgentKeyId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{Failure, Reads, TokenKind, Tx};
use workforce_domain::text::Name;

use super::{AgentError, EMPLOYED, hold, require_employed};
use crate::access::{Denied, denied};
use crate::call::Call;
use crate::record::record;
use crate::refusal::Codes;

/// A key just made. The full value is shown this once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedKey {
    /// The key as it is kept.
    pub key: AgentKey,
    /// The full value.
    pub token: String,
}

/// What [`create_key`] refuses with.
pub const CREATE_KEY: Codes = EMPLOYED;

/// Makes a key for an agent. Board only; refused for drafts and terminated
/// agents.
///
/// # Errors
/// [`AgentError`]
pub fn create_key(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: AgentId,
    name: Name,
) -> Result<CreatedKey, Failure<AgentError>> {
    let agent = hold(tx, call, id)?;
    call.require_board().map_err(denied)?;
    require_employed(&agent).map_err(Failure::Refused)?;
    let minted = call.tokens.mint(TokenKind::AgentKey);
    let key = AgentKey {
        id: call.id(),
        company: agent.company,
        agent: id,
        name,
        prefix: minted.prefix,
        digest: minted.digest,
        created_at: call.now,
        last_used_at: None,
        revoked_at: None,
    };
    tx.credentials_mut().insert_key(&agent, &key)?;
    let details = json!({ "keyId": key.id, "prefix": key.prefix });
    record(tx, call, Action::AgentKeyCreated, &agent, details);
    Ok(CreatedKey {
        key,
        token: minted.token,
    })
}

/// The keys of an agent, without their values, oldest first. The board, or the
/// agent itself.
///
/// # Errors
/// [`AgentError`]
pub fn keys(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    id: AgentId,
    page: &PageRequest<CreationKey<AgentKeyId>>,
) -> Result<Page<AgentKey, CreationKey<AgentKeyId>>, Failure<AgentError>> {
    let Some(agent) = reads.agents().find(call.actor().scope(), id)? else {
        return Err(denied(Denied::NotFound("agent")));
    };
    if call.agent().is_some_and(|caller| caller.agent != id) {
        return Err(denied(Denied::Forbidden("an agent sees its own keys only")));
    }
    Ok(reads.credentials().keys(agent.scope(), id, page)?)
}

/// Revokes a key. Board only; revoking again changes nothing.
///
/// # Errors
/// [`AgentError`]
pub fn revoke_key(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: AgentId,
    key: AgentKeyId,
) -> Result<AgentKey, Failure<AgentError>> {
    let agent = hold(tx, call, id)?;
    call.require_board().map_err(denied)?;
    let revoked = tx
        .credentials_mut()
        .revoke_key(&agent, key, call.now)?
        .ok_or_else(|| denied(Denied::NotFound("agent key")))?;
    if revoked.revoked_at == Some(call.now) {
        let details = json!({ "keyId": key, "prefix": revoked.prefix });
        record(tx, call, Action::AgentKeyRevoked, &agent, details);
    }
    Ok(revoked)
}
