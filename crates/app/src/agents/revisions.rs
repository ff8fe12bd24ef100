//! Revisions of an agent's configuration: each change is kept, sealed, in the
//! transaction of the change (docs/secrets.md#sealing).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, RevisionId};
use workforce_domain::json_text;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, Locked, Reads, RevisionCursor, StoreError, Tx};
use workforce_domain::revision::{
    AgentConfig, Revision, RevisionSide, RevisionSource, SealedConfig,
};

use super::AgentError;
use crate::access::{self, Denied};
use crate::activity_log::log_change;
use crate::context::Context;

/// How records of this kind are named.
const KIND: &str = "config revision";

/// A revision with its configurations opened.
#[derive(Clone, Debug, PartialEq)]
pub struct RevisionView {
    /// The revision.
    pub revision: Revision,
    /// The configuration before.
    pub before: Option<AgentConfig>,
    /// The configuration after.
    pub after: AgentConfig,
}

/// A change that is to be kept.
pub(crate) struct ConfigChange<'a> {
    /// What made it.
    pub(crate) source: RevisionSource,
    /// The configuration before; none for an agent that was just made.
    pub(crate) before: Option<&'a AgentConfig>,
    /// The configuration after.
    pub(crate) after: &'a AgentConfig,
    /// The revision that was rolled back to.
    pub(crate) rolled_back_from: Option<RevisionId>,
}

/// The configuration of an agent as it is now.
pub(crate) fn config_of(reads: &mut dyn Reads, agent: &Agent) -> Result<AgentConfig, StoreError> {
    let pointer = reads.instructions().pointer(agent.scope(), agent.id)?;
    Ok(AgentConfig::of(agent, pointer.unwrap_or_default()))
}

/// Keeps a change of the configuration of an agent that is locked, or was just
/// made. A rollback is kept even when it changed nothing.
pub(crate) fn keep(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    agent: AgentId,
    change: &ConfigChange<'_>,
) -> Result<Option<RevisionView>, StoreError> {
    let changed_keys = match change.before {
        Some(before) => before.changed_keys(change.after),
        None => Vec::new(),
    };
    let always = change.before.is_none() || change.source == RevisionSource::Rollback;
    if changed_keys.is_empty() && !always {
        return Ok(None);
    }
    let (id, company) = (ctx.id(), scope.company());
    let seal = |side, config| seal(ctx, company, agent, id, side, config);
    let revision = Revision {
        id,
        company,
        agent,
        n: tx.revisions().last_number(scope, agent)? + 1,
        source: change.source,
        rolled_back_from: change.rolled_back_from,
        changed_keys,
        before: change
            .before
            .map(|before| seal(RevisionSide::Before, before))
            .transpose()?,
        after: seal(RevisionSide::After, change.after)?,
        created_by: ctx.actor().author(),
        created_at: ctx.now,
    };
    tx.revisions_mut().insert(&revision)?;
    Ok(Some(RevisionView {
        revision,
        before: change.before.cloned(),
        after: change.after.clone(),
    }))
}

/// Gives everyone who reports to an agent that leaves the agent's own manager.
pub(super) fn move_reports(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    manager: &Locked<Agent>,
) -> Result<(), StoreError> {
    for mut report in tx.agents_mut().lock_reports_of(manager)? {
        let before = config_of(tx.reads(), &report)?;
        report.reports_to = manager.reports_to;
        report.updated_at = ctx.now;
        tx.agents_mut().save(&report)?;
        let change = ConfigChange {
            source: RevisionSource::Patch,
            before: Some(&before),
            after: &config_of(tx.reads(), &report)?,
            rolled_back_from: None,
        };
        keep(tx, ctx, report.scope(), report.id, &change)?;
        let details = json!({ "managerTerminated": manager.id });
        let system = ctx.as_system();
        log_change(tx, &system, Action::AgentUpdated, &mut report, details);
    }
    Ok(())
}

fn seal(
    ctx: &Context<'_>,
    company: CompanyId,
    agent: AgentId,
    revision: RevisionId,
    side: RevisionSide,
    config: &AgentConfig,
) -> Result<SealedConfig, StoreError> {
    let plain = serde_json::to_vec(config).map_err(|error| StoreError::Failed(error.into()))?;
    let context = Revision::seal_context(company, agent, revision, side);
    Ok(SealedConfig(ctx.vault.seal(&context, &plain)))
}

/// One side of a revision, opened.
pub(super) fn open(
    ctx: &Context<'_>,
    revision: &Revision,
    side: RevisionSide,
    sealed: &SealedConfig,
) -> Result<AgentConfig, StoreError> {
    let Revision {
        id, company, agent, ..
    } = *revision;
    let context = Revision::seal_context(company, agent, id, side);
    let plain = ctx
        .vault
        .open(&context, &sealed.0)
        .map_err(|error| Corrupt::new(KIND, error.to_string()))?;
    // The error of the parser could quote what it read.
    str::from_utf8(&plain)
        .ok()
        .and_then(|json| json_text::read_stored(json).ok())
        .ok_or_else(|| Corrupt::new(KIND, "its configuration is not one").into())
}

fn view(ctx: &Context<'_>, revision: Revision) -> Result<RevisionView, StoreError> {
    let before = revision
        .before
        .as_ref()
        .map(|sealed| open(ctx, &revision, RevisionSide::Before, sealed))
        .transpose()?;
    let after = open(ctx, &revision, RevisionSide::After, &revision.after)?;
    Ok(RevisionView {
        revision,
        before,
        after,
    })
}

/// The agent whose configuration a caller wants to see: the board, the agent
/// itself and those above it may.
pub(crate) fn readable<E: From<Denied>>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<Agent, Failure<E>> {
    let Some(agent) = reads.agents().find(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("agent").into());
    };
    if let Some(caller) = ctx.agent()
        && caller.agent != id
        && !access::manages(reads, agent.scope(), caller.agent, id)?
    {
        return Err(Denied::Forbidden(
            "only the agent itself and those above it may see its configuration",
        )
        .into());
    }
    Ok(agent)
}

/// Revisions of an agent's configuration, newest first. For the board, the
/// agent itself and those above it.
pub fn revisions(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    page: &PageRequest<RevisionCursor>,
) -> Result<Page<RevisionView, RevisionCursor>, Failure<AgentError>> {
    let agent = readable::<AgentError>(reads, ctx, id)?;
    let page = reads.revisions().list(agent.scope(), id, page)?;
    let items = page
        .items
        .into_iter()
        .map(|revision| view(ctx, revision))
        .collect::<Result<_, _>>()?;
    Ok(Page {
        items,
        next: page.next,
    })
}

/// One revision of an agent's configuration. For the board, the agent itself
/// and those above it.
pub fn revision(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    revision: RevisionId,
) -> Result<RevisionView, Failure<AgentError>> {
    let agent = readable::<AgentError>(reads, ctx, id)?;
    let found = find(reads, &agent, revision)?;
    Ok(view(ctx, found)?)
}

/// A revision of this agent; another's does not exist.
pub(super) fn find(
    reads: &mut dyn Reads,
    agent: &Agent,
    revision: RevisionId,
) -> Result<Revision, Failure<AgentError>> {
    reads
        .revisions()
        .find(agent.scope().into(), revision)?
        .filter(|found| found.agent == agent.id)
        .ok_or_else(|| Denied::NotFound(KIND).into())
}
