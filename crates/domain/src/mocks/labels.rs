//! Mocks of `port/labels.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::id::{IssueId, LabelId};
use crate::issue::Issue;
use crate::label::IssueLabel;
use crate::page::{Page, PageRequest};
use crate::port::{LabelCursor, LabelReads, LabelWrites, Locked, StoreError};
use crate::text::LabelName;

mock! {
    pub Labels {}

    impl LabelReads for Labels {
        fn find_all(
            &mut self,
            company: CompanyScope,
            ids: &[LabelId],
        ) -> Result<Vec<IssueLabel>, StoreError>;
        fn find_by_name(
            &mut self,
            company: CompanyScope,
            name: &LabelName,
        ) -> Result<Option<IssueLabel>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<LabelCursor>,
        ) -> Result<Page<IssueLabel, LabelCursor>, StoreError>;
        fn of_issues(
            &mut self,
            company: CompanyScope,
            issues: &[IssueId],
        ) -> Result<Vec<(IssueId, IssueLabel)>, StoreError>;
    }

    impl LabelWrites for Labels {
        fn insert(&mut self, label: IssueLabel) -> Result<Locked<IssueLabel>, StoreError>;
        fn lock(&mut self, scope: Scope, id: LabelId)
        -> Result<Option<Locked<IssueLabel>>, StoreError>;
        fn save(&mut self, label: &Locked<IssueLabel>) -> Result<(), StoreError>;
        fn delete(&mut self, label: Locked<IssueLabel>) -> Result<(), StoreError>;
        fn set_for_issue(
            &mut self,
            issue: &Locked<Issue>,
            labels: &[LabelId],
        ) -> Result<(), StoreError>;
    }
}
