use diesel::prelude::*;
use diesel::sql_types::Bool;
use workforce_domain::actor::{CompanyOwned, CompanyScope, Scope};
use workforce_domain::dashboard::IssueTally;
use workforce_domain::id::{GoalId, IssueId, ProjectId};
use workforce_domain::issue::{
    Assignee, Governance, Issue, IssueRef, IssueStatus, Lease, StuckIssue, StuckReason,
};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{
    IssueCursor, IssueFilter, IssueReads, IssueWrites, Lock, Locked, NewLease, SearchCursor,
    StoreError, StuckCursor,
};
use workforce_domain::run::Run;
use workforce_domain::search::SearchQuery;
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{Connection, for_update};
use super::advisory::advisory_lock;
use super::issue_row::IssueRow;
use super::predicates::open_issue;
use super::row::{all, exactly_one, in_scope, one};
use super::{
    board_work, issue_counts, issue_deletion, issue_leases, issue_list, issue_search, issue_texts,
    issue_tree, stuck_issues,
};
use crate::store::cached::{cached, cached_here};
use crate::store::columns::{DigestColumn, IdColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_child_keys, issues};
use crate::store::stable::{Fixed, fixed, one_of};

fn find(conn: &mut Connection, scope: Scope, issue: &IssueRef) -> QueryResult<Option<IssueRow>> {
    match issue {
        IssueRef::Id(id) => {
            let query = issues::table.filter(issues::id.eq(IdColumn(*id)));
            in_scope!(scope, issues, query, |scoped| cached_here!(
                scoped.select(IssueRow::as_select()).limit(1)
            )
            .get_result(conn)
            .optional())
        }
        IssueRef::Identifier(identifier) => {
            let query = issues::table.filter(issues::identifier.eq(identifier));
            in_scope!(scope, issues, query, |scoped| cached_here!(
                scoped.select(IssueRow::as_select()).limit(1)
            )
            .get_result(conn)
            .optional())
        }
    }
}

fn lock(conn: &mut Connection, scope: Scope, issue: &IssueRef) -> QueryResult<Option<IssueRow>> {
    match issue {
        IssueRef::Id(id) => {
            let query = issues::table.filter(issues::id.eq(IdColumn(*id)));
            in_scope!(scope, issues, query, |scoped| cached_here!(for_update!(
                scoped.select(IssueRow::as_select()).limit(1)
            ))
            .get_result(conn)
            .optional())
        }
        IssueRef::Identifier(identifier) => {
            let query = issues::table.filter(issues::identifier.eq(identifier));
            in_scope!(scope, issues, query, |scoped| cached_here!(for_update!(
                scoped.select(IssueRow::as_select()).limit(1)
            ))
            .get_result(conn)
            .optional())
        }
    }
}

