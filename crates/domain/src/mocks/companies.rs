//! Mocks of `port/companies.rs`.

use alloc::string::String;
use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::company::{Company, CompanyStatus};
use crate::dashboard::{Badges, Cutoffs, DashboardMetrics};
use crate::id::CompanyId;
use crate::instance_figures::InstanceFigures;
use crate::page::{Page, PageRequest};
use crate::port::{
    CompanyCursor, CompanyReads, CompanyWrites, Locked, StartConditionInputs, StoreError,
};

mock! {
    pub Companies {}

    impl CompanyReads for Companies {
        fn find(&mut self, scope: Scope, id: CompanyId) -> Result<Option<Company>, StoreError>;
        fn list(
            &mut self,
            scope: Scope,
            statuses: &[CompanyStatus],
            page: &PageRequest<CompanyCursor>,
        ) -> Result<Page<Company, CompanyCursor>, StoreError>;
        fn find_by_prefix(
            &mut self,
            scope: InstanceScope,
            prefix: &str,
        ) -> Result<Option<Company>, StoreError>;
        fn prefixes(&mut self, scope: InstanceScope, stem: &str) -> Result<Vec<String>, StoreError>;
        fn probe(&mut self, scope: InstanceScope) -> Result<(), StoreError>;
        fn figures(
            &mut self,
            company: CompanyScope,
            at: Cutoffs,
        ) -> Result<DashboardMetrics, StoreError>;
        fn badges(&mut self, company: CompanyScope) -> Result<Badges, StoreError>;
        fn instance_figures(
            &mut self,
            scope: InstanceScope,
            terms: &StartConditionInputs,
        ) -> Result<InstanceFigures, StoreError>;
    }

    impl CompanyWrites for Companies {
        fn lock_prefixes(
            &mut self,
            scope: InstanceScope,
            stem: &str,
        ) -> Result<Vec<String>, StoreError>;
        fn insert(&mut self, company: Company) -> Result<Locked<Company>, StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: CompanyId,
        ) -> Result<Option<Locked<Company>>, StoreError>;
        fn save(&mut self, company: &Locked<Company>) -> Result<(), StoreError>;
        fn delete(&mut self, company: Locked<Company>) -> Result<(), StoreError>;
        fn next_issue_number(&mut self, company: CompanyScope) -> Result<i64, StoreError>;
    }
}
