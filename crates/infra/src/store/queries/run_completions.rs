//! What agents said about the ends of their runs.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::StoreError;
use workforce_domain::run::{Completion, CompletionReport, CompletionStatus, RunErrorCode};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::row::{Row, exactly_one, length, one};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::run_completions;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = run_completions,
    primary_key(run_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct CompletionRow {
    run_id: IdColumn<RunId>,
    company_id: IdColumn<CompanyId>,
    completed_at: Option<InstantColumn>,
    error_code: Option<StringEnumColumn<RunErrorCode>>,
    error: Option<String>,
    result_text: Option<String>,
}

impl CompletionRow {
    fn awaited(company: CompanyScope, run: RunId) -> Self {
        Self {
            run_id: IdColumn(run),
            company_id: IdColumn(company.company()),
            completed_at: None,
            error_code: None,
            error: None,
            result_text: None,
        }
    }
}

impl Row for CompletionRow {
    type Record = Completion;

    fn weight(&self) -> usize {
        length(self.error.as_ref()) + length(self.result_text.as_ref())
    }

    fn restore(self) -> Result<Completion, Corrupt> {
        let Some(at) = self.completed_at else {
            return Ok(Completion::Awaited);
        };
        let report = CompletionReport {
            status: match self.error_code {
                None => CompletionStatus::Succeeded,
                Some(_) => CompletionStatus::Failed,
            },
            result: self.result_text,
            error: self.error,
            error_code: self.error_code.map(|code| code.0),
        };
        Ok(Completion::Reported(report, at.0))
    }
}

pub(super) fn find(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
) -> Result<Option<Completion>, StoreError> {
    let row = run_completions::table
        .find(IdColumn(run))
        .filter(run_completions::company_id.eq(IdColumn(company.company())))
        .select(CompletionRow::as_select())
        .first(conn)
        .optional();
    one(row.map_err(failed)?)
}

pub(super) fn completed(conn: &mut Connection, runs: &[RunId]) -> Result<Vec<RunId>, StoreError> {
    let runs: Vec<_> = runs.iter().copied().map(IdColumn).collect();
    let found: Vec<IdColumn<RunId>> = run_completions::table
        .filter(run_completions::run_id.eq_any(runs))
        .filter(run_completions::completed_at.is_not_null())
        .select(run_completions::run_id)
        .load(conn)
        .map_err(failed)?;
    Ok(found.into_iter().map(|run| run.0).collect())
}

pub(super) fn insert(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
) -> Result<(), StoreError> {
    diesel::insert_into(run_completions::table)
        .values(CompletionRow::awaited(company, run))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

pub(super) fn save(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
    report: &CompletionReport,
    at: Timestamp,
) -> Result<(), StoreError> {
    let row = CompletionRow {
        completed_at: Some(InstantColumn(at)),
        error_code: report.error_code.map(StringEnumColumn),
        error: report.error.clone(),
        result_text: report.result.clone(),
        ..CompletionRow::awaited(company, run)
    };
    let saved = diesel::update(run_completions::table.find(IdColumn(run)))
        .filter(run_completions::company_id.eq(IdColumn(company.company())))
        .set(row)
        .execute(conn)
        .map_err(failed)?;
    exactly_one(saved)
}
