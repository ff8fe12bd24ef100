use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::runs::InvokeOutcome;
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId, WakeId};
use workforce_domain::run::{Run, RunErrorCode, RunKind, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};

/// A heartbeat run: one execution of an agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeartbeatRun)]
pub(in crate::routes) struct RunBody {
    /// Unique id.
    id: RunId,
    /// Its company.
    company_id: CompanyId,
    /// The agent that runs.
    agent_id: AgentId,
    /// The issue it is about.
    issue_id: Option<IssueId>,
    /// What it may do.
    kind: RunKind,
    /// Where it stands.
    status: RunStatus,
    /// What started it.
    invocation_source: WakeSource,
    /// The first reason it was started for.
    reason: WakeReason,
    /// The wake it answers.
    wake_id: WakeId,
    /// When somebody asked it to stop.
    stop_requested_at: Option<Timestamp>,
    /// Why it was asked to stop.
    stop_reason: Option<RunErrorCode>,
    /// The program's exit code.
    exit_code: Option<i32>,
    /// The signal that ended the program.
    signal: Option<i32>,
    /// Why it did not end well.
    error_code: Option<RunErrorCode>,
    /// The same for people.
    error: Option<String>,
    /// Bytes of output it wrote.
    log_bytes: i64,
    /// The end of its output.
    log_tail: Option<String>,
    /// When it was started.
    started_at: Option<Timestamp>,
    /// When it ended.
    finished_at: Option<Timestamp>,
    /// When it was queued.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl From<Run> for RunBody {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            company_id: run.company,
            agent_id: run.agent,
            issue_id: run.issue,
            kind: run.kind,
            status: run.status,
            invocation_source: run.source,
            reason: run.reason,
            wake_id: run.wake,
            stop_requested_at: run.stop_requested_at,
            stop_reason: run.stop_reason,
            exit_code: run.exit_code,
            signal: run.signal,
            error_code: run.error_code,
            error: run.error,
            log_bytes: run.log_bytes,
            log_tail: run.log_tail,
            started_at: run.started_at,
            finished_at: run.finished_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

/// What an invocation led to.
#[derive(Serialize, ToSchema)]
#[schema(as = InvokedHeartbeat)]
pub(super) struct InvokedBody {
    #[serde(flatten)]
    run: RunBody,
    /// True when the run was queued for something else before.
    coalesced: bool,
}

impl From<InvokeOutcome> for InvokedBody {
    fn from(outcome: InvokeOutcome) -> Self {
        Self {
            run: outcome.run.into(),
            coalesced: outcome.coalesced,
        }
    }
}
