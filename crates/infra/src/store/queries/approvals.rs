use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::port::{ApprovalReads, StoreError};

use super::super::transaction::Transaction;
use super::issues::MAX_ANCESTORS;
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Key)]
    id: IdColumn<ApprovalId>,
}

impl ApprovalReads for Transaction<'_> {
    fn undecided_over(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let undecided = sql_query(
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
            WHERE a.company_id = $1 AND a.primary_issue_id = chain.id
                AND a.type = 'approve_issue_plan'
                AND a.status IN ('pending', 'revision_requested')
            UNION ALL
            SELECT a.id, chain.depth
            FROM chain CROSS JOIN approval_issues l CROSS JOIN approvals a
            WHERE l.company_id = $1 AND l.issue_id = chain.id
                AND a.company_id = $1 AND a.id = l.approval_id
                AND a.type = 'approve_issue_plan'
                AND a.status IN ('pending', 'revision_requested')
            ORDER BY 2, 1
            LIMIT 1",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(issue))
        .bind::<Integer, _>(MAX_ANCESTORS);
        let found: Option<Found> = cached(undecided)
            .get_result(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|found| found.id.0))
    }
}
