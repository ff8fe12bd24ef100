//! Long-lived API keys (docs/access.md#callers).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::AgentKey;
use workforce_domain::id::{AgentId, AgentKeyId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{Failure, Reads, TokenKind, Tx};
use workforce_domain::text::Name;

use super::{AgentError, EMPLOYED, lock, require_employed};
use crate::access::Denied;
use crate::activity_log::log_activity;
use crate::context::Context;
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
pub fn create_key(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    name: Name,
) -> Result<CreatedKey, Failure<AgentError>> {
    let agent = lock(tx, ctx, id)?;
    ctx.require_board()?;
    require_employed(&agent).map_err(Failure::Refused)?;
    let minted = ctx.tokens.mint(TokenKind::AgentKey);
    let key = AgentKey {
        id: ctx.id(),
        company: agent.company,
        agent: id,
        name,
        prefix: minted.prefix,
        digest: minted.digest,
        created_at: ctx.now,
        last_used_at: None,
        revoked_at: None,
    };
    tx.credentials_mut().insert_key(&agent, &key)?;
    let details = json!({ "keyId": key.id, "prefix": key.prefix });
    log_activity(tx, ctx, Action::AgentKeyCreated, &agent, details);
    Ok(CreatedKey {
        key,
        token: minted.token,
    })
}

/// The keys of an agent, without their values, oldest first. The board, or the
/// agent itself.
pub fn keys(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    page: &PageRequest<CreationKey<AgentKeyId>>,
) -> Result<Page<AgentKey, CreationKey<AgentKeyId>>, Failure<AgentError>> {
    let Some(agent) = reads.agents().find(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("agent").into());
    };
    if ctx.agent().is_some_and(|caller| caller.agent != id) {
        return Err(Denied::Forbidden("an agent sees its own keys only").into());
    }
    Ok(reads.credentials().keys(agent.scope(), id, page)?)
}

/// Revokes a key. Board only; revoking again changes nothing.
pub fn revoke_key(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    key: AgentKeyId,
) -> Result<AgentKey, Failure<AgentError>> {
    let agent = lock(tx, ctx, id)?;
    ctx.require_board()?;
    let revoked = tx
        .credentials_mut()
        .revoke_key(&agent, key, ctx.now)?
        .ok_or(Denied::NotFound("agent key"))?;
    if revoked.revoked_at == Some(ctx.now) {
        let details = json!({ "keyId": key, "prefix": revoked.prefix });
        log_activity(tx, ctx, Action::AgentKeyRevoked, &agent, details);
    }
    Ok(revoked)
}
