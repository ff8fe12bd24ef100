use diesel::prelude::*;
use uuid::Uuid;
use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::attachment::AttachmentLimit;
use workforce_domain::budget::BudgetBasis;
use workforce_domain::company::{
    Company, CompanyLifecycle, CompanyLifecycleRecord, CompanyStatus, PauseReason,
};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::dashboard::{Badges, Cutoffs, DashboardMetrics};
use workforce_domain::id::CompanyId;
use workforce_domain::instance_figures::InstanceFigures;
use workforce_domain::money::Budget;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    CompanyCursor, CompanyReads, CompanyWrites, Lock, Locked, StartConditionInputs, StoreError,
};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, change_one, for_update};
use super::advisory::advisory_lock;
use super::page::{MAX_WHOLE, characters, fetch_limit, page_of, substr};
use super::row::{Row, admit, admit_some, exactly_one, length, one};
use super::{figures, instance_figures};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{companies, company_counters};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = companies, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct CompanyRow {
    id: IdColumn<CompanyId>,
    name: String,
    description: Option<String>,
    status: StringEnumColumn<CompanyStatus>,
    budget_monthly_cents: i64,
    budget_basis: StringEnumColumn<BudgetBasis>,
    issue_prefix: String,
    require_board_approval_for_new_agents: bool,
    review_required: bool,
    max_concurrent_runs: i32,
    attachment_max_bytes: Option<i64>,
    locale: Option<String>,
    brand_color: Option<String>,
    pause_reason: Option<StringEnumColumn<PauseReason>>,
    paused_at: Option<InstantColumn>,
    archived_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for CompanyRow {
    type Record = Company;

    fn weight(&self) -> usize {
        length(self.description.as_ref())
    }

    fn restore(self) -> Result<Company, Corrupt> {
        const KIND: &str = "company";
        Ok(Company {
            id: self.id.0,
            name: admit(KIND, self.name)?,
            description: admit_some(KIND, self.description)?,
            lifecycle: CompanyLifecycle::restore(CompanyLifecycleRecord {
                status: self.status.0,
                pause_reason: self.pause_reason.map(|reason| reason.0),
                paused_at: self.paused_at.map(|at| at.0),
                archived_at: self.archived_at.map(|at| at.0),
            })?,
            budget: Budget::from_cents(self.budget_monthly_cents)
                .map_err(|error| Corrupt::new(KIND, error.to_string()))?,
            budget_basis: self.budget_basis.0,
            issue_prefix: self.issue_prefix,
            require_board_approval_for_new_agents: self.require_board_approval_for_new_agents,
            review_required: self.review_required,
            max_concurrent_runs: self.max_concurrent_runs,
            attachment_limit: self
                .attachment_max_bytes
                .and_then(AttachmentLimit::from_bytes),
            locale: admit_some(KIND, self.locale)?,
            brand_color: admit_some(KIND, self.brand_color)?,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Company> for CompanyRow {
    fn from(company: &Company) -> Self {
        let lifecycle = company.lifecycle.record();
        Self {
            id: IdColumn(company.id),
            name: company.name.to_string(),
            description: company.description.as_ref().map(ToString::to_string),
            status: StringEnumColumn(lifecycle.status),
            budget_monthly_cents: company.budget.cents(),
            budget_basis: StringEnumColumn(company.budget_basis),
            issue_prefix: company.issue_prefix.clone(),
            require_board_approval_for_new_agents: company.require_board_approval_for_new_agents,
            review_required: company.review_required,
            max_concurrent_runs: company.max_concurrent_runs,
            attachment_max_bytes: company.attachment_limit.map(AttachmentLimit::bytes),
            locale: company.locale.as_ref().map(ToString::to_string),
            brand_color: company.brand_color.as_ref().map(ToString::to_string),
            pause_reason: lifecycle.pause_reason.map(StringEnumColumn),
            paused_at: lifecycle.paused_at.map(InstantColumn),
            archived_at: lifecycle.archived_at.map(InstantColumn),
            created_at: InstantColumn(company.created_at),
            updated_at: InstantColumn(company.updated_at),
        }
    }
}

fn reaches(scope: Scope, id: CompanyId) -> bool {
    scope.company().is_none_or(|own| own == id)
}

impl CompanyReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: CompanyId) -> Result<Option<Company>, StoreError> {
        if !reaches(scope, id) {
            return Ok(None);
        }
        let row = companies::table
            .find(IdColumn(id))
            .select(CompanyRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    /// No statuses ask for none in particular.
    fn list(
        &mut self,
        scope: Scope,
        statuses: &[CompanyStatus],
        page: &PageRequest<CompanyCursor>,
    ) -> Result<Page<Company, CompanyCursor>, StoreError> {
        let mut query = companies::table
            .select(CompanyRow::as_select())
            .into_boxed();
        if let Some(own) = scope.company() {
            query = query.filter(companies::id.eq(IdColumn(own)));
        }
        if !statuses.is_empty() {
            let statuses: Vec<_> = statuses.iter().copied().map(StringEnumColumn).collect();
            query = query.filter(companies::status.eq_any(statuses));
        }
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(companies::created_at.ge(at)).filter(
                companies::created_at
                    .gt(at)
                    .or(companies::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((companies::created_at, companies::id))
            .limit(fetch_limit(page))
            .load_iter::<CompanyRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |company| CreationKey {
            at: company.created_at.micros(),
            id: company.id,
        })
    }

    fn find_by_prefix(
        &mut self,
        _scope: InstanceScope,
        prefix: &str,
    ) -> Result<Option<Company>, StoreError> {
        let row = companies::table
            .filter(companies::issue_prefix.eq(prefix))
            .select(CompanyRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn prefixes(&mut self, _scope: InstanceScope, stem: &str) -> Result<Vec<String>, StoreError> {
        companies::table
            .filter(substr(companies::issue_prefix, 1, characters(stem)).eq(stem))
            .select(companies::issue_prefix)
            .order(companies::issue_prefix)
            .limit(MAX_WHOLE)
            .load(self.conn)
            .map_err(failed)
    }

    fn figures(
        &mut self,
        company: CompanyScope,
        at: Cutoffs,
    ) -> Result<DashboardMetrics, StoreError> {
        figures::figures(self.conn, company, at)
    }

    fn badges(&mut self, company: CompanyScope) -> Result<Badges, StoreError> {
        figures::badges(self.conn, company)
    }

    fn instance_figures(
        &mut self,
        _scope: InstanceScope,
        terms: &StartConditionInputs,
    ) -> Result<InstanceFigures, StoreError> {
        instance_figures::figures(self.conn, terms)
    }
}

impl CompanyWrites for Transaction<'_> {
    fn lock_prefixes(
        &mut self,
        scope: InstanceScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError> {
        self.locks(Lock::Names, Uuid::nil());
        advisory_lock(self.conn, "issue prefixes", Uuid::nil()).map_err(failed)?;
        self.prefixes(scope, stem)
    }

    fn insert(&mut self, company: Company) -> Result<Locked<Company>, StoreError> {
        diesel::insert_into(companies::table)
            .values(CompanyRow::from(&company))
            .execute(self.conn)
            .map_err(failed)?;
        diesel::insert_into(company_counters::table)
            .values((
                company_counters::company_id.eq(IdColumn(company.id)),
                company_counters::issue_number.eq(0),
                company_counters::event_sequence.eq(0),
            ))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(company))
    }

    fn lock(&mut self, scope: Scope, id: CompanyId) -> Result<Option<Locked<Company>>, StoreError> {
        self.locks(Lock::Company, id);
        if !reaches(scope, id) {
            return Ok(None);
        }
        let query = companies::table
            .find(IdColumn(id))
            .select(CompanyRow::as_select());
        let row = for_update!(query).first(self.conn).optional();
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn save(&mut self, company: &Locked<Company>) -> Result<(), StoreError> {
        diesel::update(companies::table.find(IdColumn(company.id)))
            .set(CompanyRow::from(company.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete(&mut self, company: Locked<Company>) -> Result<(), StoreError> {
        let company = company.to_store()?;
        diesel::delete(companies::table.find(IdColumn(company.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)?;
        self.note_vanished(company.id);
        Ok(())
    }

    fn next_issue_number(&mut self, company: CompanyScope) -> Result<i64, StoreError> {
        self.locks(Lock::Counters, company.company());
        let counters = company_counters::table.find(IdColumn(company.company()));
        let number = company_counters::issue_number;
        // Every company has counters, so this one was deleted meanwhile.
        change_one!(counters, number.eq(number + 1), number, self.conn)
            .map_err(failed)?
            .ok_or(StoreError::Contended)
    }
}
