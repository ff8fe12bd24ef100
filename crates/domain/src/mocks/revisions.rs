//! Mocks of `port/revisions.rs`.

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::id::{AgentId, RevisionId};
use crate::page::{Page, PageRequest};
use crate::port::{RevisionCursor, RevisionReads, RevisionWrites, StoreError};
use crate::revision::Revision;

mock! {
    pub Revisions {}

    impl RevisionReads for Revisions {
        fn find(&mut self, scope: Scope, id: RevisionId) -> Result<Option<Revision>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            page: &PageRequest<RevisionCursor>,
        ) -> Result<Page<Revision, RevisionCursor>, StoreError>;
        fn last_number(&mut self, company: CompanyScope, agent: AgentId) -> Result<i32, StoreError>;
    }

    impl RevisionWrites for Revisions {
        fn insert(&mut self, revision: &Revision) -> Result<(), StoreError>;
    }
}
