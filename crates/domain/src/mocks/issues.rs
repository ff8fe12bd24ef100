//! Mocks of `port/issues.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::dashboard::IssueTally;
use crate::id::{CommentId, GoalId, IssueId, ProjectId};
use crate::issue::{
    Assignee, Comment, Governance, Issue, IssueRef, IssueStatus, Lease, StuckIssue, StuckReason,
};
use crate::page::{Order, Page, PageRequest};
use crate::port::{
    CommentCursor, CommentReads, CommentWrites, IssueCursor, IssueFilter, IssueReads, IssueWrites,
    Locked, NewLease, SearchCursor, StoreError, StuckCursor,
};
use crate::run::Run;
use crate::search::SearchQuery;
use crate::time::Timestamp;

mock! {
    pub Issues {}

    impl IssueReads for Issues {
        fn find(&mut self, scope: Scope, issue: &IssueRef) -> Result<Option<Issue>, StoreError>;
        fn find_all(
            &mut self,
            company: CompanyScope,
            ids: &[IssueId],
        ) -> Result<Vec<Issue>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            filter: &IssueFilter,
            page: &PageRequest<IssueCursor>,
        ) -> Result<Page<Issue, IssueCursor>, StoreError>;
        fn search(
            &mut self,
            company: CompanyScope,
            query: &SearchQuery,
            filter: &IssueFilter,
            page: &PageRequest<SearchCursor>,
        ) -> Result<Page<Issue, SearchCursor>, StoreError>;
        fn live_child(
            &mut self,
            company: CompanyScope,
            parent: IssueId,
            key: &[u8; 32],
        ) -> Result<Option<Issue>, StoreError>;
        fn ancestors(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Vec<Issue>, StoreError>;
        fn depth_below(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<usize, StoreError>;
        fn open_children(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<i64, StoreError>;
        fn children(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
            statuses: &[IssueStatus],
            limit: usize,
        ) -> Result<Vec<Issue>, StoreError>;
        fn governance(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Governance, StoreError>;
        fn lease(&mut self, company: CompanyScope, issue: IssueId)
        -> Result<Option<Lease>, StoreError>;
        fn leases(
            &mut self,
            company: CompanyScope,
            issues: &[IssueId],
        ) -> Result<Vec<Lease>, StoreError>;
        fn why_stuck(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
            now: Timestamp,
        ) -> Result<Option<StuckReason>, StoreError>;
        fn list_stuck(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<StuckCursor>,
        ) -> Result<Page<StuckIssue, StuckCursor>, StoreError>;
        fn awaiting_board(
            &mut self,
            company: CompanyScope,
            limit: usize,
        ) -> Result<Vec<Issue>, StoreError>;
        fn count_stuck(&mut self, company: CompanyScope)
        -> Result<Vec<(StuckReason, i64)>, StoreError>;
        fn count_by_project(
            &mut self,
            company: CompanyScope,
        ) -> Result<Vec<(ProjectId, IssueTally)>, StoreError>;
        fn count_by_goal(
            &mut self,
            company: CompanyScope,
        ) -> Result<Vec<(GoalId, IssueTally)>, StoreError>;
    }

    impl IssueWrites for Issues {
        fn insert(&mut self, issue: Issue) -> Result<Locked<Issue>, StoreError>;
        fn lock(&mut self, scope: Scope, issue: &IssueRef)
        -> Result<Option<Locked<Issue>>, StoreError>;
        fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError>;
        fn save(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
        fn reindex(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
        fn set_child_key(
            &mut self,
            issue: &Locked<Issue>,
            key: &[u8; 32],
        ) -> Result<(), StoreError>;
        fn delete(&mut self, issue: Locked<Issue>, now: Timestamp) -> Result<(), StoreError>;
        fn take_lease(
            &mut self,
            issue: &Locked<Issue>,
            lease: NewLease,
        ) -> Result<Lease, StoreError>;
        fn end_lease(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
        fn lock_open_of(
            &mut self,
            company: CompanyScope,
            assignee: Assignee,
        ) -> Result<Vec<Locked<Issue>>, StoreError>;
        fn lock_below(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Vec<Locked<Issue>>, StoreError>;
        fn note_stuck(
            &mut self,
            issue: &Locked<Issue>,
            reason: Option<StuckReason>,
            now: Timestamp,
        ) -> Result<bool, StoreError>;
        fn end_leases_of_run(&mut self, run: &Locked<Run>) -> Result<(), StoreError>;
    }
}

mock! {
    pub Comments {}

    impl CommentReads for Comments {
        fn list(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
            order: Order,
            page: &PageRequest<CommentCursor>,
        ) -> Result<Page<Comment, CommentCursor>, StoreError>;
        fn find_all(
            &mut self,
            company: CompanyScope,
            ids: &[CommentId],
        ) -> Result<Vec<Comment>, StoreError>;
    }

    impl CommentWrites for Comments {
        fn insert(&mut self, comment: &Comment) -> Result<(), StoreError>;
    }
}
