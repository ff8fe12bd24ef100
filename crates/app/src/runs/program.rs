//! What the agent program of a run leaves behind.

use std::convert::Infallible;

use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::RunId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::session::{AgentSession, FailureClass, SessionChange, SessionRun};
use workforce_domain::text::SessionId;

use crate::context::Context;

/// How a run dealt with its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUse {
    /// The kind of program.
    pub adapter_type: AdapterType,
    /// The directory it worked in.
    pub directory: String,
    /// Digest of its model and settings.
    pub fingerprint: String,
    /// The session that it was to go on with.
    pub resumed: Option<SessionId>,
    /// Tokens that it sent to the model.
    pub input_tokens: i64,
    /// What the session is counted for now.
    pub usage_baseline: String,
    /// How its program failed, if it did.
    pub failure: Option<FailureClass>,
}

/// Keeps the session of a run that has just ended for the next one, or forgets
/// it, in the transaction that writes the end down.
pub fn keep_session(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    run: RunId,
    used: &SessionUse,
) -> Result<(), Failure<Infallible>> {
    let Some(run) = tx.runs().find(company.into(), run)? else {
        return Ok(());
    };
    let task = run.issue.into();
    let stored = tx
        .sessions()
        .find_session(company, run.agent, used.adapter_type, task)?;
    let ended = SessionRun {
        company: run.company,
        agent: run.agent,
        adapter_type: used.adapter_type,
        task,
        run: run.id,
        resumed: used.resumed.clone(),
        session: run.session,
        directory: used.directory.clone(),
        fingerprint: used.fingerprint.clone(),
        input_tokens: used.input_tokens,
        usage_baseline: used.usage_baseline.clone(),
        result: run.result_text,
        failure: used.failure,
        started_at: run.started_at.unwrap_or(ctx.now),
        at: ctx.now,
    };
    match AgentSession::after_run(stored.as_ref(), ended) {
        SessionChange::Keep => {}
        SessionChange::Save(session) => tx.sessions_mut().save_session(&session)?,
        SessionChange::Forget => {
            tx.sessions_mut()
                .delete_sessions(company, run.agent, Some(task))?;
        }
    }
    Ok(())
}
