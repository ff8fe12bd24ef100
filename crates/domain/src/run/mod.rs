//! Heartbeat runs: one execution of an agent.

mod begin;
mod completion;
mod end;
mod lifecycle;
mod start;

use serde::Serialize;

use alloc::string::String;

pub use begin::{PromptDigest, RunStart};
pub use completion::{Completion, CompletionReport, CompletionStatus, ReportFault};
pub use end::{MAX_RESULT_BYTES, RunEnd, RunOutcome, bounded_result};
pub use lifecycle::*;
pub use start::StartCondition;

use crate::actor::company_owned;
use crate::id::{AgentId, CompanyId, InstanceId, IssueId, RunId, WakeId};
use crate::string_enum;
use crate::text::SessionId;
use crate::time::Timestamp;
use crate::wake::{WakeReason, WakeSource};

string_enum! {
    /// What a run may do.
    pub enum RunKind {
        /// Works on an issue and holds its lease.
        Execution = "execution",
        /// Answers a mention: reads and comments, cannot check out.
        Consult = "consult",
        /// Not about one issue.
        General = "general",
    }
}

string_enum! {
    /// Why a run ended otherwise than by itself in good order.
    pub enum RunErrorCode {
        /// The program ended with a code other than zero.
        AdapterFailed = "adapter_failed",
        /// The agent program is not signed in, or its credential is refused.
        AuthRequired = "auth_required",
        /// The provider of the model lets the account do no more for now.
        ProviderLimit = "provider_limit",
        /// The provider of the model has too much to do.
        ProviderOverloaded = "provider_overloaded",
        /// The session does not fit into what the model can take.
        ContextTooLong = "context_too_long",
        /// The program does not know the session it was to go on with.
        SessionUnknown = "session_unknown",
        /// The program took as many turns as it may.
        MaxTurns = "max_turns",
        /// The program could not be started.
        SpawnFailed = "spawn_failed",
        /// The adapter's configuration does not say what to start.
        ConfigInvalid = "config_invalid",
        /// The agent's instructions cannot be read.
        InstructionsUnavailable = "instructions_unavailable",
        /// A secret that its configuration names has no value.
        SecretUnresolved = "secret_unresolved",
        /// The worktree of its ticket is gone and cannot be made again.
        WorkspaceMissing = "workspace_missing",
        /// The server could not run this kind of adapter; only runs of earlier
        /// versions show it.
        AdapterUnavailable = "adapter_unavailable",
        /// It ran longer than its wall limit.
        WallLimit = "wall_limit",
        /// It showed no sign of life for its idle limit.
        IdleLimit = "idle_limit",
        /// Its server died.
        ProcessLost = "process_lost",
        /// Its lease was not renewed in time.
        LeaseExpired = "lease_expired",
        /// The server was stopped.
        ServerShutdown = "server_shutdown",
        /// Its agent's or company's budget is used up.
        BudgetExhausted = "budget_exhausted",
        /// Somebody asked it to stop.
        CancelRequested = "cancel_requested",
        /// workforce itself failed.
        Internal = "internal",
    }
}

impl RunErrorCode {
    /// Whether an agent that is called by HTTP may say this of itself. The other
    /// words are for what workforce sees.
    pub const fn is_of_agents(self) -> bool {
        matches!(
            self,
            Self::AdapterFailed
                | Self::AuthRequired
                | Self::ProviderLimit
                | Self::ProviderOverloaded
                | Self::ContextTooLong
                | Self::MaxTurns
        )
    }
}

/// A heartbeat run: one execution of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = HeartbeatRun))]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Unique id.
    pub id: RunId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The agent that runs.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// The issue it is about.
    #[serde(rename = "issueId")]
    pub issue: Option<IssueId>,
    /// What it may do.
    pub kind: RunKind,
    /// Where it stands.
    pub status: RunStatus,
    /// What started it.
    #[serde(rename = "invocationSource")]
    pub source: WakeSource,
    /// The first reason it was started for.
    pub reason: WakeReason,
    /// The wake it answers.
    #[serde(rename = "wakeId")]
    pub wake: WakeId,
    /// Grows with every claim, so that a late writer is refused.
    #[serde(skip)]
    pub fence: i64,
    /// SHA-256 of its token; present only while it is running.
    #[serde(skip)]
    pub token_digest: Option<[u8; 32]>,
    /// The server that runs it.
    #[serde(skip)]
    pub instance: Option<InstanceId>,
    /// When its lease ends unless renewed.
    #[serde(skip)]
    pub lease_expires_at: Option<Timestamp>,
    /// When somebody asked it to stop.
    pub stop_requested_at: Option<Timestamp>,
    /// Why it was asked to stop.
    pub stop_reason: Option<RunErrorCode>,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// Why it did not end well.
    pub error_code: Option<RunErrorCode>,
    /// The same for people.
    pub error: Option<String>,
    /// Bytes of output it wrote.
    pub log_bytes: i64,
    /// The end of its output.
    pub log_tail: Option<String>,
    /// The fences that were around its program, as words separated by commas;
    /// `null` when it is not known.
    pub containment: Option<String>,
    /// The session of its program.
    #[serde(rename = "sessionId")]
    pub session: Option<SessionId>,
    /// Whether it went on with a session of earlier runs; `null` for a program
    /// without sessions.
    pub session_resumed: Option<bool>,
    /// SHA-256 of the text that its program was given, in hexadecimal digits.
    pub prompt_sha256: Option<String>,
    /// The length in bytes of the text that its program was given.
    pub prompt_bytes: Option<i32>,
    /// The text with which its program ended, at most 16 KiB.
    pub result_text: Option<String>,
    /// Until when the provider of the model said to wait.
    pub retry_at: Option<Timestamp>,
    /// When it was started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(Run, company);

/// The operating-system process of a run, recorded before the process may
/// execute anything, so that it can always be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The run.
    pub run: RunId,
    /// The company.
    pub company: CompanyId,
    /// The server that started it.
    pub instance: InstanceId,
    /// Process id of the leader.
    pub pid: i32,
    /// Its process group.
    pub process_group: i32,
    /// Start time of the leader in clock ticks since boot, which tells it from
    /// a later process with the same id.
    pub start_ticks: i64,
}

impl crate::actor::sealed::Sealed for ProcessRecord {
    fn identity(&self) -> uuid::Uuid {
        self.run.into()
    }
}

impl crate::actor::CompanyOwned for ProcessRecord {
    fn company(&self) -> CompanyId {
        self.company
    }
}
