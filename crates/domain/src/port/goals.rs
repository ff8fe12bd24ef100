use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::goal::Goal;
use crate::id::GoalId;
use crate::page::{CreationKey, Page, PageRequest};

/// The place of a goal in a list.
pub type GoalCursor = CreationKey<GoalId>;

/// Reads of goals.
pub trait GoalReads {
    /// The goal with this id.
    fn find(&mut self, scope: Scope, id: GoalId) -> Result<Option<Goal>, StoreError>;

    /// Those of `ids` that are goals of the company, in no particular order.
    fn find_all(&mut self, company: CompanyScope, ids: &[GoalId]) -> Result<Vec<Goal>, StoreError>;

    /// Goals of a company, oldest first.
    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<GoalCursor>,
    ) -> Result<Page<Goal, GoalCursor>, StoreError>;

    /// True when `goal` is `ancestor` or lies below it.
    fn is_within(
        &mut self,
        company: CompanyScope,
        goal: GoalId,
        ancestor: GoalId,
    ) -> Result<bool, StoreError>;
}

/// Writes of goals.
pub trait GoalWrites {
    /// Stores a new goal and holds it.
    fn insert(&mut self, goal: Goal) -> Result<Locked<Goal>, StoreError>;

    /// Locks a goal.
    fn lock(&mut self, scope: Scope, id: GoalId) -> Result<Option<Locked<Goal>>, StoreError>;

    /// Locks the goals of a company against changes of their hierarchy, so
    /// that two moves at once cannot make a cycle.
    fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError>;

    /// Stores a locked goal.
    fn save(&mut self, goal: &Locked<Goal>) -> Result<(), StoreError>;

    /// Deletes a locked goal. Goals below it become top-level; issues, projects
    /// and costs stay without it.
    fn delete(&mut self, goal: Locked<Goal>) -> Result<(), StoreError>;
}
