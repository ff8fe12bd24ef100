//! Runs as rows.

use diesel::prelude::*;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId, WakeId};
use workforce_domain::run::{PromptDigest, Run, RunErrorCode, RunKind, RunStatus};
use workforce_domain::wake::{WakeReason, WakeSource};

use super::row::{Row, admit_some, length};
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::heartbeat_runs;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = heartbeat_runs,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
pub(super) struct RunRow {
    id: IdColumn<RunId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    issue_id: Option<IdColumn<IssueId>>,
    kind: StringEnumColumn<RunKind>,
    status: StringEnumColumn<RunStatus>,
    source: StringEnumColumn<WakeSource>,
    reason: StringEnumColumn<WakeReason>,
    wake_id: IdColumn<WakeId>,
    fence: i64,
    token_hash: Option<DigestColumn>,
    instance_id: Option<IdColumn<InstanceId>>,
    lease_expires_at: Option<InstantColumn>,
    stop_requested_at: Option<InstantColumn>,
    stop_reason: Option<StringEnumColumn<RunErrorCode>>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    error_code: Option<StringEnumColumn<RunErrorCode>>,
    error: Option<String>,
    log_bytes: i64,
    log_tail: Option<String>,
    containment: Option<String>,
    session_id: Option<String>,
    session_resumed: Option<bool>,
    prompt: Option<JsonColumn<PromptDigest>>,
    result_text: Option<String>,
    retry_at: Option<InstantColumn>,
    started_at: Option<InstantColumn>,
    finished_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for RunRow {
    type Record = Run;

    fn weight(&self) -> usize {
        length(self.error.as_ref())
            + length(self.log_tail.as_ref())
            + length(self.result_text.as_ref())
    }

    fn restore(self) -> Result<Run, Corrupt> {
        if self.status.0.is_live() != self.instance_id.is_some()
            || self.status.0.is_live() != self.token_hash.is_some()
            || self.status.0.is_live() != self.lease_expires_at.is_some()
        {
            return Err(Corrupt::new(
                "heartbeat run",
                "a token, a server and a lease belong to running runs and to no others",
            ));
        }
        Ok(Run {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            issue: self.issue_id.map(|id| id.0),
            kind: self.kind.0,
            status: self.status.0,
            source: self.source.0,
            reason: self.reason.0,
            wake: self.wake_id.0,
            fence: self.fence,
            token_digest: self.token_hash.map(|digest| digest.0),
            instance: self.instance_id.map(|id| id.0),
            lease_expires_at: self.lease_expires_at.map(|at| at.0),
            stop_requested_at: self.stop_requested_at.map(|at| at.0),
            stop_reason: self.stop_reason.map(|reason| reason.0),
            exit_code: self.exit_code,
            signal: self.signal,
            error_code: self.error_code.map(|code| code.0),
            error: self.error,
            log_bytes: self.log_bytes,
            log_tail: self.log_tail,
            containment: self.containment,
            session: admit_some("heartbeat run", self.session_id)?,
            session_resumed: self.session_resumed,
            prompt_bytes: self.prompt.as_ref().map(|prompt| prompt.0.bytes),
            prompt_sha256: self.prompt.map(|prompt| prompt.0.sha256),
            result_text: self.result_text,
            retry_at: self.retry_at.map(|at| at.0),
            started_at: self.started_at.map(|at| at.0),
            finished_at: self.finished_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Run> for RunRow {
    fn from(run: &Run) -> Self {
        Self {
            id: IdColumn(run.id),
            company_id: IdColumn(run.company),
            agent_id: IdColumn(run.agent),
            issue_id: run.issue.map(IdColumn),
            kind: StringEnumColumn(run.kind),
            status: StringEnumColumn(run.status),
            source: StringEnumColumn(run.source),
            reason: StringEnumColumn(run.reason),
            wake_id: IdColumn(run.wake),
            fence: run.fence,
            token_hash: run.token_digest.map(DigestColumn),
            instance_id: run.instance.map(IdColumn),
            lease_expires_at: run.lease_expires_at.map(InstantColumn),
            stop_requested_at: run.stop_requested_at.map(InstantColumn),
            stop_reason: run.stop_reason.map(StringEnumColumn),
            exit_code: run.exit_code,
            signal: run.signal,
            error_code: run.error_code.map(StringEnumColumn),
            error: run.error.clone(),
            log_bytes: run.log_bytes,
            log_tail: run.log_tail.clone(),
            containment: run.containment.clone(),
            session_id: run.session.clone().map(String::from),
            session_resumed: run.session_resumed,
            prompt: run
                .prompt_sha256
                .clone()
                .zip(run.prompt_bytes)
                .map(|(sha256, bytes)| JsonColumn(PromptDigest { sha256, bytes })),
            result_text: run.result_text.clone(),
            retry_at: run.retry_at.map(InstantColumn),
            started_at: run.started_at.map(InstantColumn),
            finished_at: run.finished_at.map(InstantColumn),
            created_at: InstantColumn(run.created_at),
            updated_at: InstantColumn(run.updated_at),
        }
    }
}