impl IssueReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, issue: &IssueRef) -> Result<Option<Issue>, StoreError> {
        one(find(self.conn, scope, issue).map_err(failed)?)
    }

    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[IssueId],
    ) -> Result<Vec<Issue>, StoreError> {
        let rows: Vec<IssueRow> = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(one_of(issues::id, ids.iter().copied()))
            .select(IssueRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        filter: &IssueFilter,
        page: &PageRequest<IssueCursor>,
    ) -> Result<Page<Issue, IssueCursor>, StoreError> {
        issue_list::list(self.conn, company, filter, page)
    }

    fn search(
        &mut self,
        company: CompanyScope,
        query: &SearchQuery,
        filter: &IssueFilter,
        page: &PageRequest<SearchCursor>,
    ) -> Result<Page<Issue, SearchCursor>, StoreError> {
        issue_search::search(self.conn, company, query, filter, page)
    }

    fn live_child(
        &mut self,
        company: CompanyScope,
        parent: IssueId,
        key: &[u8; 32],
    ) -> Result<Option<Issue>, StoreError> {
        let row: Option<IssueRow> = issue_child_keys::table
            .inner_join(issues::table)
            .filter(issue_child_keys::company_id.eq(IdColumn(company.company())))
            .filter(issue_child_keys::child_key.eq(DigestColumn(*key)))
            .filter(issues::parent_id.eq(IdColumn(parent)))
            .filter(open())
            .select(IssueRow::as_select())
            .order((issues::created_at, issues::id))
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        one(row)
    }

    fn ancestors(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Issue>, StoreError> {
        issue_tree::ancestors(self.conn, company, issue)
    }

    fn depth_below(&mut self, company: CompanyScope, issue: IssueId) -> Result<usize, StoreError> {
        issue_tree::depth_below(self.conn, company, issue)
    }

    fn open_children(&mut self, company: CompanyScope, issue: IssueId) -> Result<i64, StoreError> {
        let open = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::parent_id.eq(IdColumn(issue)))
            .filter(open())
            .count();
        cached(open).get_result(self.conn).map_err(failed)
    }

    fn children(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        statuses: &[IssueStatus],
        limit: usize,
    ) -> Result<Vec<Issue>, StoreError> {
        let statuses: Vec<_> = statuses.iter().copied().map(StringEnumColumn).collect();
        let rows: Vec<IssueRow> = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::parent_id.eq(IdColumn(issue)))
            .filter(issues::status.eq_any(statuses))
            .select(IssueRow::as_select())
            .order((issues::priority, issues::updated_at.desc(), issues::id))
            .limit(i64::try_from(limit).unwrap_or(i64::MAX))
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn governance(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Governance, StoreError> {
        issue_tree::governance(self.conn, company, issue)
    }

    fn lease(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<Lease>, StoreError> {
        issue_leases::of_issue(self.conn, company, issue)
    }

    fn leases(
        &mut self,
        company: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Vec<Lease>, StoreError> {
        issue_leases::of_issues(self.conn, company, issues)
    }

    fn why_stuck(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        now: Timestamp,
    ) -> Result<Option<StuckReason>, StoreError> {
        stuck_issues::why(self.conn, company, issue, now)
    }

    fn list_stuck(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<StuckCursor>,
    ) -> Result<Page<StuckIssue, StuckCursor>, StoreError> {
        stuck_issues::list(self.conn, company, page)
    }

    fn awaiting_board(
        &mut self,
        company: CompanyScope,
        limit: usize,
    ) -> Result<Vec<Issue>, StoreError> {
        let ids = board_work::awaiting(self.conn, company, limit)?;
        let mut found = self.find_all(company, &ids)?;
        found.sort_by_key(|issue| core::cmp::Reverse((issue.updated_at, issue.id)));
        Ok(found)
    }

    fn count_stuck(
        &mut self,
        company: CompanyScope,
    ) -> Result<Vec<(StuckReason, i64)>, StoreError> {
        stuck_issues::counts(self.conn, company)
    }

    fn count_by_project(
        &mut self,
        company: CompanyScope,
    ) -> Result<Vec<(ProjectId, IssueTally)>, StoreError> {
        issue_counts::by_project(self.conn, company)
    }

    fn count_by_goal(
        &mut self,
        company: CompanyScope,
    ) -> Result<Vec<(GoalId, IssueTally)>, StoreError> {
        issue_counts::by_goal(self.conn, company)
    }
}

/// True for issues that something is to be done for.
fn open() -> Fixed<Bool> {
    fixed(open_issue("issues"))
}

impl IssueWrites for Transaction<'_> {
    fn insert(&mut self, issue: Issue) -> Result<Locked<Issue>, StoreError> {
        diesel::insert_into(issues::table)
            .values(IssueRow::from(&issue))
            .execute(self.conn)
            .map_err(failed)?;
        issue_texts::add_issue(self.conn, &issue)?;
        Ok(Locked::assume_locked(issue))
    }

    /// Every write of a lease locks its issue first, so the lock on the issue
    /// protects the lease, too.
    fn lock(
        &mut self,
        scope: Scope,
        issue: &IssueRef,
    ) -> Result<Option<Locked<Issue>>, StoreError> {
        let Some(issue) = one(lock(self.conn, scope, issue).map_err(failed)?)? else {
            return Ok(None);
        };
        // An identifier tells the id only now.
        self.locks(Lock::Issue, issue.id);
        Ok(Some(Locked::assume_locked(issue)))
    }

    fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError> {
        self.locks(Lock::Hierarchy, company.company());
        advisory_lock(self.conn, "issues", company.company().into()).map_err(failed)
    }

    fn save(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        let change = diesel::update(issues::table)
            .filter(issues::company_id.eq(IdColumn(issue.company)))
            .filter(issues::id.eq(IdColumn(issue.id)))
            .set(IssueRow::from(issue.to_store()?));
        cached_here!(change)
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn reindex(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        let issue = issue.to_store()?;
        issue_texts::replace_issue(self.conn, issue)
    }

    fn set_child_key(&mut self, issue: &Locked<Issue>, key: &[u8; 32]) -> Result<(), StoreError> {
        diesel::insert_into(issue_child_keys::table)
            .values((
                issue_child_keys::company_id.eq(IdColumn(issue.company)),
                issue_child_keys::issue_id.eq(IdColumn(issue.id)),
                issue_child_keys::child_key.eq(DigestColumn(*key)),
            ))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    /// Comments, links to approvals and the lease go with it; runs, wakes and
    /// costs stay for the record, children become roots, and what waits to be
    /// run for it is cancelled.
    fn delete(&mut self, issue: Locked<Issue>, now: Timestamp) -> Result<(), StoreError> {
        let issue = issue.to_store()?;
        issue_deletion::delete(self.conn, issue, now)
    }

    fn take_lease(&mut self, issue: &Locked<Issue>, lease: NewLease) -> Result<Lease, StoreError> {
        let issue = issue.to_store()?;
        if lease.issue() != issue.id {
            return Err(StoreError::Constraint {
                constraint: "a lease is put on the issue it is for".into(),
            });
        }
        issue_leases::take(self.conn, issue.company, issue.id, lease.lease())
    }

    fn end_lease(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        let issue = issue.to_store()?;
        issue_leases::end(self.conn, issue)
    }

    fn lock_open_of(
        &mut self,
        company: CompanyScope,
        assignee: Assignee,
    ) -> Result<Vec<Locked<Issue>>, StoreError> {
        let query = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(open())
            .select(IssueRow::as_select())
            .order((issues::created_at.desc(), issues::id.desc()));
        let rows: Vec<IssueRow> = match assignee {
            Assignee::Nobody => return Ok(Vec::new()),
            Assignee::Agent(agent) => {
                let query = query.filter(issues::assignee_agent_id.eq(IdColumn(agent)));
                for_update!(query).load(self.conn)
            }
            Assignee::Board(member) => {
                let query = query.filter(issues::assignee_user_id.eq(member.to_string()));
                for_update!(query).load(self.conn)
            }
        }
        .map_err(failed)?;
        let issues = all(rows)?;
        for issue in &issues {
            self.locks(Lock::Issue, issue.id);
        }
        Ok(issues.into_iter().map(Locked::assume_locked).collect())
    }

    fn lock_below(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Locked<Issue>>, StoreError> {
        let below = issue_tree::below(self.conn, company, issue)?;
        let query = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::id.eq_any(below))
            .select(IssueRow::as_select())
            .order((issues::created_at.desc(), issues::id.desc()));
        let rows: Vec<IssueRow> = for_update!(query).load(self.conn).map_err(failed)?;
        let issues = all(rows)?;
        for issue in &issues {
            self.locks(Lock::Issue, issue.id);
        }
        Ok(issues.into_iter().map(Locked::assume_locked).collect())
    }

    fn note_stuck(
        &mut self,
        issue: &Locked<Issue>,
        reason: Option<StuckReason>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        stuck_issues::note(self.conn, issue, reason, now)
    }

    fn end_leases_of_run(&mut self, run: &Locked<Run>) -> Result<(), StoreError> {
        let run = run.to_store()?;
        issue_leases::end_of_run(self.conn, run.scope(), run.id)
    }
}
