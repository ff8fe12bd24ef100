use workforce_domain::id::CompanyId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, IssueCursor, IssueFilter, Reads};

use super::read::with_leases;
use super::{IssueError, IssueView};
use crate::access;
use crate::context::Context;

/// The issues of one status.
pub type Column = (IssueStatus, Page<IssueView, IssueCursor>);

/// The first issues of each of these statuses, as [`list`](super::list) tells them, at most `each`.
/// Who holds them is looked up once for all.
pub fn by_status(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    filter: &IssueFilter,
    statuses: &[IssueStatus],
    each: usize,
) -> Result<Vec<Column>, Failure<IssueError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let page = PageRequest {
        limit: each,
        ..PageRequest::first()
    };
    let mut all = Vec::new();
    let mut nexts = Vec::new();
    for status in statuses {
        let of_status = IssueFilter {
            statuses: vec![*status],
            ..filter.clone()
        };
        let found = reads.issues().list(scope, &of_status, &page)?;
        all.extend(found.items);
        nexts.push((*status, found.next));
    }
    let mut views = with_leases(reads, ctx, scope, all)?;
    let columns = nexts.into_iter().map(|(status, next)| {
        let (items, rest) = core::mem::take(&mut views)
            .into_iter()
            .partition(|view| view.issue.status() == status);
        views = rest;
        (status, Page { items, next })
    });
    Ok(columns.collect())
}
