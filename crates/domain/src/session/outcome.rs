//! What becomes of a session when a run ends.

use alloc::boxed::Box;
use alloc::string::String;

use super::{AgentSession, FailureClass, TaskKey};
use crate::agent::AdapterType;
use crate::id::{AgentId, CompanyId, RunId};
use crate::run::bounded_result;
use crate::text::SessionId;
use crate::time::Timestamp;

/// What a run that has ended did with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRun {
    /// The company.
    pub company: CompanyId,
    /// The agent that ran.
    pub agent: AgentId,
    /// The kind of program.
    pub adapter_type: AdapterType,
    /// What the run was about.
    pub task: TaskKey,
    /// The run.
    pub run: RunId,
    /// The session that it was to go on with; none for a new one.
    pub resumed: Option<SessionId>,
    /// The session that its program named.
    pub session: Option<SessionId>,
    /// The directory that it worked in.
    pub directory: String,
    /// SHA-256 of its model and settings, in hexadecimal digits.
    pub fingerprint: String,
    /// Tokens that it sent to the model.
    pub input_tokens: i64,
    /// What the runs of its session have been counted for, with this one.
    pub usage_baseline: String,
    /// The text with which it ended, without the values of secrets.
    pub result: Option<String>,
    /// How its program failed, if it did.
    pub failure: Option<FailureClass>,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub at: Timestamp,
}

/// What is to be done about the stored session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// It stays as it is, or missing.
    Keep,
    /// This is stored in its place.
    Save(Box<AgentSession>),
    /// It goes, so that the next run begins afresh.
    Forget,
}

impl AgentSession {
    /// What a run leaves of the session that is stored for its task by now.
    ///
    /// A run that went on with a session says nothing about another one: when
    /// that session was forgotten meanwhile, it stays forgotten.
    pub fn after_run(previous: Option<&Self>, run: SessionRun) -> SessionChange {
        let continued = match &run.resumed {
            None => None,
            Some(resumed) => match previous.filter(|stored| stored.session == *resumed) {
                Some(stored) => Some(stored),
                None => return SessionChange::Keep,
            },
        };
        if run.failure.is_some_and(FailureClass::ends_session) {
            return previous.map_or(SessionChange::Keep, |_| SessionChange::Forget);
        }
        if run.failure.is_some_and(FailureClass::leaves_session) {
            return SessionChange::Keep;
        }
        let Some(session) = run.session else {
            return SessionChange::Keep;
        };
        let (runs, input_tokens, begun_at) = continued.map_or((0, 0, run.started_at), |before| {
            (before.runs, before.input_tokens, before.begun_at)
        });
        let result = run.result.map(bounded_result);
        SessionChange::Save(Box::new(Self {
            company: run.company,
            agent: run.agent,
            adapter_type: run.adapter_type,
            task: run.task,
            session,
            directory: run.directory,
            fingerprint: run.fingerprint,
            runs: runs.saturating_add(1),
            input_tokens: input_tokens.saturating_add(run.input_tokens.max(0)),
            usage_baseline: run.usage_baseline,
            // A run that told nothing leaves what an earlier one told to be handed over.
            last_result: result.or_else(|| previous?.last_result.clone()),
            begun_at,
            // Clocks of servers differ.
            last_used_at: run.at.max(begun_at),
            last_run: Some(run.run),
        }))
    }
}
