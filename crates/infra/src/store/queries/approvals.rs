use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Bool, Integer};
use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::agent::Agent;
use workforce_domain::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalExecution, ApprovalHistoryEntry,
    ApprovalStatus, ApprovalType, ExecutionStepRecord,
};
use workforce_domain::id::{AgentId, ApprovalId, CompanyId, InstanceId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::page::{Order, Page, PageRequest};
use workforce_domain::port::{
    ApprovalCommentCursor, ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor, ApprovalReads,
    ApprovalWrites, Lock, Locked, StoreError,
};
use workforce_domain::time::Timestamp;

use super::super::for_update;
use super::super::transaction::Transaction;
use super::approval_rows::{ApprovalCommentRow, ApprovalEventRow, ApprovalRow, HistoryRow};
use super::issue_tree::MAX_ANCESTORS;
use super::page::MAX_WHOLE;
use super::predicates::{undecided_approval, undecided_plan};
use super::row::{all, in_scope, one};
use super::{approval_executions, approval_list};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{
    approval_comments, approval_drafts, approval_events, approval_issues, approvals,
};
use crate::store::stable::{Fixed, fixed, one_of};

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Key)]
    id: IdColumn<ApprovalId>,
}

#[derive(Insertable)]
#[diesel(table_name = approval_issues, treat_none_as_default_value = false)]
struct LinkRow {
    company_id: IdColumn<CompanyId>,
    approval_id: IdColumn<ApprovalId>,
    issue_id: IdColumn<IssueId>,
}

#[derive(Insertable)]
#[diesel(table_name = approval_drafts, treat_none_as_default_value = false)]
struct DraftRow {
    approval_id: IdColumn<ApprovalId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
}

/// True for approvals that may still be decided.
fn undecided() -> Fixed<Bool> {
    fixed(undecided_approval("approvals"))
}

/// The nearest undecided plan of an issue or of one above it.
static UNDECIDED_OVER: LazyLock<String> = LazyLock::new(|| {
    let undecided = undecided_plan("a");
    format!(
        "WITH RECURSIVE chain (id, depth) AS (
            SELECT id, 0 FROM issues WHERE company_id = $1 AND id = $2
            UNION
            SELECT i.parent_id, chain.depth + 1
            FROM chain CROSS JOIN issues i
            WHERE i.company_id = $1 AND i.id = chain.id
                AND i.parent_id IS NOT NULL AND chain.depth < $3
        )
        SELECT a.id, chain.depth
        FROM chain CROSS JOIN approvals a
        WHERE a.company_id = $1 AND a.primary_issue_id = chain.id AND {undecided}
        UNION ALL
        SELECT a.id, chain.depth
        FROM chain CROSS JOIN approval_issues l CROSS JOIN approvals a
        WHERE l.company_id = $1 AND l.issue_id = chain.id
            AND a.company_id = $1 AND a.id = l.approval_id AND {undecided}
        ORDER BY 2, 1
        LIMIT 1"
    )
});

