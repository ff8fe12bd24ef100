//! The list of issues: most urgent first, then the latest changed.
//!
//! A page is read in key ranges, each from one index that has the order of the
//! list, and status by status where that index has it only within one status.
//! So the rows that are read are bounded by the page, not by the company.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{AssigneeFilter, IssueCursor, IssueFilter, StoreError};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use super::super::{Connection, LoadingMode};
use super::issue_filter::narrowed;
use super::issue_row::IssueRow;
use super::issue_search;
use super::page::{Backend, KWayMerge, SortedRun, row_limit};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};

/// A part of the list that follows the one before it.
#[derive(Clone, Copy)]
pub(super) enum KeyRange {
    /// All of it.
    Whole,
    /// What has this rank.
    Rank(i16),
    /// What has the rank of this place and comes after it.
    RankAfter(IssueCursor),
    /// What is less urgent than this rank.
    Below(i16),
}

/// The key ranges from `after` on, in the order of the list.
pub(super) fn key_ranges(filter: &IssueFilter, after: Option<IssueCursor>) -> Vec<KeyRange> {
    if filter.priorities.is_empty() {
        return match after {
            None => vec![KeyRange::Whole],
            Some(key) => vec![KeyRange::RankAfter(key), KeyRange::Below(key.rank)],
        };
    }
    let mut ranks: Vec<i16> = filter
        .priorities
        .iter()
        .map(|priority| priority.rank())
        .collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
        .into_iter()
        .filter_map(|rank| match after {
            Some(key) if rank < key.rank => None,
            Some(key) if rank == key.rank => Some(KeyRange::RankAfter(key)),
            _ => Some(KeyRange::Rank(rank)),
        })
        .collect()
}

/// The statuses to read one by one, `None` for any. The index of an agent's
/// issues and the one by status are ordered only within one status.
pub(super) fn lanes(filter: &IssueFilter) -> Vec<Option<IssueStatus>> {
    let asked = || {
        let mut statuses = filter.statuses.clone();
        statuses.sort_unstable();
        statuses.dedup();
        statuses.into_iter().map(Some).collect::<Vec<_>>()
    };
    match filter.assignee {
        Some(AssigneeFilter::Agent(_)) if filter.statuses.is_empty() => {
            IssueStatus::ALL.iter().copied().map(Some).collect()
        }
        Some(AssigneeFilter::Agent(_)) => asked(),
        Some(AssigneeFilter::Board(_)) => vec![None],
        None | Some(AssigneeFilter::Nobody) => {
            let other =
                filter.project.is_some() || filter.goal.is_some() || filter.parent.is_some();
            if other || filter.statuses.is_empty() {
                vec![None]
            } else {
                asked()
            }
        }
    }
}

fn key(issue: &Issue) -> IssueCursor {
    IssueCursor {
        rank: issue.priority.rank(),
        updated_at: issue.updated_at.micros(),
        id: issue.id,
    }
}

fn before(one: &Issue, other: &Issue) -> bool {
    let place = |issue: &Issue| {
        (
            issue.priority.rank(),
            core::cmp::Reverse(issue.updated_at),
            issue.id,
        )
    };
    place(one) < place(other)
}

/// One page of the issues of a company.
pub(super) fn list(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    page: &PageRequest<IssueCursor>,
) -> Result<Page<Issue, IssueCursor>, StoreError> {
    if !filter.labels.is_empty()
        && let Some(page) = issue_search::of_rare_labels(conn, company, filter, page)?
    {
        return Ok(page);
    }
    let lanes = lanes(filter);
    let mut merged = KWayMerge::new(page);
    for range in key_ranges(filter, page.after) {
        let room = merged.room();
        if room == 0 {
            break;
        }
        let mut streams = Vec::with_capacity(lanes.len());
        for status in &lanes {
            streams.push(read(
                conn,
                company,
                filter,
                range,
                *status,
                room,
                merged.room_bytes(),
            )?);
        }
        merged.take(streams, before);
    }
    Ok(merged.finish(key))
}

/// Narrows a query to a range.
pub(super) fn within<'a, S>(
    query: issues::BoxedQuery<'a, Backend, S>,
    range: KeyRange,
) -> issues::BoxedQuery<'a, Backend, S> {
    match range {
        KeyRange::Whole => query,
        KeyRange::Rank(rank) => query.filter(issues::priority.eq(rank)),
        KeyRange::Below(rank) => query.filter(issues::priority.gt(rank)),
        KeyRange::RankAfter(key) => {
            let at = InstantColumn(Timestamp::from_micros(key.updated_at));
            query
                .filter(issues::priority.eq(key.rank))
                .filter(issues::updated_at.le(at))
                .filter(
                    issues::updated_at
                        .lt(at)
                        .or(issues::id.gt(IdColumn(key.id))),
                )
        }
    }
}

/// The beginning of one range in one lane.
fn read(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    range: KeyRange,
    lane: Option<IssueStatus>,
    room: usize,
    room_bytes: usize,
) -> Result<SortedRun<Issue>, StoreError> {
    macro_rules! run {
        ($query:expr) => {{
            let rows = $query
                .order((issues::priority, issues::updated_at.desc(), issues::id))
                .limit(row_limit(room.saturating_add(1)))
                .load_iter::<IssueRow, LoadingMode>(conn)
                .map_err(failed)?;
            SortedRun::read(rows, room, room_bytes)
        }};
    }
    let query = issues::table
        .filter(issues::company_id.eq(IdColumn(company.company())))
        .filter(issues::hidden_at.is_null())
        .select(IssueRow::as_select());
    let of_status = |status| issues::status.eq(StringEnumColumn(status));
    // What is asked for most, by agents above all, has a text that never varies: Diesel finds it
    // prepared without writing it anew.
    if let (Some(status), KeyRange::Whole) = (lane, range) {
        match only_assignee(filter) {
            Some(None) => return run!(query.filter(of_status(status))),
            Some(Some(AssigneeFilter::Agent(agent))) => {
                return run!(
                    query
                        .filter(of_status(status))
                        .filter(issues::assignee_agent_id.eq(IdColumn(agent)))
                );
            }
            _ => {}
        }
    }
    let mut query = query.into_boxed();
    if let Some(status) = lane {
        query = query.filter(of_status(status));
    } else if !filter.statuses.is_empty() {
        let statuses: Vec<_> = filter
            .statuses
            .iter()
            .copied()
            .map(StringEnumColumn)
            .collect();
        query = query.filter(issues::status.eq_any(statuses));
    }
    query = narrowed!(query, company, filter);
    run!(within(query, range))
}

/// The assignee that is asked for, unless something else is, apart from statuses.
fn only_assignee(filter: &IssueFilter) -> Option<Option<AssigneeFilter>> {
    let IssueFilter {
        statuses: _,
        priorities,
        assignee,
        project: None,
        goal: None,
        parent: None,
        labels,
    } = filter
    else {
        return None;
    };
    (priorities.is_empty() && labels.is_empty()).then_some(*assignee)
}
