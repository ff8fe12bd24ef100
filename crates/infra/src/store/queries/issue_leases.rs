//! Leases on issues. The caller holds the lock on the issue.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId};
use workforce_domain::issue::{Holder, Issue, Lease};
use workforce_domain::port::StoreError;

use super::super::{Connection, change_one};
use super::row::{Row, all, one};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_leases, issues};
use crate::store::stable::{Few, one_of_few};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = issue_leases,
    primary_key(issue_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct LeaseRow {
    issue_id: IdColumn<IssueId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    run_id: Option<IdColumn<RunId>>,
    fence: i64,
    expires_at: Option<InstantColumn>,
}

impl Row for LeaseRow {
    type Record = Lease;

    fn weight(&self) -> usize {
        0
    }

    fn restore(self) -> Result<Lease, Corrupt> {
        if self.run_id.is_none() != self.expires_at.is_some() {
            return Err(Corrupt::new(
                "lease",
                "exactly those without a run expire by themselves",
            ));
        }
        Ok(Lease {
            issue: self.issue_id.0,
            company: self.company_id.0,
            holder: Holder::of(self.agent_id.0, self.run_id.map(|run| run.0)),
            fence: self.fence,
            expires_at: self.expires_at.map(|at| at.0),
        })
    }
}

impl From<&Lease> for LeaseRow {
    fn from(lease: &Lease) -> Self {
        Self {
            issue_id: IdColumn(lease.issue),
            company_id: IdColumn(lease.company),
            agent_id: IdColumn(lease.holder.agent()),
            run_id: lease.holder.run().map(IdColumn),
            fence: lease.fence,
            expires_at: lease.expires_at.map(InstantColumn),
        }
    }
}

/// The lease on an issue, expired or not.
pub(super) fn of_issue(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<Lease>, StoreError> {
    let query = issue_leases::table
        .filter(issue_leases::company_id.eq(IdColumn(company.company())))
        .filter(issue_leases::issue_id.eq(IdColumn(issue)))
        .select(LeaseRow::as_select())
        .limit(1);
    let row: QueryResult<Option<LeaseRow>> = cached_here!(query).get_result(conn).optional();
    one(row.map_err(failed)?)
}

/// The leases on issues, expired or not.
pub(super) fn of_issues(
    conn: &mut Connection,
    company: CompanyScope,
    issues: &[IssueId],
) -> Result<Vec<Lease>, StoreError> {
    let mut rows: Vec<LeaseRow> = Vec::new();
    for issues in Few::each_of(issues) {
        let query = issue_leases::table
            .filter(one_of_few(issue_leases::issue_id, issues))
            .select(LeaseRow::as_select());
        rows.extend(query.load(conn).map_err(failed)?);
    }
    // Not asked of the store: for so many issues SQLite would rather read all leases of a company.
    rows.retain(|row: &LeaseRow| row.company_id.0 == company.company());
    all(rows)
}

/// Puts a lease on an issue, in place of the present one. The issue itself counts
/// the fencing number, so it grows even after a lease was deleted.
pub(super) fn take(
    conn: &mut Connection,
    company: CompanyId,
    issue: IssueId,
    lease: &Lease,
) -> Result<Lease, StoreError> {
    let row = issues::table
        .filter(issues::company_id.eq(IdColumn(company)))
        .filter(issues::id.eq(IdColumn(issue)));
    let number = issues::lease_fence;
    let fence: i64 = change_one!(row, number.eq(number + 1), number, conn)
        .map_err(failed)?
        .ok_or(StoreError::Contended)?;
    let lease = Lease {
        issue,
        company,
        fence,
        ..lease.clone()
    };
    let row = LeaseRow::from(&lease);
    let put = diesel::insert_into(issue_leases::table)
        .values(&row)
        .on_conflict(issue_leases::issue_id)
        .do_update()
        .set(&row);
    cached_here!(put).execute(conn).map_err(failed)?;
    Ok(lease)
}

/// Ends the lease on an issue, if there is one.
pub(super) fn end(conn: &mut Connection, issue: &Issue) -> Result<(), StoreError> {
    diesel::delete(issue_leases::table)
        .filter(issue_leases::company_id.eq(IdColumn(issue.company)))
        .filter(issue_leases::issue_id.eq(IdColumn(issue.id)))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Ends every lease a run holds.
pub(super) fn end_of_run(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
) -> Result<(), StoreError> {
    diesel::delete(issue_leases::table)
        .filter(issue_leases::company_id.eq(IdColumn(company.company())))
        .filter(issue_leases::run_id.eq(IdColumn(run)))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}