impl ApprovalReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let query = approvals::table.filter(approvals::id.eq(IdColumn(id)));
        let row = in_scope!(scope, approvals, query, |scoped| scoped
            .select(ApprovalRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        filter: &ApprovalFilter,
        page: &PageRequest<ApprovalCursor>,
    ) -> Result<Page<Approval, ApprovalCursor>, StoreError> {
        approval_list::list(self.conn, company, filter, page)
    }

    fn of_issue(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        page: &PageRequest<ApprovalId>,
    ) -> Result<Page<Approval, ApprovalId>, StoreError> {
        approval_list::of_issue(self.conn, company, issue, page)
    }

    fn undecided_linked_to(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Approval>, StoreError> {
        let rows: Vec<ApprovalRow> = approval_issues::table
            .inner_join(approvals::table)
            .filter(approval_issues::company_id.eq(IdColumn(company.company())))
            .filter(approval_issues::issue_id.eq(IdColumn(issue)))
            .filter(undecided())
            .order(approval_issues::approval_id)
            .limit(MAX_WHOLE)
            .select(ApprovalRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn undecided_primary_for(
        &mut self,
        company: CompanyScope,
        kind: ApprovalType,
        issue: IssueId,
    ) -> Result<Option<Approval>, StoreError> {
        let row = approvals::table
            .filter(approvals::company_id.eq(IdColumn(company.company())))
            .filter(approvals::type_.eq(StringEnumColumn(kind)))
            .filter(approvals::primary_issue_id.eq(IdColumn(issue)))
            .filter(undecided())
            .select(ApprovalRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn find_by_draft(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let found: Option<IdColumn<ApprovalId>> = approval_drafts::table
            .filter(approval_drafts::company_id.eq(IdColumn(company.company())))
            .filter(approval_drafts::agent_id.eq(IdColumn(agent)))
            .select(approval_drafts::approval_id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|id| id.0))
    }

    fn find_draft(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
    ) -> Result<Option<AgentId>, StoreError> {
        let found: Option<IdColumn<AgentId>> = approval_drafts::table
            .filter(approval_drafts::company_id.eq(IdColumn(company.company())))
            .filter(approval_drafts::approval_id.eq(IdColumn(approval)))
            .select(approval_drafts::agent_id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|id| id.0))
    }

    fn links(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<(ApprovalId, IssueId)>, StoreError> {
        let rows: Vec<(IdColumn<ApprovalId>, IdColumn<IssueId>)> = approvals::table
            .inner_join(approval_issues::table)
            .filter(approvals::company_id.eq(IdColumn(company.company())))
            .filter(one_of(approvals::id, approvals.iter().copied()))
            .select((approval_issues::approval_id, approval_issues::issue_id))
            .load(self.conn)
            .map_err(failed)?;
        let mut links: Vec<_> = rows
            .into_iter()
            .map(|(approval, issue)| (approval.0, issue.0))
            .collect();
        links.sort_unstable();
        Ok(links)
    }

    fn history(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ApprovalEvent>, StoreError> {
        let rows: Vec<ApprovalEventRow> = approval_events::table
            .filter(approval_events::company_id.eq(IdColumn(company.company())))
            .filter(one_of(
                approval_events::approval_id,
                approvals.iter().copied(),
            ))
            .order((approval_events::created_at, approval_events::id))
            .limit(MAX_WHOLE)
            .select(ApprovalEventRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn history_of(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
        page: &PageRequest<ApprovalHistoryCursor>,
    ) -> Result<Page<ApprovalHistoryEntry, ApprovalHistoryCursor>, StoreError> {
        approval_list::history(self.conn, company, approval, page)
    }

    fn comments(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
        order: Order,
        page: &PageRequest<ApprovalCommentCursor>,
    ) -> Result<Page<ApprovalComment, ApprovalCommentCursor>, StoreError> {
        approval_list::comments(self.conn, company, approval, order, page)
    }

    fn undecided_blocking(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let undecided = sql_query(UNDECIDED_OVER.as_str())
            .bind::<Key, _>(IdColumn(company.company()))
            .bind::<Key, _>(IdColumn(issue))
            .bind::<Integer, _>(MAX_ANCESTORS);
        let found: Option<Found> = cached_here!(undecided)
            .get_result(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|found| found.id.0))
    }

    fn executions(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ApprovalExecution>, StoreError> {
        approval_executions::of(self.conn, company, approvals)
    }

    fn execution_steps(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ExecutionStepRecord>, StoreError> {
        approval_executions::steps(self.conn, company, approvals)
    }

    fn abandoned_executions(
        &mut self,
        _instance: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<ApprovalExecution>, StoreError> {
        approval_executions::abandoned(self.conn, before, limit)
    }

    fn executions_left_by(
        &mut self,
        _instance: InstanceScope,
        servers: &[InstanceId],
        limit: usize,
    ) -> Result<Vec<ApprovalExecution>, StoreError> {
        approval_executions::left_by(self.conn, servers, limit)
    }
}

impl ApprovalWrites for Transaction<'_> {
    fn insert<'a>(
        &mut self,
        approval: Approval,
        issues: &'a [Locked<Issue>],
        draft: Option<&'a Locked<Agent>>,
    ) -> Result<Locked<Approval>, StoreError> {
        let (company_id, approval_id) = (IdColumn(approval.company), IdColumn(approval.id));
        diesel::insert_into(approvals::table)
            .values(ApprovalRow::from(&approval))
            .execute(self.conn)
            .map_err(failed)?;
        let links: Vec<LinkRow> = issues
            .iter()
            .map(|issue| LinkRow {
                company_id,
                approval_id,
                issue_id: IdColumn(issue.id),
            })
            .collect();
        if !links.is_empty() {
            diesel::insert_into(approval_issues::table)
                .values(links)
                .execute(self.conn)
                .map_err(failed)?;
        }
        if let Some(draft) = draft {
            let row = DraftRow {
                approval_id,
                company_id,
                agent_id: IdColumn(draft.id),
            };
            diesel::insert_into(approval_drafts::table)
                .values(row)
                .execute(self.conn)
                .map_err(failed)?;
        }
        Ok(Locked::assume_locked(approval))
    }

    fn lock(
        &mut self,
        scope: Scope,
        id: ApprovalId,
    ) -> Result<Option<Locked<Approval>>, StoreError> {
        self.locks(Lock::Approval, id);
        let query = approvals::table.filter(approvals::id.eq(IdColumn(id)));
        let row = in_scope!(scope, approvals, query, |scoped| for_update!(
            scoped.select(ApprovalRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn transition(
        &mut self,
        approval: &Locked<Approval>,
        from: &[ApprovalStatus],
    ) -> Result<bool, StoreError> {
        let from: Vec<_> = from.iter().copied().map(StringEnumColumn).collect();
        let rows = diesel::update(approvals::table)
            .filter(approvals::company_id.eq(IdColumn(approval.company)))
            .filter(approvals::id.eq(IdColumn(approval.id)))
            .filter(approvals::status.eq_any(from))
            .set(ApprovalRow::from(approval.to_store()?))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(rows == 1)
    }

    fn add_event(&mut self, entry: &ApprovalHistoryEntry) -> Result<(), StoreError> {
        diesel::insert_into(approval_events::table)
            .values(HistoryRow::from(entry))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn save_execution(
        &mut self,
        approval: &Locked<Approval>,
        execution: &ApprovalExecution,
    ) -> Result<(), StoreError> {
        approval_executions::save(self.conn, approval, execution)
    }

    fn save_execution_step(
        &mut self,
        approval: &Locked<Approval>,
        step: &ExecutionStepRecord,
    ) -> Result<(), StoreError> {
        approval_executions::save_step(self.conn, approval, step)
    }

    fn add_comment(&mut self, comment: &ApprovalComment) -> Result<(), StoreError> {
        diesel::insert_into(approval_comments::table)
            .values(ApprovalCommentRow::from(comment))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
