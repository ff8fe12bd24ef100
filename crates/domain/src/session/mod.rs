//! Sessions: the conversation that an agent's program keeps about one task from
//! run to run.

mod failure;
mod gate;
mod outcome;
mod plan;
mod task_key;

use alloc::string::String;

use serde::Serialize;

pub use failure::FailureClass;
pub use gate::ProviderGate;
pub use outcome::{SessionChange, SessionRun};
pub use plan::{FreshReason, ResumedSession, SessionPlan, SessionWish};
pub use task_key::{NoTaskKey, TaskKey};

use crate::agent::AdapterType;
use crate::id::{AgentId, CompanyId, RunId};
use crate::text::SessionId;
use crate::time::Timestamp;

/// The session of an agent about a task. There is one for each agent, kind of
/// program and task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TaskSession))]
#[serde(rename_all = "camelCase")]
pub struct AgentSession {
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The agent.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// The kind of program whose session it is.
    pub adapter_type: AdapterType,
    /// The task.
    #[serde(rename = "taskKey")]
    pub task: TaskKey,
    /// The id by which the program finds it again.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// The directory that its runs worked in.
    #[serde(skip)]
    pub directory: String,
    /// SHA-256 of the model and the settings of its runs, in hexadecimal digits.
    #[serde(skip)]
    pub fingerprint: String,
    /// Its runs so far.
    pub runs: i32,
    /// Tokens that its runs sent to the model so far.
    pub input_tokens: i64,
    /// What its runs have been counted for, in the form of the reader of the
    /// program's output. Nothing else looks into it.
    #[serde(skip)]
    pub usage_baseline: String,
    /// The last text with which a run about the task ended, at most
    /// [`MAX_RESULT_BYTES`](crate::run::MAX_RESULT_BYTES).
    #[serde(skip)]
    pub last_result: Option<String>,
    /// When its first run was started.
    pub begun_at: Timestamp,
    /// When its last run ended.
    pub last_used_at: Timestamp,
    /// Its last run.
    #[serde(rename = "lastRunId")]
    pub last_run: Option<RunId>,
}
