//! How an issue begins.

use alloc::format;

use super::{Assignment, Issue, IssueStatus, Priority, Progress};
use crate::board::Author;
use crate::id::{CompanyId, IssueId};
use crate::text::Title;
use crate::time::Timestamp;

/// What every issue has from its beginning on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIssue<'a> {
    /// Its id.
    pub id: IssueId,
    /// Its company.
    pub company: CompanyId,
    /// What the identifiers of the company's issues begin with.
    pub prefix: &'a str,
    /// Its number within the company.
    pub number: i64,
    /// What is to be done.
    pub title: Title,
    /// Where it stands at first.
    pub status: IssueStatus,
    /// Who makes it.
    pub created_by: Author,
    /// The present instant.
    pub now: Timestamp,
}

impl Issue {
    /// An issue of medium priority that nobody works on, with nothing but what every issue has.
    /// Its fields take the rest.
    pub fn new(new: NewIssue<'_>) -> Self {
        Self {
            id: new.id,
            company: new.company,
            number: new.number,
            identifier: format!("{}-{}", new.prefix, new.number),
            project: None,
            goal: None,
            parent: None,
            title: new.title,
            description: None,
            progress: Progress::begin(new.status, new.now),
            priority: Priority::Medium,
            assignee: Assignment::NOBODY,
            implementer: None,
            created_by: new.created_by,
            billing_code: None,
            ticket_key: None,
            request_depth: 0,
            delegation: None,
            assignee_adapter_overrides: None,
            execution_workspace: None,
            hidden_at: None,
            created_at: new.now,
            updated_at: new.now,
        }
    }

    /// Makes a new issue part of another: it was delegated once more than that one, and its costs
    /// are booked on the same billing code unless it has one of its own.
    pub fn begin_below(&mut self, parent: &Self) {
        self.parent = Some(parent.id);
        self.request_depth = parent.request_depth.saturating_add(1);
        if self.billing_code.is_none() {
            self.billing_code.clone_from(&parent.billing_code);
        }
    }
}
