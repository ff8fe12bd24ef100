use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, IssueId, LabelId};
use workforce_domain::issue::Issue;
use workforce_domain::label::{self, IssueLabel};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{LabelCursor, LabelReads, LabelWrites, Lock, Locked, StoreError};
use workforce_domain::text::LabelName;
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, for_update};
use super::page::{fetch_limit, page_of};
use super::row::{Row, admit, all, exactly_one, in_scope, one};
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, labels};
use crate::store::stable::{Few, one_of, one_of_few};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = labels)]
struct LabelRow {
    id: IdColumn<LabelId>,
    company_id: IdColumn<CompanyId>,
    name: String,
    name_key: String,
    color: String,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for LabelRow {
    type Record = IssueLabel;

    fn weight(&self) -> usize {
        self.name.len()
    }

    fn restore(self) -> Result<IssueLabel, Corrupt> {
        Ok(IssueLabel {
            id: self.id.0,
            company: self.company_id.0,
            name: admit("label", self.name)?,
            color: admit("label", self.color)?,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&IssueLabel> for LabelRow {
    fn from(label: &IssueLabel) -> Self {
        Self {
            id: IdColumn(label.id),
            company_id: IdColumn(label.company),
            name: label.name.to_string(),
            name_key: label.key(),
            color: label.color.to_string(),
            created_at: InstantColumn(label.created_at),
            updated_at: InstantColumn(label.updated_at),
        }
    }
}

impl LabelReads for Transaction<'_> {
    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[LabelId],
    ) -> Result<Vec<IssueLabel>, StoreError> {
        let rows: Vec<LabelRow> = labels::table
            .filter(labels::company_id.eq(IdColumn(company.company())))
            .filter(one_of(labels::id, ids.iter().copied()))
            .select(LabelRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn find_by_name(
        &mut self,
        company: CompanyScope,
        name: &LabelName,
    ) -> Result<Option<IssueLabel>, StoreError> {
        let row: Option<LabelRow> = labels::table
            .filter(labels::company_id.eq(IdColumn(company.company())))
            .filter(labels::name_key.eq(label::key(name)))
            .select(LabelRow::as_select())
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        one(row)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<LabelCursor>,
    ) -> Result<Page<IssueLabel, LabelCursor>, StoreError> {
        let mut query = labels::table
            .filter(labels::company_id.eq(IdColumn(company.company())))
            .select(LabelRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(labels::created_at.ge(at)).filter(
                labels::created_at
                    .gt(at)
                    .or(labels::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((labels::created_at, labels::id))
            .limit(fetch_limit(page))
            .load_iter::<LabelRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |label| CreationKey {
            at: label.created_at.micros(),
            id: label.id,
        })
    }

    fn of_issues(
        &mut self,
        company: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, IssueLabel)>, StoreError> {
        let mut found = Vec::new();
        let company = IdColumn(company.company());
        for issues in Few::each_of(issues) {
            let query = issue_labels::table
                .inner_join(labels::table)
                .filter(issue_labels::company_id.eq(company))
                .select((issue_labels::issue_id, LabelRow::as_select()));
            let rows: Vec<(IdColumn<IssueId>, LabelRow)> = match issues.only() {
                Some(issue) => query
                    .filter(issue_labels::issue_id.eq(IdColumn(*issue)))
                    .load(self.conn),
                None => query
                    .filter(one_of_few(issue_labels::issue_id, issues))
                    .load(self.conn),
            }
            .map_err(failed)?;
            for (issue, row) in rows {
                found.push((issue.0, row.name_key.clone(), row.restore()?));
            }
        }
        // Sorted here: the databases do not agree on the order of texts.
        found.sort_unstable_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        Ok(found
            .into_iter()
            .map(|(issue, _key, label)| (issue, label))
            .collect())
    }
}

impl LabelWrites for Transaction<'_> {
    fn insert(&mut self, label: IssueLabel) -> Result<Locked<IssueLabel>, StoreError> {
        diesel::insert_into(labels::table)
            .values(LabelRow::from(&label))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(label))
    }

    fn lock(
        &mut self,
        scope: Scope,
        id: LabelId,
    ) -> Result<Option<Locked<IssueLabel>>, StoreError> {
        self.locks(Lock::Label, id);
        let query = labels::table.filter(labels::id.eq(IdColumn(id)));
        let row = in_scope!(scope, labels, query, |scoped| for_update!(
            scoped.select(LabelRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn save(&mut self, label: &Locked<IssueLabel>) -> Result<(), StoreError> {
        diesel::update(labels::table)
            .filter(labels::company_id.eq(IdColumn(label.company)))
            .filter(labels::id.eq(IdColumn(label.id)))
            .set(LabelRow::from(label.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete(&mut self, label: Locked<IssueLabel>) -> Result<(), StoreError> {
        let label = label.to_store()?;
        diesel::delete(labels::table)
            .filter(labels::company_id.eq(IdColumn(label.company)))
            .filter(labels::id.eq(IdColumn(label.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn set_for_issue(
        &mut self,
        issue: &Locked<Issue>,
        labels: &[LabelId],
    ) -> Result<(), StoreError> {
        let issue = issue.to_store()?;
        diesel::delete(issue_labels::table)
            .filter(issue_labels::company_id.eq(IdColumn(issue.company)))
            .filter(issue_labels::issue_id.eq(IdColumn(issue.id)))
            .execute(self.conn)
            .map_err(failed)?;
        let rows: Vec<_> = labels
            .iter()
            .map(|label| {
                (
                    issue_labels::company_id.eq(IdColumn(issue.company)),
                    issue_labels::issue_id.eq(IdColumn(issue.id)),
                    issue_labels::label_id.eq(IdColumn(*label)),
                )
            })
            .collect();
        diesel::insert_into(issue_labels::table)
            .values(rows)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
