//! The same child made twice (docs/issues.md#duplicate-children). An agent that
//! lost the answer, or does not know in a later run what it did, asks again for a
//! child that it has made. A person who asks twice gets two.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::issue::Issue;
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::text::comparable;

use super::CreateIssue;
use crate::context::Context;

/// The key by which an agent's new child of `parent` is recognised; `None` for
/// people. The parent is locked, so that of two that ask at once one comes second.
///
/// A delegation is known by its kind and key for whoever is to do it; else a
/// request by its key, from the same agent; else a child by its title, from
/// the same agent and until the parent is reopened.
pub(super) fn child_key(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &Issue,
    command: &CreateIssue,
) -> Result<Option<[u8; 32]>, StoreError> {
    let Some(caller) = ctx.agent() else {
        return Ok(None);
    };
    let locked = tx
        .issues_mut()
        .lock(parent.scope().into(), &parent.id.into())?;
    let parent = locked.as_deref().unwrap_or(parent);
    let delegation = command.delegation.as_ref().and_then(|delegation| {
        let part = |name: &str| delegation.get(name)?.as_str().filter(|it| !it.is_empty());
        Some((part("kind")?, part("key")?))
    });
    let parts = match (delegation, &command.request_key) {
        (Some((kind, key)), _) => {
            let assignee = command.assignee_agent_id.map(|agent| agent.to_string());
            let assignee = assignee.unwrap_or_default();
            ["delegation".into(), assignee, kind.into(), key.into()]
        }
        (None, Some(key)) => {
            let agent = caller.agent.to_string();
            ["request".into(), agent, String::new(), key.clone()]
        }
        (None, None) => [
            "title".into(),
            caller.agent.to_string(),
            parent.progress.workflow_epoch().to_string(),
            comparable(&command.title),
        ],
    };
    // Each part comes with its length, so that none runs into the next.
    let mut joined = parent.id.to_string();
    for part in parts {
        joined.push_str(&format!(" {}:{part}", part.len()));
    }
    Ok(Some(ctx.tokens.digest(&joined)))
}
