//! Lists of approvals and of what belongs to them.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::{
    Approval, ApprovalComment, ApprovalHistoryEntry, ApprovalStanding, ApprovalStatus, ApprovalType,
};
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::page::{CreationKey, Order, Page, PageRequest};
use workforce_domain::port::{
    ApprovalCommentCursor, ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor, StoreError,
};
use workforce_domain::time::Timestamp;

use super::super::{Connection, LoadingMode};
use super::approval_rows::{ApprovalCommentRow, ApprovalRow, HistoryRow};
use super::page::{KWayMerge, SortedRun, fetch_limit, page_of};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{approval_comments, approval_events, approval_issues, approvals};

/// A part of a list that one index holds in its order.
#[derive(Clone, Copy)]
enum Partition {
    All,
    Type(ApprovalType),
    Standing(ApprovalStanding),
}

/// The partitions of a list: one per type where types are asked for, else one
/// per standing. A page of a rare type then need not read all others.
fn partitions(filter: &ApprovalFilter) -> Vec<Partition> {
    if !filter.types.is_empty() {
        let mut types = filter.types.clone();
        types.sort_unstable();
        types.dedup();
        return types.into_iter().map(Partition::Type).collect();
    }
    if filter.standings.is_empty() {
        return vec![Partition::All];
    }
    standings(filter)
        .into_iter()
        .map(Partition::Standing)
        .collect()
}

/// The standings that are asked for, without repeats: a resubmitted approval is
/// pending, too.
fn standings(filter: &ApprovalFilter) -> Vec<ApprovalStanding> {
    let mut standings = filter.standings.clone();
    standings.sort_unstable();
    standings.dedup();
    if standings.contains(&ApprovalStanding::Pending) {
        standings.retain(|standing| *standing != ApprovalStanding::Resubmitted);
    }
    standings
}

fn before(one: &Approval, other: &Approval) -> bool {
    (one.created_at, one.id) > (other.created_at, other.id)
}

/// The beginning of one partition, newest first.
fn read(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &ApprovalFilter,
    partition: Partition,
    page: &PageRequest<ApprovalCursor>,
) -> Result<SortedRun<Approval>, StoreError> {
    let mut query = approvals::table
        .filter(approvals::company_id.eq(IdColumn(company.company())))
        .select(ApprovalRow::as_select())
        .into_boxed();
    match partition {
        Partition::All => {}
        Partition::Type(kind) => {
            query = query.filter(approvals::type_.eq(StringEnumColumn(kind)));
            let standings = standings(filter);
            if !standings.is_empty() {
                let plain: Vec<StringEnumColumn<ApprovalStatus>> = standings
                    .iter()
                    .filter(|standing| **standing != ApprovalStanding::Resubmitted)
                    .map(|standing| StringEnumColumn(standing.status()))
                    .collect();
                let among = approvals::status.eq_any(plain);
                query = if standings.contains(&ApprovalStanding::Resubmitted) {
                    let again = approvals::status
                        .eq(StringEnumColumn(ApprovalStatus::Pending))
                        .and(approvals::resubmit_count.gt(0));
                    query.filter(among.or(again))
                } else {
                    query.filter(among)
                };
            }
        }
        Partition::Standing(standing) => {
            query = query.filter(approvals::status.eq(StringEnumColumn(standing.status())));
            if standing == ApprovalStanding::Resubmitted {
                query = query.filter(approvals::resubmit_count.gt(0));
            }
        }
    }
    if let Some(after) = page.after {
        let at = InstantColumn(Timestamp::from_micros(after.at));
        query = query.filter(approvals::created_at.le(at)).filter(
            approvals::created_at
                .lt(at)
                .or(approvals::id.lt(IdColumn(after.id))),
        );
    }
    let rows = query
        .order((approvals::created_at.desc(), approvals::id.desc()))
        .limit(fetch_limit(page))
        .load_iter::<ApprovalRow, LoadingMode>(conn)
        .map_err(failed)?;
    SortedRun::read(rows, page.limit.max(1), page.max_bytes)
}

