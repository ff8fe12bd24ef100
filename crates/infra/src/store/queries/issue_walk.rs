//! A list that is gone along row by row, in its own order, to those rows that a
//! search finds.
//!
//! Each lane reads what one index has in the order of the list; what the index
//! does not know is tested here. So the rows that are read are bounded, however
//! few of them the filter lets through.

use std::cmp::Reverse;
use std::collections::VecDeque;

use diesel::dsl::case_when;
use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{AgentId, GoalId, IssueId, ProjectId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::port::{AssigneeFilter, IssueCursor, IssueFilter, StoreError};

use super::super::Connection;
use super::issue_list::{KeyRange, key_ranges, lanes, within};
use super::page::{octet_length, row_limit};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::issues;

/// Rows that a lane reads first. They tell how common the words are.
pub(super) const FIRST_ROWS: usize = 128;
/// Rows that a lane reads at a time at most.
const MOST_ROWS: usize = 512;
/// Descriptions of more bytes are read one by one.
const SHORT: i32 = 4096;
/// No description has so few bytes.
const NONE: i32 = -1;

/// How far a walk may go.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Rows that are read.
    pub(super) rows: usize,
    /// Bytes of descriptions that are read.
    pub(super) bytes: usize,
}

/// What is tested of an issue.
#[derive(Queryable, Selectable)]
#[diesel(table_name = issues)]
pub(super) struct Listed {
    id: IdColumn<IssueId>,
    status: StringEnumColumn<IssueStatus>,
    priority: i16,
    updated_at: InstantColumn,
    project_id: Option<IdColumn<ProjectId>>,
    goal_id: Option<IdColumn<GoalId>>,
    parent_id: Option<IdColumn<IssueId>>,
    assignee_agent_id: Option<IdColumn<AgentId>>,
    assignee_user_id: Option<String>,
    pub(super) identifier: String,
    pub(super) title: String,
}

impl Listed {
    pub(super) fn key(&self) -> IssueCursor {
        IssueCursor {
            rank: self.priority,
            updated_at: self.updated_at.0.micros(),
            id: self.id.0,
        }
    }

    /// Whether a filter lets it through, apart from priorities and labels.
    pub(super) fn passes(&self, filter: &IssueFilter) -> bool {
        fn is<T: Copy + PartialEq>(asked: Option<T>, own: Option<T>) -> bool {
            asked.is_none() || asked == own
        }
        let is_assigned = match filter.assignee {
            None => true,
            Some(AssigneeFilter::Nobody) => {
                self.assignee_agent_id.is_none() && self.assignee_user_id.is_none()
            }
            Some(AssigneeFilter::Agent(agent)) => self.assignee_agent_id == Some(IdColumn(agent)),
            Some(AssigneeFilter::Board(member)) => {
                self.assignee_user_id == Some(member.to_string())
            }
        };
        is_assigned
            && (filter.statuses.is_empty() || filter.statuses.contains(&self.status.0))
            && is(filter.project.map(IdColumn), self.project_id)
            && is(filter.goal.map(IdColumn), self.goal_id)
            && is(filter.parent.map(IdColumn), self.parent_id)
    }
}

/// A row of the list.
pub(super) struct Step {
    pub(super) listed: Listed,
    /// The description, if it is wanted and short.
    short: Option<String>,
    /// Bytes of the description.
    length: Option<i32>,
}

/// Where the rows of one status are read, or of any.
struct Lane {
    status: Option<IssueStatus>,
    after: Option<IssueCursor>,
    ahead: VecDeque<Step>,
    has_ended: bool,
}

/// What comes next.
pub(super) enum Next {
    Row(Box<Step>),
    /// The list has no more rows.
    End,
    /// The walk has come to its bounds.
    TooFar,
}

