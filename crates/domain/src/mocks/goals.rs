//! Mocks of `port/goals.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::goal::Goal;
use crate::id::GoalId;
use crate::page::{Page, PageRequest};
use crate::port::{GoalCursor, GoalReads, GoalWrites, Locked, StoreError};

mock! {
    pub Goals {}

    impl GoalReads for Goals {
        fn find(&mut self, scope: Scope, id: GoalId) -> Result<Option<Goal>, StoreError>;
        fn find_all(
            &mut self,
            company: CompanyScope,
            ids: &[GoalId],
        ) -> Result<Vec<Goal>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<GoalCursor>,
        ) -> Result<Page<Goal, GoalCursor>, StoreError>;
        fn is_within(
            &mut self,
            company: CompanyScope,
            goal: GoalId,
            ancestor: GoalId,
        ) -> Result<bool, StoreError>;
    }

    impl GoalWrites for Goals {
        fn insert(&mut self, goal: Goal) -> Result<Locked<Goal>, StoreError>;
        fn lock(&mut self, scope: Scope, id: GoalId) -> Result<Option<Locked<Goal>>, StoreError>;
        fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError>;
        fn save(&mut self, goal: &Locked<Goal>) -> Result<(), StoreError>;
        fn delete(&mut self, goal: Locked<Goal>) -> Result<(), StoreError>;
    }
}
