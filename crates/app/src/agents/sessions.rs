//! What the programs of agents keep from run to run
//! (docs/heartbeats.md#sessions).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::AgentId;
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};
use workforce_domain::session::{AgentSession, TaskKey};
use workforce_domain::text::Label;

use super::{AgentError, RuntimeState, lock, runtime_state};
use crate::access::Denied;
use crate::activity_log::log_activity;
use crate::context::Context;

/// At most so many sessions are shown.
const SHOWN_SESSIONS: usize = 100;

/// The sessions of an agent, the last used first. Anyone of the company.
pub fn sessions(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<Vec<AgentSession>, Failure<AgentError>> {
    match reads.agents().find(ctx.actor().scope(), id)? {
        Some(agent) => {
            let scope = agent.scope();
            Ok(reads.sessions().sessions_of(scope, id, SHOWN_SESSIONS)?)
        }
        None => Err(Denied::NotFound("agent").into()),
    }
}

/// Makes the agent's next runs begin afresh, without the sessions of earlier
/// ones: about one task, or about all. Board only.
pub fn reset_session(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    task: Option<&Label>,
) -> Result<RuntimeState, Failure<AgentError>> {
    ctx.require_board()?;
    let agent = lock(tx, ctx, id)?;
    let scope = agent.scope();
    let forgotten = match task {
        None => tx.sessions_mut().delete_sessions(scope, id, None)?,
        Some(text) => match named_task(tx.reads(), scope, text)? {
            Some(task) => tx.sessions_mut().delete_sessions(scope, id, Some(task))?,
            None => 0,
        },
    };
    if forgotten > 0 {
        let details = json!({ "taskKey": task, "sessions": forgotten });
        log_activity(tx, ctx, Action::AgentSessionsReset, &agent, details);
    }
    runtime_state(tx.reads(), ctx, id)
}

/// The task that a caller names: by its key, or by the id or the identifier of
/// its issue. `None` for a task that nothing can be kept of.
fn named_task(
    reads: &mut dyn Reads,
    company: CompanyScope,
    text: &str,
) -> Result<Option<TaskKey>, StoreError> {
    if let Ok(task) = text.parse() {
        return Ok(Some(task));
    }
    let name = text.strip_prefix(TaskKey::OF_ISSUE).unwrap_or(text);
    let Some(issue) = IssueRef::parse(name) else {
        return Ok(None);
    };
    let issue = reads.issues().find(company.into(), &issue)?;
    Ok(issue.map(|issue| TaskKey::Issue(issue.id)))
}