/// The list from a place on, as far as the bounds reach.
pub(super) struct Walk<'a> {
    company: CompanyScope,
    filter: &'a IssueFilter,
    with_descriptions: bool,
    left: Bounds,
    lanes: Vec<Lane>,
    rows_at_once: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        company: CompanyScope,
        filter: &'a IssueFilter,
        after: Option<IssueCursor>,
        with_descriptions: bool,
        bounds: Bounds,
    ) -> Self {
        let lane = |status| Lane {
            status,
            after,
            ahead: VecDeque::new(),
            has_ended: false,
        };
        let lanes: Vec<Lane> = lanes(filter).into_iter().map(lane).collect();
        Self {
            company,
            filter,
            with_descriptions,
            left: bounds,
            rows_at_once: FIRST_ROWS.div_ceil(lanes.len()),
            lanes,
        }
    }

    /// Whether a row can be had without another statement.
    pub(super) fn is_ahead(&self) -> bool {
        self.lanes
            .iter()
            .all(|lane| lane.has_ended || !lane.ahead.is_empty())
    }

    /// Has the next statements read about `rows` rows in all.
    pub(super) fn expect(&mut self, rows: usize) {
        let each = rows.div_ceil(self.lanes.len());
        self.rows_at_once = each.clamp(FIRST_ROWS / 4, MOST_ROWS);
    }

    pub(super) fn next(&mut self, conn: &mut Connection) -> Result<Next, StoreError> {
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if lane.ahead.is_empty() && !lane.has_ended && !self.read(conn, index)? {
                return Ok(Next::TooFar);
            }
        }
        let place = |step: &Step| {
            let key = step.listed.key();
            (key.rank, Reverse(key.updated_at), key.id)
        };
        let ahead = self.lanes.iter_mut().filter(|it| !it.ahead.is_empty());
        let first = ahead.min_by_key(|lane| lane.ahead.front().map(place));
        Ok(match first.and_then(|lane| lane.ahead.pop_front()) {
            Some(step) => Next::Row(Box::new(step)),
            None => Next::End,
        })
    }

    /// Reads more of a lane; false when the bounds do not allow it.
    fn read(&mut self, conn: &mut Connection, index: usize) -> Result<bool, StoreError> {
        let mut rows = self.rows_at_once.min(self.left.rows);
        if self.with_descriptions {
            rows = rows.min(self.left.bytes / SHORT.unsigned_abs() as usize);
        }
        if rows == 0 {
            return Ok(false);
        }
        let (after, status) = (self.lanes[index].after, self.lanes[index].status);
        let mut read = Vec::new();
        for range in key_ranges(self.filter, after) {
            if read.len() == rows {
                break;
            }
            read.append(&mut self.range(conn, status, range, rows - read.len())?);
        }
        self.left.rows -= read.len();
        for step in &read {
            self.spend(step.short.as_ref().map_or(0, String::len));
        }
        let lane = &mut self.lanes[index];
        lane.has_ended = read.len() < rows;
        lane.after = read.last().map(|step| step.listed.key()).or(lane.after);
        lane.ahead.extend(read);
        Ok(true)
    }

    fn spend(&mut self, bytes: usize) {
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
    }

    fn range(
        &self,
        conn: &mut Connection,
        status: Option<IssueStatus>,
        range: KeyRange,
        rows: usize,
    ) -> Result<Vec<Step>, StoreError> {
        let short = if self.with_descriptions { SHORT } else { NONE };
        let length = octet_length(issues::description);
        let mut query = issues::table
            .filter(issues::company_id.eq(IdColumn(self.company.company())))
            .filter(issues::hidden_at.is_null())
            .select((
                Listed::as_select(),
                case_when(length.le(short), issues::description),
                length,
            ))
            .into_boxed();
        if let Some(status) = status {
            query = query.filter(issues::status.eq(StringEnumColumn(status)));
        }
        let filter = self.filter;
        query = if let Some(AssigneeFilter::Agent(agent)) = filter.assignee {
            query.filter(issues::assignee_agent_id.eq(IdColumn(agent)))
        } else if let Some(AssigneeFilter::Board(member)) = filter.assignee {
            query.filter(issues::assignee_user_id.eq(member.to_string()))
        } else if let Some(parent) = filter.parent {
            query.filter(issues::parent_id.eq(IdColumn(parent)))
        } else if let Some(goal) = filter.goal {
            query.filter(issues::goal_id.eq(IdColumn(goal)))
        } else if let Some(project) = filter.project {
            query.filter(issues::project_id.eq(IdColumn(project)))
        } else {
            query
        };
        let query = within(query, range);
        let steps: Vec<(Listed, Option<String>, Option<i32>)> = query
            .order((issues::priority, issues::updated_at.desc(), issues::id))
            .limit(row_limit(rows))
            .load(conn)
            .map_err(failed)?;
        let step = |(listed, short, length)| Step {
            listed,
            short,
            length,
        };
        Ok(steps.into_iter().map(step).collect())
    }

    /// The description of a row; `None` when the bounds do not allow to read it.
    pub(super) fn description(
        &mut self,
        conn: &mut Connection,
        step: &mut Step,
    ) -> Result<Option<String>, StoreError> {
        let length = usize::try_from(step.length.unwrap_or(0)).unwrap_or(0);
        if let Some(short) = step.short.take() {
            return Ok(Some(short));
        }
        if length == 0 {
            return Ok(Some(String::new()));
        }
        if length > self.left.bytes {
            return Ok(None);
        }
        self.spend(length);
        let text: Option<String> = issues::table
            .find(step.listed.id)
            .select(issues::description)
            .first(conn)
            .map_err(failed)?;
        Ok(Some(text.unwrap_or_default()))
    }
}