/// Approvals of a company, newest first.
pub(super) fn list(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &ApprovalFilter,
    page: &PageRequest<ApprovalCursor>,
) -> Result<Page<Approval, ApprovalCursor>, StoreError> {
    let partitions = partitions(filter);
    let mut streams = Vec::with_capacity(partitions.len());
    for partition in partitions {
        streams.push(read(conn, company, filter, partition, page)?);
    }
    let mut merged = KWayMerge::new(page);
    merged.take(streams, before);
    Ok(merged.finish(|approval| CreationKey {
        at: approval.created_at.micros(),
        id: approval.id,
    }))
}

/// Approvals that are linked to an issue, newest first: ids rise with time.
pub(super) fn of_issue(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
    page: &PageRequest<ApprovalId>,
) -> Result<Page<Approval, ApprovalId>, StoreError> {
    let mut query = approval_issues::table
        .inner_join(approvals::table)
        .filter(approval_issues::company_id.eq(IdColumn(company.company())))
        .filter(approval_issues::issue_id.eq(IdColumn(issue)))
        .select(ApprovalRow::as_select())
        .into_boxed();
    if let Some(after) = page.after {
        query = query.filter(approval_issues::approval_id.lt(IdColumn(after)));
    }
    let rows = query
        .order(approval_issues::approval_id.desc())
        .limit(fetch_limit(page))
        .load_iter::<ApprovalRow, LoadingMode>(conn)
        .map_err(failed)?;
    page_of(rows, page, |approval| approval.id)
}

/// Comments on an approval.
/// The history of an approval, oldest first.
pub(super) fn history(
    conn: &mut Connection,
    company: CompanyScope,
    approval: ApprovalId,
    page: &PageRequest<ApprovalHistoryCursor>,
) -> Result<Page<ApprovalHistoryEntry, ApprovalHistoryCursor>, StoreError> {
    let mut query = approval_events::table
        .filter(approval_events::company_id.eq(IdColumn(company.company())))
        .filter(approval_events::approval_id.eq(IdColumn(approval)))
        .order((approval_events::created_at, approval_events::id))
        .select(HistoryRow::as_select())
        .limit(fetch_limit(page))
        .into_boxed();
    if let Some(after) = page.after {
        let at = InstantColumn(Timestamp::from_micros(after.at));
        query = query.filter(approval_events::created_at.ge(at)).filter(
            approval_events::created_at
                .gt(at)
                .or(approval_events::id.gt(IdColumn(after.id))),
        );
    }
    let rows = query
        .load_iter::<HistoryRow, LoadingMode>(conn)
        .map_err(failed)?;
    page_of(rows, page, |entry| CreationKey {
        at: entry.event.created_at.micros(),
        id: entry.event.id,
    })
}

pub(super) fn comments(
    conn: &mut Connection,
    company: CompanyScope,
    approval: ApprovalId,
    order: Order,
    page: &PageRequest<ApprovalCommentCursor>,
) -> Result<Page<ApprovalComment, ApprovalCommentCursor>, StoreError> {
    let mut query = approval_comments::table
        .filter(approval_comments::company_id.eq(IdColumn(company.company())))
        .filter(approval_comments::approval_id.eq(IdColumn(approval)))
        .select(ApprovalCommentRow::as_select())
        .limit(fetch_limit(page))
        .into_boxed();
    let after = page.after.map(|key| {
        (
            InstantColumn(Timestamp::from_micros(key.at)),
            IdColumn(key.id),
        )
    });
    query = match order {
        Order::Ascending => query.order((approval_comments::created_at, approval_comments::id)),
        Order::Descending => query.order((
            approval_comments::created_at.desc(),
            approval_comments::id.desc(),
        )),
    };
    query = match (after, order) {
        (None, _) => query,
        (Some((at, id)), Order::Ascending) => {
            query.filter(approval_comments::created_at.ge(at)).filter(
                approval_comments::created_at
                    .gt(at)
                    .or(approval_comments::id.gt(id)),
            )
        }
        (Some((at, id)), Order::Descending) => {
            query.filter(approval_comments::created_at.le(at)).filter(
                approval_comments::created_at
                    .lt(at)
                    .or(approval_comments::id.lt(id)),
            )
        }
    };
    let rows = query
        .load_iter::<ApprovalCommentRow, LoadingMode>(conn)
        .map_err(failed)?;
    page_of(rows, page, |comment| CreationKey {
        at: comment.created_at.micros(),
        id: comment.id,
    })
}
