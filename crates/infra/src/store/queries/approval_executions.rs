//! What approvals do outside of the store.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::{
    Approval, ApprovalExecution, ExecutionState, ExecutionStep, ExecutionStepRecord,
};
use workforce_domain::board::NoBoardMember;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{ApprovalId, CompanyId, ExecutionWorkspaceId, InstanceId};
use workforce_domain::port::{Locked, StoreError};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::page::{MAX_WHOLE, row_limit};
use super::row::{Row, all, document_length, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{approval_execution_steps, approval_executions};
use crate::store::stable::one_of;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = approval_executions,
    primary_key(approval_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct ExecutionRow {
    approval_id: IdColumn<ApprovalId>,
    company_id: IdColumn<CompanyId>,
    state: StringEnumColumn<ExecutionState>,
    step: StringEnumColumn<ExecutionStep>,
    error_code: Option<String>,
    error: Option<String>,
    details: JsonColumn<Document>,
    attempts: i32,
    forced: bool,
    decided_by: String,
    note: Option<String>,
    lease_expires_at: Option<InstantColumn>,
    instance_id: Option<IdColumn<InstanceId>>,
    started_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for ExecutionRow {
    type Record = ApprovalExecution;

    fn weight(&self) -> usize {
        document_length(&self.details.0) + length(self.error.as_ref()) + length(self.note.as_ref())
    }

    fn restore(self) -> Result<ApprovalExecution, Corrupt> {
        Ok(ApprovalExecution {
            approval: self.approval_id.0,
            company: self.company_id.0,
            state: self.state.0,
            step: self.step.0,
            error_code: self.error_code,
            error: self.error,
            details: self.details.0,
            attempts: self.attempts,
            forced: self.forced,
            decided_by: self.decided_by.parse().map_err(|error: NoBoardMember| {
                Corrupt::new("approval execution", error.to_string())
            })?,
            note: self.note,
            lease_expires_at: self.lease_expires_at.map(|at| at.0),
            server: self.instance_id.map(|server| server.0),
            started_at: self.started_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&ApprovalExecution> for ExecutionRow {
    fn from(execution: &ApprovalExecution) -> Self {
        Self {
            approval_id: IdColumn(execution.approval),
            company_id: IdColumn(execution.company),
            state: StringEnumColumn(execution.state),
            step: StringEnumColumn(execution.step),
            error_code: execution.error_code.clone(),
            error: execution.error.clone(),
            details: JsonColumn(execution.details.clone()),
            attempts: execution.attempts,
            forced: execution.forced,
            decided_by: execution.decided_by.to_string(),
            note: execution.note.clone(),
            lease_expires_at: execution.lease_expires_at.map(InstantColumn),
            instance_id: execution.server.map(IdColumn),
            started_at: InstantColumn(execution.started_at),
            updated_at: InstantColumn(execution.updated_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = approval_execution_steps,
    primary_key(approval_id, workspace_id, step),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct StepRow {
    approval_id: IdColumn<ApprovalId>,
    company_id: IdColumn<CompanyId>,
    workspace_id: IdColumn<ExecutionWorkspaceId>,
    step: StringEnumColumn<ExecutionStep>,
    begun_at: InstantColumn,
    done_at: Option<InstantColumn>,
    result: JsonColumn<Document>,
}

impl Row for StepRow {
    type Record = ExecutionStepRecord;

    fn weight(&self) -> usize {
        document_length(&self.result.0)
    }

    fn restore(self) -> Result<ExecutionStepRecord, Corrupt> {
        Ok(ExecutionStepRecord {
            approval: self.approval_id.0,
            company: self.company_id.0,
            workspace: self.workspace_id.0,
            step: self.step.0,
            begun_at: self.begun_at.0,
            done_at: self.done_at.map(|at| at.0),
            result: self.result.0,
        })
    }
}

impl From<&ExecutionStepRecord> for StepRow {
    fn from(step: &ExecutionStepRecord) -> Self {
        Self {
            approval_id: IdColumn(step.approval),
            company_id: IdColumn(step.company),
            workspace_id: IdColumn(step.workspace),
            step: StringEnumColumn(step.step),
            begun_at: InstantColumn(step.begun_at),
            done_at: step.done_at.map(InstantColumn),
            result: JsonColumn(step.result.clone()),
        }
    }
}

pub(super) fn of(
    conn: &mut Connection,
    company: CompanyScope,
    approvals: &[ApprovalId],
) -> Result<Vec<ApprovalExecution>, StoreError> {
    let rows: Vec<ExecutionRow> = approval_executions::table
        .filter(approval_executions::company_id.eq(IdColumn(company.company())))
        .filter(one_of(
            approval_executions::approval_id,
            approvals.iter().copied(),
        ))
        .select(ExecutionRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

pub(super) fn steps(
    conn: &mut Connection,
    company: CompanyScope,
    approvals: &[ApprovalId],
) -> Result<Vec<ExecutionStepRecord>, StoreError> {
    let rows: Vec<StepRow> = approval_execution_steps::table
        .filter(approval_execution_steps::company_id.eq(IdColumn(company.company())))
        .filter(one_of(
            approval_execution_steps::approval_id,
            approvals.iter().copied(),
        ))
        .order((
            approval_execution_steps::begun_at,
            approval_execution_steps::workspace_id,
            approval_execution_steps::step,
        ))
        .limit(MAX_WHOLE)
        .select(StepRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

pub(super) fn abandoned(
    conn: &mut Connection,
    before: Timestamp,
    limit: usize,
) -> Result<Vec<ApprovalExecution>, StoreError> {
    let rows: Vec<ExecutionRow> = approval_executions::table
        // Those that are executed have a lease, and no others.
        .filter(approval_executions::lease_expires_at.lt(InstantColumn(before)))
        .order((
            approval_executions::lease_expires_at,
            approval_executions::approval_id,
        ))
        .limit(row_limit(limit))
        .select(ExecutionRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

/// Those that one of these servers is to go on with.
pub(super) fn left_by(
    conn: &mut Connection,
    servers: &[InstanceId],
    limit: usize,
) -> Result<Vec<ApprovalExecution>, StoreError> {
    let rows: Vec<ExecutionRow> = approval_executions::table
        .filter(approval_executions::lease_expires_at.is_not_null())
        .filter(approval_executions::instance_id.eq_any(servers.iter().copied().map(IdColumn)))
        .order((
            approval_executions::lease_expires_at,
            approval_executions::approval_id,
        ))
        .limit(row_limit(limit))
        .select(ExecutionRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

pub(super) fn save(
    conn: &mut Connection,
    approval: &Locked<Approval>,
    execution: &ApprovalExecution,
) -> Result<(), StoreError> {
    let row = ExecutionRow::from(execution);
    of_approval(approval, execution.approval)?;
    diesel::insert_into(approval_executions::table)
        .values(&row)
        .on_conflict(approval_executions::approval_id)
        .do_update()
        .set(&row)
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

pub(super) fn save_step(
    conn: &mut Connection,
    approval: &Locked<Approval>,
    step: &ExecutionStepRecord,
) -> Result<(), StoreError> {
    let row = StepRow::from(step);
    of_approval(approval, step.approval)?;
    diesel::insert_into(approval_execution_steps::table)
        .values(&row)
        .on_conflict((
            approval_execution_steps::approval_id,
            approval_execution_steps::workspace_id,
            approval_execution_steps::step,
        ))
        .do_update()
        .set(&row)
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Refuses what belongs to another approval than the one that is locked.
fn of_approval(approval: &Locked<Approval>, of: ApprovalId) -> Result<(), StoreError> {
    if approval.id == of {
        return Ok(());
    }
    Err(StoreError::Constraint {
        constraint: "an execution is written by whoever holds its approval".into(),
    })
}
