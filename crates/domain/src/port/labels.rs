use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::id::{IssueId, LabelId};
use crate::issue::Issue;
use crate::label::IssueLabel;
use crate::page::{CreationKey, Page, PageRequest};
use crate::text::LabelName;

/// The place of a label in a list.
pub type LabelCursor = CreationKey<LabelId>;

/// Reads of labels.
pub trait LabelReads {
    /// Those of `ids` that are labels of the company, in no particular order.
    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[LabelId],
    ) -> Result<Vec<IssueLabel>, StoreError>;

    /// The label whose name compares equal to this one.
    fn find_by_name(
        &mut self,
        company: CompanyScope,
        name: &LabelName,
    ) -> Result<Option<IssueLabel>, StoreError>;

    /// Labels of a company, oldest first.
    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<LabelCursor>,
    ) -> Result<Page<IssueLabel, LabelCursor>, StoreError>;

    /// The labels of issues, per issue by name.
    fn of_issues(
        &mut self,
        company: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, IssueLabel)>, StoreError>;
}

/// Writes of labels.
pub trait LabelWrites {
    /// Stores a new label and holds it.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another took its name meanwhile.
    fn insert(&mut self, label: IssueLabel) -> Result<Locked<IssueLabel>, StoreError>;

    /// Locks a label.
    fn lock(&mut self, scope: Scope, id: LabelId)
    -> Result<Option<Locked<IssueLabel>>, StoreError>;

    /// Stores a locked label.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another took its name meanwhile.
    fn save(&mut self, label: &Locked<IssueLabel>) -> Result<(), StoreError>;

    /// Deletes a locked label and takes it off every issue.
    fn delete(&mut self, label: Locked<IssueLabel>) -> Result<(), StoreError>;

    /// Gives a locked issue these labels in place of those it has.
    fn set_for_issue(
        &mut self,
        issue: &Locked<Issue>,
        labels: &[LabelId],
    ) -> Result<(), StoreError>;
}
